import { parseHost } from '../host.ts';

export const proxySchemes = ['http', 'https', 'socks5'] as const;

/** What the settings say of a proxy. */
export type ProxyAddress = {
  readonly scheme: (typeof proxySchemes)[number];
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
  readonly username: string | undefined;
  readonly password: string | undefined;
};

const usualPorts = { http: 80, https: 443, socks5: 1080 } as const;
/** `socks5h` says of itself what holds here for `socks5` too: the proxy looks up names. */
const schemes: Readonly<Record<string, ProxyAddress['scheme']>> = {
  http: 'http',
  https: 'https',
  socks5: 'socks5',
  socks5h: 'socks5',
};
/** RFC 1929 counts in one byte. */
const maxCredentialBytes = 255;

/** Reads `scheme://user:password@host:port`; gives a sentence about what is wrong otherwise. */
export function readProxy(text: string): ProxyAddress | string {
  const match = /^([a-z0-9]+):\/\/(.*)$/i.exec(text.trim());
  const scheme = schemes[match?.[1]?.toLowerCase() ?? ''];
  if (match?.[2] === undefined || scheme === undefined)
    return 'A proxy is a URL with http://, https:// or socks5://, a host and a port.';
  // Read as a special scheme, which knows addresses in all their spellings; the port of none of them is dropped as the usual one.
  const written = `http://${match[2]}`;
  if (!URL.canParse(written)) return 'The URL of the proxy cannot be read.';
  const url = new URL(written);
  if (!/^\/?$/.test(url.pathname) || url.search !== '' || url.hash !== '')
    return 'The URL of a proxy has no path, query or fragment.';
  const host = parseHost(url.hostname);
  if (host.kind === 'invalid') return host.reason;
  const port = Number(url.port || (/:80\/?$/.test(match[2]) ? 80 : usualPorts[scheme]));
  if (port === 0) return 'A port is a number from 1 to 65535.';
  const username = decoded(url.username);
  const password = decoded(url.password);
  if (username === undefined || password === undefined) return 'The user of the proxy is not written as URLs have it.';
  if ([username, password].some((each) => !isCredential(each)))
    return 'User name and password of a proxy have at most 255 bytes and no control characters.';
  if (username.includes(':')) return 'The user name of a proxy has no colon.';
  if (username === '' && password !== '') return 'The URL of the proxy has a password, but no user name.';
  return {
    scheme,
    host: host.kind === 'name' ? host.name : host.address,
    port,
    username: username === '' ? undefined : username,
    password: password === '' ? undefined : password,
  };
}

/** Whether a proxy of either kind can be told this. */
export function isCredential(text: string): boolean {
  return Buffer.byteLength(text) <= maxCredentialBytes && /^\P{Cc}*$/u.test(text);
}

/** The URL in one spelling, with the user name and without the password. */
export function writeProxy({ scheme, host, port, username }: ProxyAddress): string {
  const user = username === undefined ? '' : `${encodeURIComponent(username)}@`;
  return `${scheme}://${user}${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
