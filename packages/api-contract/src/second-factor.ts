import { z } from 'zod';
import { presentPasswordSchema, tokenPairSchema, totpCodeSchema } from './auth.ts';
import { route } from './route.ts';
import { idSchema, nameSchema, timestamp } from './shared.ts';

const tag = 'Second factor';

const token = z.string().min(1).max(200);

/** Sixteen characters in four groups; case and hyphens are as people type them. */
const recoveryCodeSchema = z.string().min(1).max(50);

/** What whoever adds or removes a factor shows again: a session left open must not lock its owner out. */
const againSchema = z.strictObject({ password: presentPasswordSchema.optional() }).nullish().meta({
  id: 'ShownAgain',
  description: 'the password; an account that has none must have signed in within the last 10 minutes instead',
});

const base64url = (maxCharacters: number) => z.base64url().min(1).max(maxCharacters);

// Web Authentication Level 3, section 5.1: the JSON forms. What nobody here reads is left out.
const credential = {
  id: base64url(1_400),
  rawId: base64url(1_400),
  type: z.literal('public-key'),
  authenticatorAttachment: z.string().max(50).nullish(),
  clientExtensionResults: z.record(z.string().max(100), z.unknown()).default({}),
};

/** `RegistrationResponseJSON`. */
const newPasskeySchema = z
  .object({
    ...credential,
    response: z.object({
      clientDataJSON: base64url(10_000),
      attestationObject: base64url(20_000),
      transports: z.array(z.string().max(50)).max(20).optional(),
    }),
  })
  .meta({ id: 'PasskeyRegistration' });

/** `AuthenticationResponseJSON`. */
export const passkeyAnswerSchema = z
  .object({
    ...credential,
    response: z.object({
      clientDataJSON: base64url(10_000),
      authenticatorData: base64url(10_000),
      signature: base64url(2_000),
      userHandle: base64url(200).nullish(),
    }),
  })
  .meta({ id: 'PasskeyAnswer' });
export type PasskeyAnswer = z.output<typeof passkeyAnswerSchema>;

/** For `navigator.credentials`; the browser reads it whole. */
const passkeyOptions = (name: string, type: string) =>
  z.record(z.string(), z.unknown()).meta({ id: name, description: `\`${type}\` of Web Authentication Level 3` });
const creationOptionsSchema = passkeyOptions('PasskeyCreationOptions', 'PublicKeyCredentialCreationOptionsJSON');
const requestOptionsSchema = passkeyOptions('PasskeyRequestOptions', 'PublicKeyCredentialRequestOptionsJSON');

const recoveryCodesSchema = z.array(z.string()).meta({ description: 'ten codes of one use each, shown this once' });

const passkeySchema = z
  .object({
    id: z.number().int(),
    name: z.string(),
    backed_up: z.boolean().meta({ description: 'whether it is kept on more than one device' }),
    created_at: timestamp,
    last_used_at: timestamp.nullable(),
  })
  .meta({ id: 'Passkey' });

export const listFactorsRoute = route({
  method: 'GET',
  path: '/api/v1/auth/mfa',
  credentials: 'bearer',
  tag,
  summary: 'The second factors of the caller',
  success: {
    status: 200,
    answer: z
      .object({
        totp: z.object({ confirmed_at: timestamp }).nullable(),
        passkeys: z.array(passkeySchema),
        recovery_codes_left: z.number().int(),
      })
      .meta({ id: 'SecondFactors' }),
  },
});

export const beginTotpRoute = route({
  method: 'POST',
  path: '/api/v1/auth/mfa/totp',
  credentials: 'bearer',
  tag,
  summary: 'Make a secret for an authenticator app',
  description: 'It counts when it is confirmed; until then calling again makes another. 409 when one is confirmed.',
  body: againSchema,
  success: {
    status: 201,
    answer: z
      .object({
        secret: z.string().meta({ description: 'base32, for typing; shown this once' }),
        otpauth_url: z.string().meta({ description: 'the same for a QR code' }),
      })
      .meta({ id: 'TotpSecret' }),
  },
  errors: [409],
});

const confirmedSchema = z.object({
  recovery_codes: recoveryCodesSchema.nullable().meta({ description: 'null when the account has some already' }),
});

export const confirmTotpRoute = route({
  method: 'POST',
  path: '/api/v1/auth/mfa/totp/confirm',
  credentials: 'bearer',
  tag,
  summary: 'Confirm the authenticator app by one of its codes',
  body: z.strictObject({ code: totpCodeSchema }).meta({ id: 'ConfirmTotpRequest' }),
  success: { status: 200, answer: confirmedSchema.meta({ id: 'TotpConfirmed' }) },
  errors: [404, 409],
});

export const removeTotpRoute = route({
  method: 'DELETE',
  path: '/api/v1/auth/mfa/totp',
  credentials: 'bearer',
  tag,
  summary: 'Remove the authenticator app',
  body: againSchema,
  success: { status: 204 },
  errors: [404],
});

export const newRecoveryCodesRoute = route({
  method: 'POST',
  path: '/api/v1/auth/mfa/recovery-codes',
  credentials: 'bearer',
  tag,
  summary: 'Make ten new recovery codes in place of the old ones',
  body: againSchema,
  success: {
    status: 201,
    answer: z.object({ recovery_codes: recoveryCodesSchema }).meta({ id: 'RecoveryCodes' }),
  },
  errors: [409],
});

export const verifySecondFactorRoute = route({
  method: 'POST',
  path: '/api/v1/auth/mfa/verify',
  credentials: 'none',
  tag,
  summary: 'Finish a sign-in with a second factor',
  description: 'Five tries a minute for each account. The `mfa_token` lives for 5 minutes and is good for one success.',
  body: z
    .strictObject({
      mfa_token: token,
      totp_code: totpCodeSchema.optional(),
      recovery_code: recoveryCodeSchema.optional(),
      passkey: passkeyAnswerSchema.optional(),
    })
    .refine(
      ({ totp_code, recovery_code, passkey }) =>
        [totp_code, recovery_code, passkey].filter((given) => given !== undefined).length === 1,
      'give exactly one of totp_code, recovery_code and passkey',
    )
    .meta({ id: 'VerifySecondFactorRequest' }),
  success: { status: 200, answer: tokenPairSchema },
  errors: [401],
  perAddressPerMinute: 20,
});

export const passkeyChallengeRoute = route({
  method: 'POST',
  path: '/api/v1/auth/mfa/passkey-options',
  credentials: 'none',
  tag,
  summary: 'What to ask a passkey for, as a second factor',
  body: z.strictObject({ mfa_token: token }).meta({ id: 'PasskeyChallengeRequest' }),
  success: { status: 200, answer: z.object({ options: requestOptionsSchema }).meta({ id: 'PasskeyChallenge' }) },
  errors: [401, 404],
  perAddressPerMinute: 20,
});

export const beginPasskeyRoute = route({
  method: 'POST',
  path: '/api/v1/auth/mfa/passkeys/begin',
  credentials: 'bearer',
  tag,
  summary: 'Begin to register a passkey',
  description: 'Passkeys need a host name in the public URL; 404 where it has an address.',
  body: againSchema,
  success: {
    status: 200,
    answer: z
      .object({ registration_token: z.string(), options: creationOptionsSchema })
      .meta({ id: 'PasskeyRegistrationBegun' }),
  },
  errors: [404, 409],
});

export const finishPasskeyRoute = route({
  method: 'POST',
  path: '/api/v1/auth/mfa/passkeys',
  credentials: 'bearer',
  tag,
  summary: 'Finish to register a passkey',
  body: z
    .strictObject({ registration_token: token, name: nameSchema.default('Passkey'), passkey: newPasskeySchema })
    .meta({ id: 'RegisterPasskeyRequest' }),
  success: {
    status: 201,
    answer: confirmedSchema.extend({ passkey: passkeySchema }).meta({ id: 'PasskeyRegistered' }),
  },
  errors: [404, 409],
});

export const removePasskeyRoute = route({
  method: 'DELETE',
  path: '/api/v1/auth/mfa/passkeys/:id',
  credentials: 'bearer',
  tag,
  summary: 'Remove a passkey',
  params: z.object({ id: idSchema }),
  body: againSchema,
  success: { status: 204 },
  errors: [404, 409],
});

export const beginPasskeySignInRoute = route({
  method: 'POST',
  path: '/api/v1/auth/passkey/begin',
  credentials: 'none',
  tag,
  summary: 'Begin to sign in by a passkey alone',
  success: {
    status: 200,
    answer: z.object({ sign_in_token: z.string(), options: requestOptionsSchema }).meta({ id: 'PasskeySignInBegun' }),
  },
  errors: [404],
  perAddressPerMinute: 20,
});

export const finishPasskeySignInRoute = route({
  method: 'POST',
  path: '/api/v1/auth/passkey/finish',
  credentials: 'none',
  tag,
  summary: 'Finish to sign in by a passkey alone',
  description: 'The authenticator must have verified its user, which makes it two factors in one.',
  body: z.strictObject({ sign_in_token: token, passkey: passkeyAnswerSchema }).meta({ id: 'PasskeySignInRequest' }),
  success: { status: 200, answer: tokenPairSchema },
  errors: [401, 404],
  perAddressPerMinute: 5,
});
