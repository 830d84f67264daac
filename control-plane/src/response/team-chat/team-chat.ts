import type { TeamChatApp } from '../channels/index.ts';

/*
 * Slack's OAuth for one incoming webhook: https://docs.slack.dev/authentication/installing-with-oauth and
 * https://docs.slack.dev/reference/methods/oauth.v2.access.
 */

/** Where incoming webhooks are, unless the operator replaced it. */
export const defaultHooksUrl = 'https://hooks.slack.com';

/** Where the team chat sends browsers back to: registered there, compared by it to the letter. */
export function callbackUrl(publicUrl: string): string {
  return `${publicUrl.replace(/\/$/, '')}/api/v1/auth/team-chat/webhook/callback`;
}

/** Where a browser goes to choose a room. */
export function authorizationUrl(app: TeamChatApp, publicUrl: string, state: string): string {
  const url = new URL(`${app.url}/oauth/v2/authorize`);
  url.search = new URLSearchParams({
    client_id: app.clientId,
    scope: 'incoming-webhook',
    redirect_uri: callbackUrl(publicUrl),
    state,
  }).toString();
  return url.href;
}

/** Why a room was not connected: all that the page is ever told, whatever the callback was called with. */
export type CallbackError =
  | 'invalid_state'
  | 'access_denied'
  | 'provider_refused'
  | 'provider_unavailable'
  | 'too_many_channels'
  | 'refused';

/** The page of alerts, with the result where no server sees it. */
export function alertsPageUrl(
  publicUrl: string,
  result: { readonly destination: string } | { readonly error: CallbackError },
): string {
  const hash = 'error' in result ? { team_chat_error: result.error } : { team_chat: 'connected', ...result };
  return `${publicUrl.replace(/\/$/, '')}/alerts#${new URLSearchParams(hash).toString()}`;
}

/** For how long somebody may choose. */
export const requestLifeMs = 600_000;

function cookieName(callback: string): string {
  return callback.startsWith('https:') ? '__Secure-parallax-team-chat' : 'parallax-team-chat';
}

/**
 * `Set-Cookie` that binds a request to its browser, or takes that back (`undefined`). Without it somebody could have a stranger choose a room, and
 * get the right to write there.
 */
export function browserCookie(callback: string, browser: string | undefined): string {
  const { pathname, protocol } = new URL(callback);
  return [
    `${cookieName(callback)}=${browser ?? ''}`,
    `Path=${pathname}`,
    `Max-Age=${browser === undefined ? 0 : requestLifeMs / 1_000}`,
    'HttpOnly',
    // The callback is a navigation from elsewhere: Strict would hold the cookie back.
    'SameSite=Lax',
    ...(protocol === 'https:' ? ['Secure'] : []),
  ].join('; ');
}

/** The cookie's value, where it has the form of ours. @param header `Cookie` */
export function readBrowserCookie(callback: string, header: string | undefined): string | undefined {
  const start = `${cookieName(callback)}=`;
  const found = (header ?? '')
    .split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(start));
  const value = found?.slice(start.length) ?? '';
  return /^[A-Za-z0-9_-]{43}$/.test(value) ? value : undefined;
}
