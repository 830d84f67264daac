import { posix } from 'node:path';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';

/** A whole number in decimal digits between two bounds. */
export function integer(min: number, max: number): z.ZodType<number, string> {
  return z
    .string()
    .regex(/^-?[0-9]{1,15}$/, { error: `expected a whole number from ${min} to ${max}`, abort: true })
    .transform(Number)
    .refine((value) => value >= min && value <= max, `expected a whole number from ${min} to ${max}`);
}

/** A TCP port that can be listened on. */
export const port = integer(1, 65_535);

/** Text of at most 2,048 characters without control characters. */
export const text: z.ZodType<string, string> = z
  .string()
  .max(2048, 'longer than 2048 characters')
  .regex(/^\P{Cc}+$/u, 'is empty or has control characters');

/** A host name, an IPv4 address, or an IPv6 address without brackets. */
export const host: z.ZodType<string, string> = z
  .string()
  .max(253)
  .refine((value) => ipaddr.isValid(value) || /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/i.test(value), {
    error: 'expected a host name or an address',
  });

/** Comma-separated hosts without ports; an IPv6 address has no brackets. */
export const hosts: z.ZodType<readonly string[], string> = z
  .string()
  .transform(splitList)
  .pipe(z.array(host).max(64, 'at most 64'));

/** `host:port`, with brackets around an IPv6 address. */
export const hostAndPort: z.ZodType<string, string> = z.string().refine(
  (value) => {
    const match = /^(?:\[([^\]]+)\]|([^:]+)):([0-9]{1,5})$/.exec(value);
    if (match === null) return false;
    const named = match[1] ?? match[2] ?? '';
    const number = Number(match[3]);
    const isHost = match[1] === undefined ? host.safeParse(named).success : ipaddr.IPv6.isValid(named);
    return isHost && number >= 1 && number <= 65_535;
  },
  { error: 'expected host:port' },
);

/** Comma-separated `host:port`. */
export const hostsAndPorts: z.ZodType<readonly string[], string> = z
  .string()
  .transform(splitList)
  .pipe(z.array(hostAndPort).max(16, 'at most 16'));

/** Comma-separated name servers as `address`, `address:port` or `[address]:port`, at most three. */
export const nameServers: z.ZodType<readonly string[], string> = z
  .string()
  .transform(splitList)
  .pipe(
    z
      .array(
        z.string().refine((item) => {
          const [, bracketed, plain] = /^(?:\[([^\]]+)\]|([^:]+))(?::\d{1,5})?$/.exec(item) ?? [];
          return ipaddr.isValid(bracketed ?? plain ?? item);
        }, 'expected an address, with a port where it is not 53'),
      )
      .min(1, 'expected at least one')
      .max(3, 'at most 3'),
  );

/** Comma-separated absolute paths in their normal form, at most sixteen. */
export const absolutePaths: z.ZodType<readonly string[], string> = z
  .string()
  .transform(splitList)
  .pipe(
    z
      .array(
        z
          .string()
          .regex(/^\/\P{Cc}*[^/\p{Cc}]$/u, 'expected an absolute path')
          .transform((path) => posix.normalize(path)),
      )
      .max(16, 'at most 16'),
  );

/** Comma-separated members of a fixed set, without repetition, at least one. */
export function listOf<const Member extends string>(members: readonly Member[]): z.ZodType<readonly Member[], string> {
  return z
    .string()
    .transform(splitList)
    .pipe(z.array(z.enum(members, { error: `expected some of ${members.join(', ')}` })).min(1, 'expected at least one'))
    .transform((given) => members.filter((member) => given.includes(member)));
}

/** Comma-separated CIDRs or single addresses, as CIDRs; `none` is the empty list, which an empty value is not: that counts as unset. */
export const networks: z.ZodType<readonly string[], string> = z.string().transform((value, context) =>
  (value.trim().toLowerCase() === 'none' ? [] : splitList(value)).map((item) => {
    const slash = item.includes('/');
    if (slash ? ipaddr.isValidCIDR(item) : ipaddr.isValid(item)) {
      return slash ? item : `${item}/${ipaddr.parse(item).kind() === 'ipv6' ? 128 : 32}`;
    }
    context.addIssue({ code: 'custom', message: `${JSON.stringify(item)} is neither an address nor a CIDR` });
    return item;
  }),
);

/** Comma-separated addresses, in their usual form. */
export const addressList: z.ZodType<readonly string[], string> = z.string().transform((value, context) =>
  splitList(value).map((item) => {
    if (ipaddr.isValid(item)) return ipaddr.process(item).toString();
    context.addIssue({ code: 'custom', message: `${JSON.stringify(item)} is no IPv4 or IPv6 address` });
    return item;
  }),
);

/** Comma-separated `name=number` or `name=unlimited`, each name once; `unlimited` is null. Which names there are is for whoever reads them. */
export const numbersByName: z.ZodType<Readonly<Record<string, number | null>>, string> = z
  .string()
  .transform((value, context) => {
    const numbers: Record<string, number | null> = {};
    for (const item of splitList(value)) {
      const [, name = '', number = ''] = /^([a-z][a-z0-9_.]{0,99})\s*=\s*([0-9]{1,9}|unlimited)$/.exec(item) ?? [];
      const shown = JSON.stringify(item);
      if (name === '') context.addIssue({ code: 'custom', message: `${shown} is not name=number or name=unlimited` });
      else if (Object.hasOwn(numbers, name))
        context.addIssue({ code: 'custom', message: `${name} stands there twice` });
      else numbers[name] = number === 'unlimited' ? null : Number(number);
    }
    return numbers;
  });

/** Comma-separated `name=url` with http or https URLs, each name once, without a slash at the end. Which names there are is for whoever reads them. */
export const urlsByName: z.ZodType<Readonly<Record<string, string>>, string> = z
  .string()
  .transform((value, context) => {
    const urls: Record<string, string> = {};
    for (const item of splitList(value)) {
      const [, name = '', address = ''] = /^([a-z][a-z0-9-]{0,49})\s*=\s*(\S{1,2000})$/.exec(item) ?? [];
      const url = URL.canParse(address) ? new URL(address) : undefined;
      const isFit =
        url !== undefined && ['http:', 'https:'].includes(url.protocol) && `${url.search}${url.hash}` === '';
      if (!isFit || url.username !== '' || url.password !== '') {
        const message = `${name === '' ? 'an entry' : name} is not name=URL, as in pushover=https://push.example.com/base`;
        context.addIssue({ code: 'custom', message });
      } else if (Object.hasOwn(urls, name)) context.addIssue({ code: 'custom', message: `${name} stands there twice` });
      else urls[name] = address.replace(/\/+$/, '');
    }
    return urls;
  });

/** Comma-separated web origins as browsers send them: scheme, host and port, nothing else; no wildcard. */
export const origins: z.ZodType<readonly string[], string> = z.string().transform((value, context) =>
  splitList(value).map((item) => {
    const parsed = URL.canParse(item) ? new URL(item) : undefined;
    const isOrigin = parsed?.origin === item && ['http:', 'https:'].includes(parsed.protocol);
    if (!isOrigin) {
      context.addIssue({
        code: 'custom',
        message: `${JSON.stringify(item)} is not an origin such as https://console.example.com (no path, no trailing slash, no wildcard)`,
      });
    }
    return item;
  }),
);

/** An absolute URL with one of the given schemes (without colon). */
export function url(...schemes: string[]): z.ZodType<string, string> {
  return z.string().refine(
    (value) => {
      const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(value)?.[1]?.toLowerCase();
      // A PostgreSQL URL whose host is an encoded socket path is no URL to the WHATWG parser for every scheme, so only the scheme is judged.
      return scheme !== undefined && schemes.includes(scheme);
    },
    { error: `expected a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}` },
  );
}

/** The address of an OpenID Connect issuer: https, or http on loopback, without query, fragment and credentials. */
export const issuer: z.ZodType<string, string> = z
  .string()
  .max(2048, 'longer than 2048 characters')
  .refine(isSecureBase, {
    error: 'expected the address of an issuer that begins with https:// (http:// on loopback only)',
  });

/** The address of a front end that is handed tokens: https, or http on loopback, without query, fragment and credentials. */
export const frontend: z.ZodType<string, string> = z
  .string()
  .max(2048, 'longer than 2048 characters')
  .refine(isSecureBase, {
    error:
      'expected an address that begins with https:// (http:// on loopback only), without query, fragment and credentials',
  });

function isSecureBase(value: string): boolean {
  const address = URL.parse(value);
  // The parser drops a query or fragment that is empty.
  if (address === null || /[?#]/.test(value) || address.username !== '' || address.password !== '') return false;
  return address.protocol === 'https:' || (address.protocol === 'http:' && isLoopback(address.hostname));
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.[0-9]{1,3}){3}$/.test(hostname);
}

/** 32 bytes as base64, base64url or hexadecimal digits. */
export const key256: z.ZodType<string, string> = z
  .string()
  .refine((value) => decodeKey(value) !== undefined, 'expected 32 bytes as base64 or hexadecimal digits');

/** The bytes of a key that `key256` accepts, or undefined. */
export function decodeKey(value: string): Uint8Array | undefined {
  if (/^[0-9a-f]{64}$/i.test(value)) return new Uint8Array(Buffer.from(value, 'hex'));
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(value)) return new Uint8Array(Buffer.from(value, 'base64'));
  return undefined;
}

/** A path that begins and ends with a slash. */
export const basePath: z.ZodType<string, string> = z
  .string()
  .regex(/^\/([A-Za-z0-9._~-]+\/?)*$/, 'expected a path such as /parallax')
  .transform((value) => (value.endsWith('/') ? value : `${value}/`));

function splitList(value: string): string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** Reads CIDRs as the settings do: one spelling for each network. A string says what is wrong. */
export function readNetworks(text: string): readonly string[] | string {
  const parsed = networks.safeParse(text);
  return parsed.success ? parsed.data : (parsed.error.issues[0]?.message ?? 'cannot be read');
}
