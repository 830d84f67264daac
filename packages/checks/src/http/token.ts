import type { CheckContext } from '../check.ts';
import { type Failure, failed } from '../net/failure.ts';
import { ask } from './ask.ts';
import { decodeBody } from './body.ts';
import { writeRequest } from './request.ts';
import { ResponseParser } from './response-parser.ts';
import type { HttpSettings } from './settings.ts';
import type { Progress } from './outcome.ts';

/** A bearer token, and whether it was fetched for an earlier check. */
export type Token = { readonly ok: true; readonly token: string; readonly kept: boolean };
/** No token, and how far the attempt got. */
export type NoToken = { readonly ok: false; readonly failure: Failure; readonly progress: Progress };

/**
 * Tokens are kept for as long as they are good, so that a check every ten seconds does not ask the token endpoint as often; at most an
 * hour, and five minutes where the endpoint does not say. They live and die with the settings that they were fetched for.
 */
const kept = new WeakMap<HttpSettings, { readonly token: string; readonly until: number }>();
const maxLifeMs = 3_600_000;
const unsaidLifeMs = 300_000;
/** Not used during the last tenth of its life, at least ten seconds: it has to be good still when it arrives. */
const reserveMs = 10_000;

const limits = { maxHeadBytes: 64 * 1024, maxBodyBytes: 64 * 1024 };

/**
 * The token of a monitor with a token endpoint, by the client credentials grant (RFC 6749, 4.4). The endpoint is a second hop: its
 * address is judged like the target's, its certificate is always verified and its redirects are not followed.
 */
export async function bearerToken(
  settings: HttpSettings,
  url: string,
  context: CheckContext,
): Promise<Token | NoToken> {
  const known = kept.get(settings);
  if (known !== undefined && context.clock() < known.until) return { ok: true, token: known.token, kept: true };
  kept.delete(settings);
  const askedAt = context.clock();
  const progress: Progress = { startedAt: askedAt, phases: {}, redirects: 0, url: new URL(url), obtained: [] };
  context.trace?.('token', `asking ${progress.url.origin} for a token`);
  const failure = await fetchAnswer(settings, context, progress);
  if (failure !== undefined) return { ok: false, failure: ofEndpoint(failure), progress };
  const read = readAnswer(progress);
  if (typeof read === 'string') return { ok: false, failure: failed('oauth2_token', read), progress };
  const reserve = Math.max(reserveMs, read.lifeMs / 10);
  if (read.lifeMs > reserve) kept.set(settings, { token: read.token, until: askedAt + read.lifeMs - reserve });
  return { ok: true, token: read.token, kept: false };
}

/** Forgets a token that was refused. */
export function forgetToken(settings: HttpSettings): void {
  kept.delete(settings);
}

async function fetchAnswer(
  settings: HttpSettings,
  context: CheckContext,
  progress: Progress,
): Promise<Failure | undefined> {
  const { client_id: id = '', client_secret: secret = '', scope, audience } = settings;
  const inHeader = settings.client_authentication === 'header';
  const form = new URLSearchParams({ grant_type: 'client_credentials' });
  if (scope !== undefined) form.set('scope', scope);
  if (audience !== undefined) form.set('audience', audience);
  if (!inHeader) {
    form.set('client_id', id);
    form.set('client_secret', secret);
  }
  const request = writeRequest(
    { url: progress.url, method: 'POST', trusted: true, withBody: true },
    {
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' },
      secret_headers: {},
      body: form.toString(),
      ...(inHeader && { username: formEncoded(id), password: formEncoded(secret) }),
    },
    context.userAgent,
  );
  const parser = new ResponseParser('POST', limits);
  parser.keepBytes = limits.maxBodyBytes;
  const trust = { verify_tls: true, ca_certificates: settings.token_ca_certificates };
  return ask(false, request, parser, trust, context, progress);
}

/** The token in an answer, or a sentence about why there is none. The body is never shown: it may hold a token. */
function readAnswer({ head, parser }: Progress): { readonly token: string; readonly lifeMs: number } | string {
  if (head === undefined || parser === undefined) return 'The token endpoint did not answer.';
  const decoded = decodeBody(head, parser.body, 4 * limits.maxBodyBytes);
  const answer = decoded.ok ? jsonObject(decoded.bytes.toString('utf8')) : {};
  if (head.status !== 200) {
    const reason = typeof answer['error'] === 'string' && /^[\w.-]{1,60}$/.test(answer['error']) ? answer['error'] : '';
    return `The token endpoint answered ${head.status}${reason === '' ? '' : ` (${reason})`} instead of a token.`;
  }
  const { access_token: token, token_type: type, expires_in: life } = answer;
  if (typeof token !== 'string' || !/^[\x21-\x7e]{1,16384}$/.test(token))
    return 'The answer of the token endpoint holds no access_token.';
  if (type !== undefined && (typeof type !== 'string' || type.toLowerCase() !== 'bearer'))
    return 'The token endpoint gave a token that is not a bearer token.';
  const seconds = Number(life ?? Number.NaN);
  const lifeMs = Number.isFinite(seconds) ? Math.min(maxLifeMs, Math.max(0, seconds * 1000)) : unsaidLifeMs;
  return { token, lifeMs };
}

/** Whatever the endpoint did wrong is one code; what the policy, a resolver or the probe says keeps its own. */
function ofEndpoint(failure: Failure): Failure {
  const message = `No token was got: ${failure.message}`;
  const own = failure.source === 'target' && failure.code !== 'address_denied';
  return own ? { ...failure, code: 'oauth2_token', message } : { ...failure, message };
}

function jsonObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}

/** As RFC 6749, 2.3.1 wants it before basic authentication. */
function formEncoded(text: string): string {
  return new URLSearchParams({ x: text }).toString().slice(2);
}
