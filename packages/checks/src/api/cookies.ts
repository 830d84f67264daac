import { isIP } from 'node:net';
import { bareHost } from '../http/target.ts';

type Cookie = {
  readonly name: string;
  readonly value: string;
  readonly domain: string;
  /** Only to the very host that set it. */
  readonly hostOnly: boolean;
  readonly path: string;
  readonly secure: boolean;
};

const maxCookies = 50;
const maxPairCharacters = 4096;
/** What a field of a request may carry. */
const sendable = /^[\x20-\x7e\x80-\xff]*$/;

/**
 * Cookies of one run, after RFC 6265 in the small: a run is over before most dates of expiry matter, and there is no list of public suffixes,
 * so that a domain has to have a dot. What is beyond the bounds is not kept.
 */
export class CookieJar {
  #cookies: Cookie[] = [];

  /** Takes in what a response from `url` sets. */
  take(url: URL, fields: readonly string[], nowMs: number): void {
    for (const field of fields) {
      const read = readCookie(url, field, nowMs);
      if (read === undefined) continue;
      const { cookie, isOver } = read;
      this.#cookies = this.#cookies.filter(
        (each) => each.name !== cookie.name || each.domain !== cookie.domain || each.path !== cookie.path,
      );
      if (!isOver && this.#cookies.length < maxCookies) this.#cookies.push(cookie);
    }
  }

  /** The Cookie field for a request, longer paths first (RFC 6265, 5.4); undefined where none goes there. */
  fieldFor(url: URL): string | undefined {
    const fitting = this.#cookies.filter((each) => goesTo(each, url)).sort((a, b) => b.path.length - a.path.length);
    return fitting.length === 0 ? undefined : fitting.map(({ name, value }) => `${name}=${value}`).join('; ');
  }

  /** The value of a cookie that would go to `url`. */
  valueOf(url: URL, name: string): string | undefined {
    return this.#cookies.findLast((each) => each.name === name && goesTo(each, url))?.value;
  }

  values(): readonly string[] {
    return this.#cookies.map(({ value }) => value);
  }
}

function readCookie(
  url: URL,
  field: string,
  nowMs: number,
): { readonly cookie: Cookie; readonly isOver: boolean } | undefined {
  const [pair = '', ...rest] = field.split(';');
  const at = pair.indexOf('=');
  const name = pair.slice(0, at).trim();
  const value = pair.slice(at + 1).trim();
  if (at < 1 || name === '' || name.length + value.length > maxPairCharacters) return undefined;
  if (!sendable.test(`${name}${value}`)) return undefined;
  const attributes = new Map(
    rest.map((each): [string, string] => {
      const [key = '', ...values] = each.split('=');
      return [key.trim().toLowerCase(), values.join('=').trim()];
    }),
  );
  const host = bareHost(url);
  const domain = (attributes.get('domain') ?? '').replace(/^\./, '').toLowerCase();
  const hostOnly = domain === '' || domain === host;
  if (!hostOnly && (!domain.includes('.') || !isWithin(host, domain))) return undefined;
  const secure = attributes.has('secure');
  if (secure && url.protocol !== 'https:') return undefined;
  const given = attributes.get('path') ?? '';
  const path = given.startsWith('/') ? given : defaultPath(url);
  if (name.startsWith('__Secure-') && !secure) return undefined;
  if (name.startsWith('__Host-') && !(secure && domain === '' && path === '/')) return undefined;
  return {
    cookie: { name, value, domain: hostOnly ? host : domain, hostOnly, path, secure },
    isOver: isOver(attributes, nowMs),
  };
}

/** `Max-Age` wins over `Expires` (RFC 6265, 5.3). */
function isOver(attributes: ReadonlyMap<string, string>, nowMs: number): boolean {
  const age = attributes.get('max-age');
  if (age !== undefined && /^-?\d+$/.test(age)) return Number(age) <= 0;
  const end = Date.parse(attributes.get('expires') ?? '');
  return end <= nowMs;
}

function goesTo(cookie: Cookie, url: URL): boolean {
  const host = bareHost(url);
  if (cookie.secure && url.protocol !== 'https:') return false;
  if (host !== cookie.domain && (cookie.hostOnly || !isWithin(host, cookie.domain))) return false;
  const { pathname } = url;
  if (pathname === cookie.path) return true;
  return pathname.startsWith(cookie.path) && (cookie.path.endsWith('/') || pathname[cookie.path.length] === '/');
}

function isWithin(host: string, domain: string): boolean {
  return isIP(host) === 0 && host.endsWith(`.${domain}`);
}

/** RFC 6265, 5.1.4. */
function defaultPath({ pathname }: URL): string {
  const end = pathname.lastIndexOf('/');
  return end <= 0 ? '/' : pathname.slice(0, end);
}
