import { basicCredentials } from './secrets.ts';
import { type Place, placeOf } from './target.ts';

export const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
export type Method = (typeof methods)[number];

/** What a request is made of, whatever asks for it. */
export type RequestSettings = {
  readonly headers: Readonly<Record<string, string>>;
  readonly secret_headers: Readonly<Record<string, string>>;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly bearer_token?: string | undefined;
  readonly auth_scheme?: 'basic' | 'digest';
  readonly body?: string | undefined;
};

/** A request as it goes over the wire. `body` follows `head` directly. */
export type WireRequest = {
  readonly method: string;
  readonly head: string;
  readonly body: Buffer | undefined;
  /** Nothing in it and, since nobody shows who asks, nothing in the answer is a secret. */
  readonly isPublic: boolean;
  /** Where it goes, taken from the URL once. */
  readonly place: Place;
};

/** One step of a chain of redirects: what to ask, where, and whether the monitor's credentials may go there. */
export type Hop = {
  readonly url: URL;
  readonly method: Method;
  /** Still on the origin that the customer named, or on its host after a redirect from HTTP to HTTPS: credentials, own headers and the body are sent. */
  readonly trusted: boolean;
  readonly withBody: boolean;
};

/** Own headers that say nothing about who asks, and so may go to another origin. */
const harmless = new Set(['accept', 'accept-language', 'cache-control', 'pragma', 'user-agent']);

/**
 * Writes a request of HTTP/1.1 that asks for a connection of its own. Values were checked by the settings, the URL by its parser.
 *
 * @param authorization credentials that were made for this request; they go nowhere but to the customer's own origin
 */
export function writeRequest(
  hop: Hop,
  settings: RequestSettings,
  userAgent: string,
  authorization?: string,
): WireRequest {
  const { names, set } = ownFields(hop, settings, userAgent, authorization);
  const body = hop.withBody && settings.body !== undefined ? Buffer.from(settings.body, 'utf8') : undefined;
  if (body !== undefined || ['POST', 'PUT', 'PATCH'].includes(hop.method))
    set('Content-Length', String(body?.length ?? 0));
  set('Connection', 'close');
  const lines = [...names.values()].map(([name, value]) => `${name}: ${value}\r\n`);
  return {
    method: hop.method,
    head: `${hop.method} ${hop.url.pathname}${hop.url.search} HTTP/1.1\r\n${lines.join('')}\r\n`,
    body,
    isPublic: body === undefined && !names.has('authorization') && !(hop.trusted && hasAny(settings.secret_headers)),
    place: placeOf(hop.url),
  };
}

function hasAny(headers: Readonly<Record<string, string>>): boolean {
  for (const _name in headers) return true;
  return false;
}

type Fields = {
  readonly names: ReadonlyMap<string, readonly [string, string]>;
  readonly set: (name: string, value: string) => void;
};

/** The fields of a request but for those that frame it, by their names in lower case. */
export function ownFields(
  hop: Pick<Hop, 'url' | 'trusted'>,
  settings: RequestSettings,
  userAgent: string,
  authorization?: string,
): Fields {
  const names = new Map<string, readonly [string, string]>();
  const set = (name: string, value: string): void => {
    names.set(name.toLowerCase(), [name, value]);
  };
  set('Host', hop.url.host);
  set('User-Agent', userAgent);
  set('Accept', '*/*');
  set('Accept-Encoding', 'gzip, deflate, br');
  for (const [name, value] of Object.entries(settings.headers)) {
    if (hop.trusted || harmless.has(name.toLowerCase())) set(name, value);
  }
  if (hop.trusted) {
    if (settings.bearer_token !== undefined) set('Authorization', `Bearer ${settings.bearer_token}`);
    if (settings.username !== undefined && settings.auth_scheme !== 'digest') {
      set('Authorization', `Basic ${basicCredentials(settings.username, settings.password ?? '')}`);
    }
    if (authorization !== undefined) set('Authorization', authorization);
    for (const [name, value] of Object.entries(settings.secret_headers)) set(name, value);
  }
  return { names, set };
}

export const maxRedirects = 5;

export function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

/** The same host, now over TLS, both at their usual ports: what went there in the open may go there secured. */
function isSecured(from: URL, to: URL): boolean {
  const plain = from.protocol === 'http:' && from.port === '';
  return plain && to.protocol === 'https:' && to.port === '' && to.hostname === from.hostname;
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
  const trusted = hop.trusted && (url.origin === hop.url.origin || isSecured(hop.url, url));
  const becomesGet = (status === 303 && hop.method !== 'HEAD') || (status < 303 && hop.method === 'POST');
  return { url, method: becomesGet ? 'GET' : hop.method, trusted, withBody: hop.withBody && trusted && !becomesGet };
}
