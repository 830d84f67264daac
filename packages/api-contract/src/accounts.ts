import { z } from 'zod';
import { emailSchema, newPasswordSchema, presentPasswordSchema } from './auth.ts';
import { route } from './route.ts';
import { messageSchema } from './shared.ts';

const tag = 'Accounts';

const mailedToken = z.string().min(1).max(200);

export const changePasswordRoute = route({
  method: 'POST',
  path: '/api/v1/auth/change-password',
  credentials: 'bearer',
  tag,
  summary: 'Change the own password',
  description:
    'Ends all other sessions and tells the account by mail. An account without a password leaves `current_password` out and needs a sign-in of the last ten minutes.',
  body: z
    .strictObject({ current_password: presentPasswordSchema.optional(), new_password: newPasswordSchema })
    .meta({ id: 'ChangePasswordRequest' }),
  success: { status: 200, answer: messageSchema },
  errors: [403, 409],
});

export const forgotPasswordRoute = route({
  method: 'POST',
  path: '/api/v1/auth/forgot-password',
  credentials: 'none',
  tag,
  summary: 'Ask for a link to choose a new password',
  description:
    'The answer is the same whether or not the address has an account. The link is good for 30 minutes and one use; at most three an hour are mailed to an account.',
  body: z.strictObject({ email: emailSchema }).meta({ id: 'ForgotPasswordRequest' }),
  success: { status: 200, answer: messageSchema },
  perAddressPerMinute: 3,
});

export const resetPasswordRoute = route({
  method: 'POST',
  path: '/api/v1/auth/reset-password',
  credentials: 'none',
  tag,
  summary: 'Choose a new password with a mailed token',
  description:
    'Revokes all sessions of the account. Where nobody had confirmed its address before, API keys, access tokens, linked identities, passkeys and ' +
    'second factors go too; the answer and a mail say what went. A token that is unknown, used or too old is 422 `invalid_token`.',
  body: z.strictObject({ token: mailedToken, new_password: newPasswordSchema }).meta({ id: 'ResetPasswordRequest' }),
  success: { status: 200, answer: messageSchema },
  perAddressPerMinute: 10,
});

export const verifyEmailRoute = route({
  method: 'POST',
  path: '/api/v1/auth/verify-email',
  credentials: 'bearer',
  tag,
  summary: 'Mail a link that confirms the own address',
  description: 'Three an hour.',
  success: { status: 200, answer: messageSchema },
  errors: [409],
});

export const confirmEmailRoute = route({
  method: 'POST',
  path: '/api/v1/auth/confirm-email',
  credentials: 'none',
  tag,
  summary: 'Confirm an address with a mailed token',
  description:
    'The token of `verify-email` confirms the present address, that of `change-email` makes the new address the one of the account. A token that is unknown, used or too old is 422 `invalid_token`.',
  body: z.strictObject({ token: mailedToken }).meta({ id: 'ConfirmEmailRequest' }),
  success: { status: 200, answer: messageSchema },
  errors: [409],
  perAddressPerMinute: 10,
});

export const changeEmailRoute = route({
  method: 'POST',
  path: '/api/v1/auth/change-email',
  credentials: 'bearer',
  tag,
  summary: 'Ask for another address of the own account',
  description:
    'Mails a link to the new address, which is taken when it is confirmed within a day, and tells the present one. Needs the password, or a sign-in of the last ten minutes where the account has none.',
  body: z
    .strictObject({ new_email: emailSchema, password: presentPasswordSchema.optional() })
    .meta({ id: 'ChangeEmailRequest' }),
  success: { status: 200, answer: messageSchema },
  errors: [403],
});

export const deleteMeRoute = route({
  method: 'DELETE',
  path: '/api/v1/auth/me',
  credentials: 'bearer',
  tag,
  summary: 'Delete the own account with its workspaces and all that is in them',
  description:
    'Cannot be undone. Needs the password, or a sign-in of the last ten minutes where the account has none. 409 while others are members of an own workspace: transfer or leave those first; and for the last administrator of the installation. The account is unusable at once; what is large goes in the background.',
  body: z.strictObject({ password: presentPasswordSchema.optional() }).nullish().meta({ id: 'DeleteMeRequest' }),
  success: { status: 204 },
  errors: [403, 409],
});

/** A page for people: the token stands in the fragment of its address. */
const pageOf = (path: '/auth/reset-password' | '/auth/confirm-email', summary: string) =>
  route({
    method: 'GET',
    path,
    credentials: 'none',
    tag,
    summary,
    success: { status: 200, answer: z.string(), contentType: 'text/html; charset=utf-8' },
  });
export const resetPasswordPageRoute = pageOf(
  '/auth/reset-password',
  'Page that a mail about a forgotten password leads to',
);
export const confirmEmailPageRoute = pageOf('/auth/confirm-email', 'Page that a mail about an address leads to');
