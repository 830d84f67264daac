import { basicCredentials } from './secrets.ts';
import type { HttpSettings } from './settings.ts';

/** A request as it goes over the wire. `body` follows `head` directly. */
export type WireRequest = { readonly method: string; readonly head: string; readonly body: Buffer | undefined };

/** One step of a chain of redirects: what to ask, where, and whether the monitor's credentials may go there. */
export type Hop = {
  readonly url: URL;
  readonly method: HttpSettings['method'];
  /** Still on the origin that the customer named: credentials, own headers and the body are sent. */
  readonly trusted: boolean;
  readonly withBody: boolean;
};

/** Own headers that say nothing about who asks, and so may go to another origin. */
const harmless = new Set(['accept', 'accept-language', 'cache-control', 'pragma', 'user-agent']);

/** Writes a request of HTTP/1.1 that asks for a connection of its own. Values were checked by the settings, the URL by its parser. */
export function writeRequest(hop: Hop, settings: HttpSettings, userAgent: string): WireRequest {
  const names = new Map<string, readonly [string, string]>();
  const set = (name: string, value: string) => names.set(name.toLowerCase(), [name, value]);
  set('Host', hop.url.host);
  set('User-Agent', userAgent);
  set('Accept', '*/*');
  set('Accept-Encoding', 'gzip, deflate, br');
  for (const [name, value] of Object.entries(settings.headers)) {
    if (hop.trusted || harmless.has(name.toLowerCase())) set(name, value);
  }
  if (hop.trusted) {
    if (settings.bearer_token !== undefined) set('Authorization', `Bearer ${settings.bearer_token}`);
    if (settings.username !== undefined) {
      set('Authorization', `Basic ${basicCredentials(settings.username, settings.password ?? '')}`);
    }
    for (const [name, value] of Object.entries(settings.secret_headers)) set(name, value);
  }
  const body = hop.withBody && settings.body !== undefined ? Buffer.from(settings.body, 'utf8') : undefined;
  if (body !== undefined || ['POST', 'PUT', 'PATCH'].includes(hop.method))
    set('Content-Length', String(body?.length ?? 0));
  set('Connection', 'close');
  const lines = [...names.values()].map(([name, value]) => `${name}: ${value}\r\n`);
  return {
    method: hop.method,
    head: `${hop.method} ${hop.url.pathname}${hop.url.search} HTTP/1.1\r\n${lines.join('')}\r\n`,
    body,
  };
}

export const maxRedirects = 5;

export function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

/**
 * Where a response sends the check: the next hop, undefined when it sends it nowhere, or a sentence about a redirect that is not
 * followed. On another origin nothing of the monitor's own goes along: no credentials, no headers of its own, no body.
 */
export function nextHop(hop: Hop, status: number, location: string | undefined): Hop | string | undefined {
  if (!isRedirect(status) || location === undefined) return undefined;
  let url: URL;
  try {
    // Raw bytes of a header are read as UTF-8, as browsers do.
    url = new URL(Buffer.from(location, 'latin1').toString('utf8'), hop.url);
  } catch {
    return 'The address in the Location header cannot be read.';
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return `A redirect to ${url.protocol} is not followed.`;
  url.username = '';
  url.password = '';
  url.hash = '';
  const trusted = hop.trusted && url.origin === hop.url.origin;
  const becomesGet = (status === 303 && hop.method !== 'HEAD') || (status < 303 && hop.method === 'POST');
  return { url, method: becomesGet ? 'GET' : hop.method, trusted, withBody: hop.withBody && trusted && !becomesGet };
}
