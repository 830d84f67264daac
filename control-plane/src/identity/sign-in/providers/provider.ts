import { createHmac } from 'node:crypto';
import type { IdentityProvider } from '@parallax/api-contract';
import type { InviteRefusal } from '../../workspaces/index.ts';

/** The way in that a provider is. */
export function wayOf(provider: IdentityProvider): 'identity_provider_a' | 'identity_provider_b' {
  return `identity_provider_${provider}`;
}

/** Where a provider sends browsers back to: registered there, compared by it to the letter. */
export function callbackUrl(publicUrl: string, provider: IdentityProvider): string {
  return `${publicUrl.replace(/\/$/, '')}/api/v1/auth/identity-provider-${provider}/callback`;
}

/** What a sign-in is bound to, made from the browser's cookie and the state: nothing of it is kept here. */
export type SignInProofs = { readonly codeVerifier: string; readonly nonce: string };

/** @param browser the secret in the browser's cookie, 256 random bits */
export function proofsOf(browser: string, state: string): SignInProofs {
  const made = (purpose: string): string =>
    createHmac('sha256', browser).update(`${purpose} ${state}`).digest('base64url');
  // RFC 7636, section 4.1: 43 characters of 256 bits.
  return { codeVerifier: made('code verifier'), nonce: made('nonce') };
}

const maxAgeSeconds = 600;

/** Life of a sign-in that is at a provider, as the database takes it. */
export const signInLife = '10 minutes';

/** The cookie that binds a sign-in to its browser; over https under a name that only https may set (RFC 6265bis, section 4.1.3.1). */
export function browserCookieName(callback: string): string {
  return callback.startsWith('https:') ? '__Secure-parallax-sign-in' : 'parallax-sign-in';
}

/** `Set-Cookie` that keeps the browser's secret for the callback, or takes it back (`undefined`). */
export function browserCookie(callback: string, browser: string | undefined): string {
  const { pathname, protocol } = new URL(callback);
  return [
    `${browserCookieName(callback)}=${browser ?? ''}`,
    `Path=${pathname}`,
    `Max-Age=${browser === undefined ? 0 : maxAgeSeconds}`,
    'HttpOnly',
    // The callback is a navigation from elsewhere: Strict would hold the cookie back.
    'SameSite=Lax',
    ...(protocol === 'https:' ? ['Secure'] : []),
  ].join('; ');
}

/** A cookie's value, where it has the form of ours. @param header `Cookie` */
export function readBrowserCookie(callback: string, header: string | undefined): string | undefined {
  const start = `${browserCookieName(callback)}=`;
  const found = (header ?? '')
    .split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(start));
  const value = found?.slice(start.length) ?? '';
  return /^[A-Za-z0-9_-]{43}$/.test(value) ? value : undefined;
}

/** Why a sign-in at a provider failed: all that the page is ever told, whatever the callback was called with. */
export type CallbackError =
  | 'invalid_state'
  | 'access_denied'
  | 'provider_refused'
  | 'provider_unavailable'
  | 'account_exists'
  | 'identity_taken'
  | 'session_ended'
  | 'registration_closed'
  | 'setup_token_required'
  | `invite_${InviteRefusal}`;

/**
 * Where a sign-in ends, with its result where no server sees it. Nothing of a request has a say in it.
 * @param base of the front end that the operator set, else of the product's own page
 */
export function completeUrl(base: string, result: Readonly<Record<string, string>>): string {
  return `${base.replace(/\/$/, '')}/auth/complete#${new URLSearchParams(result).toString()}`;
}
