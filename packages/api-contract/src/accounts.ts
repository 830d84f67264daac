import { z } from 'zod';
import { emailSchema, newPasswordSchema, presentPasswordSchema, userSchema } from './auth.ts';
import { route } from './route.ts';
import { hasControlCharacter, idSchema, listOf, messageSchema, pageQuery, timestamp } from './shared.ts';

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
    .object({ current_password: presentPasswordSchema.optional(), new_password: newPasswordSchema })
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
  body: z.object({ email: emailSchema }).meta({ id: 'ForgotPasswordRequest' }),
  success: { status: 200, answer: messageSchema },
  perAddressPerMinute: 3,
});

export const resetPasswordRoute = route({
  method: 'POST',
  path: '/api/v1/auth/reset-password',
  credentials: 'none',
  tag,
  summary: 'Choose a new password with a mailed token',
  description: 'Revokes all sessions of the account. A token that is unknown, used or too old is 422 `invalid_token`.',
  body: z.object({ token: mailedToken, new_password: newPasswordSchema }).meta({ id: 'ResetPasswordRequest' }),
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
  body: z.object({ token: mailedToken }).meta({ id: 'ConfirmEmailRequest' }),
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
    .object({ new_email: emailSchema, password: presentPasswordSchema.optional() })
    .meta({ id: 'ChangeEmailRequest' }),
  success: { status: 200, answer: messageSchema },
  errors: [403],
});

/** An IANA name, such as `Europe/Berlin`; the server judges whether it knows it. */
const timezoneSchema = z.string().min(1).max(100);
const localeSchema = z.enum(['en', 'ru']);

/** A name for people: 1 to 80 characters after trimming, NFC, without control characters. */
const displayNameSchema = z
  .string()
  .normalize('NFC')
  .trim()
  .min(1)
  .max(80)
  .refine((text) => !hasControlCharacter(text), 'must not contain control characters');

export const changeMeRoute = route({
  method: 'PATCH',
  path: '/api/v1/auth/me',
  credentials: 'bearer',
  tag,
  summary: 'Change the own profile',
  description: 'What is absent stays; `display_name: null` clears it.',
  body: z
    .object({
      display_name: displayNameSchema.nullable().optional(),
      locale: localeSchema.optional(),
      timezone: timezoneSchema.optional(),
    })
    .meta({ id: 'ChangeMeRequest' }),
  success: { status: 200, answer: userSchema },
  errors: [412],
});

export const changeLocaleRoute = route({
  method: 'PATCH',
  path: '/api/v1/auth/me/locale',
  credentials: 'bearer',
  tag,
  summary: 'Choose the language of mails and alerts',
  body: z.object({ locale: localeSchema }).meta({ id: 'ChangeLocaleRequest' }),
  success: { status: 200, answer: messageSchema },
  errors: [412],
});

export const changeTimezoneRoute = route({
  method: 'PATCH',
  path: '/api/v1/auth/me/timezone',
  credentials: 'bearer',
  tag,
  summary: 'Choose the time zone that times are shown in',
  body: z.object({ timezone: timezoneSchema }).meta({ id: 'ChangeTimezoneRequest' }),
  success: { status: 200, answer: messageSchema },
  errors: [412],
});

const countSchema = z.number().int();

export const accountStatsSchema = z
  .object({
    monitors: z.object({
      total: countSchema,
      /** The categories of the list of monitors; together they are the total. */
      up: countSchema,
      down: countSchema,
      degraded: countSchema,
      unknown: countSchema,
      paused: countSchema,
    }),
    heartbeats: countSchema,
    alerts: countSchema,
    open_incidents: countSchema,
    /** Checks of the last 24 h, by probes and by the control plane, those by hand included. */
    checks_24h: countSchema,
  })
  .meta({ id: 'AccountStats' });
export type AccountStats = z.output<typeof accountStatsSchema>;

export const accountStatsRoute = route({
  method: 'GET',
  path: '/api/v1/auth/me/stats',
  credentials: 'bearer',
  tag,
  summary: 'Numbers over all workspaces that the caller may see',
  success: { status: 200, answer: accountStatsSchema },
});

export const publicProfileSchema = z
  .object({
    id: z.number().int(),
    /** The chosen name, or "User 17". */
    display_name: z.string(),
  })
  .meta({ id: 'PublicProfile' });

export const publicProfileRoute = route({
  method: 'GET',
  path: '/api/v1/users/:user_id',
  credentials: 'none',
  tag,
  summary: 'What anybody may know of a user',
  params: z.object({ user_id: idSchema }),
  success: { status: 200, answer: publicProfileSchema },
  errors: [404],
  perAddressPerMinute: 60,
});

export const deleteMeRoute = route({
  method: 'DELETE',
  path: '/api/v1/auth/me',
  credentials: 'bearer',
  tag,
  summary: 'Delete the own account with its workspaces and all that is in them',
  description:
    'Cannot be undone. Needs the password, or a sign-in of the last ten minutes where the account has none. 409 while others are members of an own workspace: transfer or leave those first. The account is unusable at once; what is large goes in the background.',
  body: z.object({ password: presentPasswordSchema.optional() }).nullish().meta({ id: 'DeleteMeRequest' }),
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

export const sessionSchema = z
  .object({
    id: z.uuid(),
    user_agent: z.string().nullable(),
    /** Where it was started. */
    remote_address: z.string().nullable(),
    created_at: timestamp,
    /** When its tokens were last refreshed. */
    last_used_at: timestamp,
    /** When it ends unless it is used. */
    expires_at: timestamp,
    /** That of this request. */
    is_current: z.boolean(),
  })
  .meta({ id: 'Session' });
export type Session = z.output<typeof sessionSchema>;

export const listSessionsRoute = route({
  method: 'GET',
  path: '/api/v1/auth/sessions',
  credentials: 'bearer',
  tag,
  summary: 'List the own sessions that live, the last used one first',
  query: z.object(pageQuery),
  success: { status: 200, answer: listOf('sessions', sessionSchema).meta({ id: 'SessionList' }) },
});

export const endSessionRoute = route({
  method: 'DELETE',
  path: '/api/v1/auth/sessions/:session_id',
  credentials: 'bearer',
  tag,
  summary: 'End one of the own sessions',
  params: z.object({ session_id: z.uuid() }),
  success: { status: 204 },
  errors: [404],
});
