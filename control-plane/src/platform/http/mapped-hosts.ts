import type { IncomingMessage } from 'node:http';

/** Hosts under which a part of the paths is served at the root, and nothing else. */
export type MappedHosts = {
  /** @param host in lower case, without a port and the dot of the root @returns what stands before each path; undefined: it is no such host */
  readonly prefixOf: (host: string) => string | undefined;
};

const mapped = new WeakSet<IncomingMessage>();

/** Whether a request came for a mapped host: its URL is another than it asked for, and its host is none of the installation. */
export function isMapped(request: IncomingMessage): boolean {
  return mapped.has(request);
}

/** Puts the prefix before the path of a request, whatever that is: so nothing outside of it can be named. */
export function mapRequest(request: IncomingMessage, prefix: string): void {
  mapped.add(request);
  request.url = mappedUrl(request.url ?? '/', prefix);
}

/** @param url as it came: a path with its query, or an absolute URL, whose host counts for nothing here (RFC 9112, section 3.2.2) */
export function mappedUrl(url: string, prefix: string): string {
  const path = url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
  // The page itself has no slash at its end.
  if (path === '' || path === '/') return prefix;
  if (path.startsWith('/?')) return prefix + path.slice(1);
  return path.startsWith('/') || path.startsWith('?') ? prefix + path : `${prefix}/${path}`;
}

/**
 * The host that a trusted proxy says it was asked for: the last one, which the nearest of them has added.
 * @param header `X-Forwarded-Host`
 */
export function forwardedHost(header: string | readonly string[] | undefined): string | undefined {
  const text = typeof header === 'string' ? header : header?.at(-1);
  return text?.split(',').at(-1)?.trim();
}
