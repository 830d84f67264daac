import type { Target } from '../check.ts';
import { parseHost } from '../net/host.ts';

const maxUrlLength = 2048;

/**
 * The address of a target; a missing scheme is that of the protocol. Gives a sentence when it cannot be checked.
 *
 * @param schemes those that the protocol takes, with their colon
 */
export function readUrl(target: Target, protocol: string, schemes: readonly string[]): URL | string {
  const text = target.url.trim();
  if (text.length > maxUrlLength) return `A URL has at most ${maxUrlLength} characters.`;
  let url: URL;
  try {
    url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `${protocol}://${text}`);
  } catch {
    return `"${text.slice(0, 100)}" is not a URL such as ${protocol}://example.com/health.`;
  }
  if (url.username !== '' || url.password !== '') {
    return 'A user name or password does not belong in the URL; use the settings username and password.';
  }
  if (!schemes.includes(url.protocol))
    return `This protocol takes URLs that begin with ${schemes.map((each) => `${each}//`).join(' or ')}.`;
  const host = parseHost(url.hostname);
  if (host.kind === 'invalid') return host.reason;
  url.hash = '';
  return url;
}

/** The host without brackets, as sockets and certificates want it. */
export function bareHost(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
}

/** Where to connect. `host` is without brackets. */
export type Place = { readonly host: string; readonly port: number; readonly secure: boolean };

export function placeOf(url: URL): Place {
  const secure = url.protocol === 'https:';
  return { host: bareHost(url), port: Number(url.port || (secure ? 443 : 80)), secure };
}
