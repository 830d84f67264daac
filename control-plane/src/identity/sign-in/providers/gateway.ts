import { emailSchema } from '@parallax/api-contract';
import * as client from 'openid-client';
import type { ProviderSettings } from '../../../sign-in-settings.ts';
import type { SignInProofs } from './provider.ts';

/** A provider did not do its part. */
export class ProviderFault extends Error {
  override readonly name = 'ProviderFault';
  readonly kind: 'unavailable' | 'refused';

  constructor(kind: ProviderFault['kind'], cause: unknown) {
    super(
      kind === 'unavailable' ? 'the provider does not answer' : 'the provider refused, or its answer does not hold',
      {
        cause,
      },
    );
    this.kind = kind;
  }
}

const timeoutSeconds = 5;
const keepMs = 3_600_000;

const found = new WeakMap<
  ProviderSettings,
  { readonly configuration: Promise<client.Configuration>; readonly atMs: number }
>();

/** The provider's own description, asked for once an hour; its keys are kept with it and asked for anew when an unknown one signs. */
async function configurationOf(provider: ProviderSettings, nowMs: number): Promise<client.Configuration> {
  const known = found.get(provider);
  if (known !== undefined && nowMs - known.atMs < keepMs) return known.configuration;
  const asked = { configuration: discover(provider), atMs: nowMs };
  found.set(provider, asked);
  try {
    return await asked.configuration;
  } catch (error) {
    // What is old serves on while the provider is away.
    if (known === undefined) found.delete(provider);
    else found.set(provider, known);
    if (known !== undefined) return known.configuration;
    throw error;
  }
}

async function discover(provider: ProviderSettings): Promise<client.Configuration> {
  const issuer = new URL(provider.issuer);
  // The settings take http on loopback only, where nobody is in between.
  const isPlain = issuer.protocol === 'http:';
  const secret = client.ClientSecretBasic(provider.clientSecret);
  return client.discovery(issuer, provider.clientId, provider.clientSecret, secret, {
    timeout: timeoutSeconds,
    // The signature is checked although the token comes straight from the provider.
    execute: [client.enableNonRepudiationChecks, ...(isPlain ? [client.allowInsecureRequests] : [])],
    [client.customFetch]: (url, options) => {
      // A description that names other hosts over plain http is not followed.
      const { protocol, hostname } = new URL(url);
      if (protocol !== 'https:' && hostname !== issuer.hostname)
        throw new TypeError('the provider names an insecure address');
      return fetch(url, options as RequestInit);
    },
  });
}

/**
 * Where a browser goes to sign in: a code flow with PKCE (S256) and a nonce.
 * @throws ProviderFault
 */
export async function authorizationUrl(
  provider: ProviderSettings,
  request: SignInProofs & { readonly callback: string; readonly state: string },
  nowMs: number,
): Promise<string> {
  return asProviderFault(async () => {
    const configuration = await configurationOf(provider, nowMs);
    return client.buildAuthorizationUrl(configuration, {
      redirect_uri: request.callback,
      scope: 'openid email',
      state: request.state,
      nonce: request.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(request.codeVerifier),
      code_challenge_method: 'S256',
    }).href;
  });
}

/** Who signed in at a provider. */
export type ProviderIdentity = {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | null;
  readonly emailVerified: boolean;
};

/**
 * Exchanges what a callback brought for who signed in; issuer (also RFC 9207), audience, nonce, expiry and signature are checked.
 * @throws ProviderFault
 */
export async function exchangeCode(
  provider: ProviderSettings,
  answer: { readonly code: string; readonly iss: string | undefined; readonly state: string },
  request: SignInProofs & { readonly callback: string },
  nowMs: number,
): Promise<ProviderIdentity> {
  return asProviderFault(async () => {
    const configuration = await configurationOf(provider, nowMs);
    const url = new URL(request.callback);
    url.search = new URLSearchParams({
      code: answer.code,
      state: answer.state,
      ...(answer.iss === undefined ? {} : { iss: answer.iss }),
    }).toString();
    const tokens = await client.authorizationCodeGrant(configuration, url, {
      pkceCodeVerifier: request.codeVerifier,
      expectedNonce: request.nonce,
      expectedState: answer.state,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined) throw new TypeError('no ID token');
    if (!isSubject(claims.sub)) throw new TypeError('the ID token names no subject that can be kept');
    const address =
      claims['email'] === undefined ? await userInfo(configuration, tokens.access_token, claims.sub) : claims;
    const email = emailSchema.safeParse(address['email']);
    return {
      issuer: claims.iss,
      subject: claims.sub,
      email: email.success ? email.data : null,
      // Some providers write it as text.
      emailVerified: email.success && [true, 'true'].includes(address['email_verified'] as boolean),
    };
  });
}

/** A subject has 1 to 255 characters (OpenID Connect Core, section 2); the database keeps neither NUL nor halves of characters. */
function isSubject(subject: unknown): subject is string {
  if (typeof subject !== 'string' || subject.length < 1 || subject.length > 255) return false;
  return !subject.includes('\u0000') && subject.isWellFormed();
}

/** Claims beside the ID token, where providers keep the address that follow OpenID Connect Core, section 5.4, to the letter. */
async function userInfo(
  configuration: client.Configuration,
  accessToken: string,
  subject: string,
): Promise<Readonly<Record<string, unknown>>> {
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return {};
  return client.fetchUserInfo(configuration, accessToken, subject);
}

async function asProviderFault<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw new ProviderFault(isAway(error) ? 'unavailable' : 'refused', error);
  }
}

/** Whether an error, or what it was caused by, says that nobody answers, or only with 5xx. */
function isAway(error: unknown): boolean {
  if (error instanceof Response) return error.status >= 500;
  if (!(error instanceof Error)) return false;
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return true;
  if (error instanceof TypeError && error.message === 'fetch failed') return true;
  return 'status' in error && Number(error.status) >= 500 ? true : isAway(error.cause);
}
