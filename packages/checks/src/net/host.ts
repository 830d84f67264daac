import { isIP, isIPv6 } from 'node:net';

/** What a host field turned out to be. Addresses are in canonical spelling without brackets; names are lower case and in ASCII. */
export type Host =
  | { readonly kind: 'address'; readonly address: string; readonly family: 4 | 6 }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'invalid'; readonly reason: string };

const plainName = /^(?:[a-z0-9_](?:[a-z0-9_]|-(?!-))*\.)*[a-z][a-z0-9]*$/;

/**
 * Reads a host the way the URL parser does, so that `2130706433`, `0x7f.1`, `127.1` and `[::1]` are the addresses that a browser,
 * a resolver or the kernel would take them for, and can be judged as such.
 */
export function parseHost(text: string): Host {
  // What almost every check has needs no parser: four plain numbers, or an ASCII name whose last label cannot be a number.
  if (isIP(text) === 4) return { kind: 'address', address: text, family: 4 };
  if (text.length < 64 && plainName.test(text)) return { kind: 'name', name: text };
  if (text === '' || text.length > 255 + 2) return invalid('A host name has 1 to 253 characters.');
  if (/[\s/?#@\\]/.test(text))
    return invalid('A host is a name or an address, without spaces, slashes or user information.');
  const plain = isIPv6(text) ? text : undefined;
  // A zone (fe80::1%eth0) is no part of a URL; it stays as it is and the address policy denies it.
  if (plain?.includes('%')) return { kind: 'address', address: plain, family: 6 };
  let hostname: string;
  try {
    hostname = new URL(`http://${plain === undefined ? text : `[${plain}]`}/`).hostname;
  } catch {
    return invalid(`"${text}" is neither a host name nor an IP address.`);
  }
  if (plain === undefined && text.includes(':') && !text.startsWith('[')) {
    return invalid(`"${text}" holds a colon; write an IPv6 address as [::1] and a port where one is asked for.`);
  }
  if (hostname.startsWith('[')) return { kind: 'address', address: hostname.slice(1, -1), family: 6 };
  if (isIP(hostname) === 4) return { kind: 'address', address: hostname, family: 4 };
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
  const labels = name.split('.');
  if (name.length === 0 || name.length > 253 || labels.some((label) => label === '' || label.length > 63)) {
    return invalid(`"${text}" is no host name: labels have 1 to 63 characters, the whole at most 253.`);
  }
  return { kind: 'name', name };
}

/** A host as a server and its certificate know it: a name in ASCII and without the dot at its end, an address in its canonical spelling. */
export function plainHost(text: string): string {
  const host = parseHost(text);
  if (host.kind === 'invalid') return text;
  return host.kind === 'name' ? host.name : host.address;
}

function invalid(reason: string): Host {
  return { kind: 'invalid', reason };
}

/** Where a check points: a host as written and a port. */
export type HostPort = { readonly host: string; readonly port: number };

/** Forms of `host:port` that a check type takes. */
export type HostPortForm = {
  /** Accepted in front as `scheme://`, with the port that it stands for when none is written. */
  readonly schemes: Readonly<Record<string, number | undefined>>;
  /** Port when neither the text nor a scheme says one; undefined makes a port compulsory. 0 for protocols without ports. */
  readonly defaultPort: number | undefined;
};

/** Reads `host`, `host:port`, `[v6]:port`, a bare IPv6 address, or one of these behind a scheme. Gives a sentence about what is wrong otherwise. */
export function parseHostPort(text: string, form: HostPortForm): HostPort | string {
  let rest = text.trim();
  let fallback = form.defaultPort;
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(rest);
  if (scheme?.[1] !== undefined) {
    const name = scheme[1].toLowerCase();
    if (!Object.hasOwn(form.schemes, name)) {
      return `"${name}://" is not taken here; write host:port or one of ${Object.keys(form.schemes).join(', ')}.`;
    }
    fallback = form.schemes[name] ?? fallback;
    rest = rest.slice(scheme[0].length).replace(/[/?#].*$/, '');
    if (rest.includes('@')) return 'User information does not belong in a target; use the settings.';
  }
  const split = splitPort(rest);
  const host = parseHost(split.host);
  if (host.kind === 'invalid') return host.reason;
  const port = split.port === undefined ? fallback : portOf(split.port);
  if (port === undefined) {
    return split.port === undefined
      ? 'A port is missing; write host:port.'
      : `"${split.port}" is not a port (1 to 65535).`;
  }
  return { host: split.host, port };
}

function splitPort(text: string): { readonly host: string; readonly port: string | undefined } {
  if (isIPv6(text)) return { host: text, port: undefined };
  const match = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(text);
  return { host: match?.[1] ?? text, port: match?.[2] };
}

function portOf(text: string): number | undefined {
  if (!/^\d{1,5}$/.test(text)) return undefined;
  const port = Number(text);
  return port >= 1 && port <= 65535 ? port : undefined;
}
