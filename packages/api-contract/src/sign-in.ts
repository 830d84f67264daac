import { z } from 'zod';
import { tokenPairSchema } from './auth.ts';
import { route } from './route.ts';
import { idSchema, timestamp } from './shared.ts';

const tag = 'Sign-in';

/** The two providers that an installation may have, by the letter in their paths and settings. */
export const identityProviders = ['a', 'b'] as const;
export type IdentityProvider = (typeof identityProviders)[number];

/** Brings an invitation to a sign-in: a new account uses it up and becomes a member of its workspace. */
export const inviteTokenHeader = 'X-Invite-Token';

/** Sends a browser to a provider. */
export const providerLoginRoute = (provider: IdentityProvider) =>
  route({
    method: 'GET',
    path: `/api/v1/auth/identity-provider-${provider}/login`,
    credentials: 'bearer-or-none',
    requestHeaders: [inviteTokenHeader],
    tag,
    summary: `Begin a sign-in at identity provider ${provider}`,
    description:
      'Open the address in the browser that made this call: it was given a cookie which the callback asks for. With an access token the identity is linked to that account, by a session of the last ten minutes. An invitation in the header X-Invite-Token is used up when a new account is made, and lets it be made where registration is by invitation. 404 where the provider is not configured.',
    success: {
      status: 200,
      answer: z.object({ authorization_url: z.string() }).meta({ id: 'AuthorizationUrl' }),
    },
    errors: [403, 404],
    perAddressPerMinute: 30,
  });

/** Where a provider sends the browser back to. */
export const providerCallbackRoute = (provider: IdentityProvider) =>
  route({
    method: 'GET',
    path: `/api/v1/auth/identity-provider-${provider}/callback`,
    credentials: 'none',
    tag,
    summary: `Where identity provider ${provider} sends the browser back to`,
    description:
      'Redirects to `/auth/complete` with the result in the hash: `access_token` and `refresh_token`, `mfa_token`, `linked` or `error`.',
    query: z.object({
      code: z.string().max(2_048).optional(),
      state: z.string().max(2_048).optional(),
      error: z.string().max(2_048).optional(),
      iss: z
        .string()
        .max(2_048)
        .optional()
        .meta({ description: 'the issuer (RFC 9207), which must then be the right one' }),
    }),
    success: { status: 307 },
    errors: [404],
    perAddressPerMinute: 30,
  });

/** The result of a sign-in at a provider, in words. */
export const signInCompleteRoute = route({
  method: 'GET',
  path: '/auth/complete',
  credentials: 'none',
  tag,
  summary: 'Page on which a sign-in at a provider ends',
  success: { status: 200, answer: z.string(), contentType: 'text/html; charset=utf-8' },
});

export const signInWaysRoute = route({
  method: 'GET',
  path: '/api/v1/auth/ways',
  credentials: 'none',
  tag,
  summary: 'The ways in that this installation has',
  success: {
    status: 200,
    answer: z
      .object({
        registration: z.enum(['open', 'invite', 'closed']),
        identity_providers: z.array(
          z.object({ id: z.enum(['identity-provider-a', 'identity-provider-b']), name: z.string() }),
        ),
        messenger: z.boolean(),
        passkeys: z.boolean(),
      })
      .meta({ id: 'SignInWays' }),
  },
  perAddressPerMinute: 60,
});

const identitySchema = z
  .object({
    id: z.number().int(),
    way: z.enum(['identity_provider_a', 'identity_provider_b', 'messenger']),
    issuer: z.string(),
    email: z.string().nullable().meta({ description: 'as the provider told it when the identity was linked' }),
    created_at: timestamp,
    last_used_at: timestamp.nullable(),
  })
  .meta({ id: 'Identity' });

export const listIdentitiesRoute = route({
  method: 'GET',
  path: '/api/v1/auth/identities',
  credentials: 'bearer',
  tag,
  summary: 'The identities that let the caller in',
  success: { status: 200, answer: z.object({ identities: z.array(identitySchema) }).meta({ id: 'IdentityList' }) },
});

export const removeIdentityRoute = route({
  method: 'DELETE',
  path: '/api/v1/auth/identities/:id',
  credentials: 'bearer',
  tag,
  summary: 'Unlink an identity',
  description: 'The last way into an account stays: 409. A session that is older than ten minutes is answered 403.',
  params: z.object({ id: idSchema }),
  success: { status: 204 },
  errors: [403, 404, 409],
});

/** One field of the messenger's data, as it came: the signature is over all of them. */
const signedValue = z.union([z.string().max(2_048), z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)]);

export const messengerLoginRoute = route({
  method: 'POST',
  path: '/api/v1/auth/messenger/login',
  credentials: 'bearer-or-none',
  isTokenUnlisted: true,
  requestHeaders: [inviteTokenHeader],
  tag,
  summary: 'Exchange the data of the messenger login widget for tokens',
  description:
    'Send what the widget gave, all of it and nothing else: its signature is over every field. It counts once and for 10 minutes. Makes the account where there is none and registration is open, or where an invitation comes in the header X-Invite-Token; sent with an access token (`Authorization: Bearer …`), it links the person to that account.',
  // A record and no object: fields that nobody knows today are part of what is signed.
  body: z
    .record(z.string().max(64), signedValue)
    .refine((data) => Object.keys(data).length <= 32, 'has too many fields')
    .meta({
      id: 'MessengerLoginRequest',
      examples: [{ id: 42, first_name: 'Ada', auth_date: 1_790_000_000, hash: '0'.repeat(64) }],
    }),
  success: { status: 200, answer: tokenPairSchema },
  errors: [401, 403, 404, 409],
  perAddressPerMinute: 5,
});

export const messengerWebappRoute = route({
  method: 'POST',
  path: '/api/v1/auth/messenger/webapp',
  credentials: 'bearer-or-none',
  isTokenUnlisted: true,
  requestHeaders: [inviteTokenHeader],
  tag,
  summary: 'Exchange the init data of a messenger mini app for tokens',
  description:
    '`init_data` is the text that the messenger gave the mini app, unchanged. It counts for an hour, as often as it is sent, for the account of its first use. A new account takes its name from `first_name` and `last_name`, and its language from `language_code` where that is `en` or `ru`. Otherwise the rules of the login widget hold.',
  body: z.strictObject({ init_data: z.string().min(1).max(8_192) }).meta({ id: 'MessengerWebappRequest' }),
  success: { status: 200, answer: tokenPairSchema },
  errors: [401, 403, 404, 409],
  perAddressPerMinute: 5,
});
