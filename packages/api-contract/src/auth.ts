import { z } from 'zod';
import { route } from './route.ts';
import { messageSchema, timestamp } from './shared.ts';

/** Bytes of a password in UTF-8. */
export const passwordBytes = { min: 8, max: 1_024 } as const;

const utf8 = new TextEncoder();
const bytesOf = (text: string): number => utf8.encode(text).length;

/** Whether SMTP can carry an address: a local part of at most 64 characters (RFC 5321, 4.5.3.1.1) and labels as DNS has them (RFC 1035, 2.3.4). */
function isDeliverable(address: string): boolean {
  const at = address.lastIndexOf('@');
  const labels = address.slice(at + 1).split('.');
  return at <= 64 && labels.every((label) => label.length <= 63 && !label.endsWith('-'));
}

/** An address as accounts are kept under: NFC, lower case, at most 254 characters. */
export const emailSchema = z
  .string()
  .max(1_000)
  .normalize('NFC')
  .trim()
  .toLowerCase()
  .pipe(z.email('must be a mail address').max(254).refine(isDeliverable, 'must be a mail address'))
  .meta({ format: 'email' });

/** A password to be set. The list of common ones is judged by the server. */
export const newPasswordSchema = z
  .string()
  .max(passwordBytes.max)
  .refine((text) => bytesOf(text) >= passwordBytes.min, `must have at least ${passwordBytes.min} bytes`)
  .refine((text) => bytesOf(text) <= passwordBytes.max, `must have at most ${passwordBytes.max} bytes`)
  .meta({ minLength: 1, format: 'password', description: '8 to 1,024 bytes of UTF-8, none of the most common ones' });

/** A password to be checked. */
export const presentPasswordSchema = z
  .string()
  .min(1)
  .max(passwordBytes.max)
  .refine((text) => bytesOf(text) <= passwordBytes.max, `must have at most ${passwordBytes.max} bytes`)
  .meta({ format: 'password' });

/** A code of an authenticator app; spaces are what people type between the digits. */
export const totpCodeSchema = z
  .string()
  .max(20)
  .transform((text) => text.replaceAll(' ', ''))
  .pipe(z.string().regex(/^[0-9]{6}$/, 'must have six digits'));

const refreshTokenText = z.string().min(1).max(500);

export const userSchema = z
  .object({
    id: z.number().int(),
    email: z
      .string()
      .nullable()
      .meta({ description: 'null for an account that came by another way and has named none' }),
    display_name: z.string().nullable(),
    locale: z.enum(['en', 'ru']),
    timezone: z.string(),
    plan: z.enum(['free', 'paid', 'self_hosted']),
    is_administrator: z.boolean(),
    email_verified: z.boolean(),
    created_at: timestamp,
    updated_at: timestamp,
    version: z.number().int(),
  })
  .meta({ id: 'User' });
export type User = z.output<typeof userSchema>;

export const tokenPairSchema = z
  .object({
    access_token: z.string(),
    refresh_token: z.string(),
    token_type: z.literal('Bearer'),
    /** Life of the access token in seconds, counted from when the pair was made. */
    expires_in: z.number().int(),
  })
  .meta({ id: 'TokenPair' });
export type TokenPair = z.output<typeof tokenPairSchema>;

const tag = 'Accounts';

export const registerRoute = route({
  method: 'POST',
  path: '/api/v1/auth/register',
  credentials: 'none',
  tag,
  summary: 'Create an account',
  description:
    'The first account of an installation is its administrator; it needs the set-up token from the log, unless it comes from this machine without a proxy and the installation is reached by loopback alone. A default workspace is made with the account.',
  body: z
    .strictObject({
      email: emailSchema,
      password: newPasswordSchema,
      invite_token: z.string().max(500).optional(),
      setup_token: z.string().max(500).optional(),
    })
    .meta({ id: 'RegisterRequest' }),
  success: { status: 201, answer: userSchema },
  errors: [403, 409],
  perAddressPerMinute: 3,
});

export const loginRoute = route({
  method: 'POST',
  path: '/api/v1/auth/login',
  credentials: 'none',
  tag,
  summary: 'Exchange address and password for tokens',
  description:
    'An account with a second factor answers 401 `mfa_required` with an `mfa_token` for `/auth/mfa/verify`, unless `totp_code` comes with the call.',
  body: z
    .strictObject({ email: emailSchema, password: presentPasswordSchema, totp_code: totpCodeSchema.optional() })
    .meta({ id: 'LoginRequest' }),
  success: { status: 200, answer: tokenPairSchema },
  errors: [401],
  perAddressPerMinute: 5,
});

export const refreshRoute = route({
  method: 'POST',
  path: '/api/v1/auth/refresh',
  credentials: 'none',
  tag,
  summary: 'Exchange a refresh token for a new pair',
  description:
    'A refresh token is good for one use. Its immediate predecessor is answered with the same new pair for 10 s; any other use of an old token revokes the whole family.',
  body: z.strictObject({ refresh_token: refreshTokenText }).meta({ id: 'RefreshRequest' }),
  success: { status: 200, answer: tokenPairSchema },
  errors: [401],
});

export const logoutRoute = route({
  method: 'POST',
  path: '/api/v1/auth/logout',
  credentials: 'bearer',
  tag,
  summary: 'Revoke a refresh token and its session',
  description: 'Without a body the session of the access token is ended.',
  body: z.strictObject({ refresh_token: refreshTokenText.optional() }).nullish().meta({ id: 'LogoutRequest' }),
  success: { status: 200, answer: messageSchema },
});

export const logoutAllRoute = route({
  method: 'POST',
  path: '/api/v1/auth/logout/all',
  credentials: 'bearer',
  tag,
  summary: 'Revoke all sessions of the user',
  success: {
    status: 200,
    answer: z.object({ message: z.string(), revoked_sessions: z.number().int() }).meta({ id: 'LogoutAllResponse' }),
  },
});

export const meRoute = route({
  method: 'GET',
  path: '/api/v1/auth/me',
  credentials: 'bearer',
  tag,
  summary: 'The account of the caller',
  success: { status: 200, answer: userSchema },
});
