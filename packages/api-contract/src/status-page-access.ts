import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { route } from './route.ts';
import { hasControlCharacter } from './shared.ts';

/** Bounds of what makes a status page private. */
export const pageAccessLimits = {
  passwordMin: 8,
  passwordMax: 200,
  mailDomains: 20,
  addresses: 50,
  /** The form that unlocks a page: a password that may be long once it is encoded, and where to go afterwards. */
  formBytes: 4_096,
} as const;

const password = z
  .string()
  .normalize('NFC')
  .min(pageAccessLimits.passwordMin)
  .max(pageAccessLimits.passwordMax)
  .refine((text) => !hasControlCharacter(text), 'must not contain control characters')
  .meta({ format: 'password' });

const domainForm = /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/;
const mailDomain = z
  .string()
  .trim()
  .toLowerCase()
  .regex(domainForm, 'must be a domain such as example.com, without an @');

const network = z
  .string()
  .max(100)
  .refine((text) => canonicalNetwork(text) !== undefined, 'must be a network such as 192.0.2.0/24 or 2001:db8::/32')
  .overwrite((text) => canonicalNetwork(text) ?? text);

/**
 * The one spelling of a network, or of an address as the network that holds it alone. Bits behind the prefix are cleared, and IPv4 that is mapped
 * into IPv6 is IPv4, as addresses of clients are read.
 * @returns undefined for a text that is neither, and for a prefix of no bits, which is everybody
 */
export function canonicalNetwork(text: string): string | undefined {
  const [, address = '', bits] = /^([0-9a-fA-F.:]{2,45})(?:\/([0-9]{1,3}))?$/.exec(text.trim()) ?? [];
  if (!ipaddr.IPv4.isValidFourPartDecimal(address) && !ipaddr.IPv6.isValid(address)) return undefined;
  const given = ipaddr.parse(address);
  const most = given.kind() === 'ipv4' ? 32 : 128;
  const prefix = bits === undefined ? most : Number(bits);
  if (prefix < 1 || prefix > most) return undefined;
  const isMapped = given instanceof ipaddr.IPv6 && given.isIPv4MappedAddress();
  if (isMapped && prefix <= 96) return undefined;
  const [parsed, length] = isMapped ? [given.toIPv4Address(), prefix - 96] : [given, prefix];
  const whole = `${parsed.toString()}/${length}`;
  const first =
    parsed.kind() === 'ipv4' ? ipaddr.IPv4.networkAddressFromCIDR(whole) : ipaddr.IPv6.networkAddressFromCIDR(whole);
  return `${first.toString()}/${length}`;
}

const distinct = <Value>(given: readonly Value[]): Value[] => [...new Set(given)];

/** Fields by which a status page is private. */
export const pageAccessFields = {
  password: password
    .nullish()
    .describe(
      'Whoever knows it reads the page. It is kept as a hash and never answered. `null`: none. A change ends all that was unlocked.',
    ),
  allowedMailDomains: z
    .array(mailDomain)
    .max(pageAccessLimits.mailDomains)
    .overwrite(distinct)
    .describe(
      'Whoever reads mail at one of these domains is sent a link that unlocks the page; subdomains are others.',
    ),
  allowedAddresses: z
    .array(network)
    .max(pageAccessLimits.addresses)
    .overwrite(distinct)
    .describe('Networks whose clients read the page without anything else.'),
} as const;

/** What an answer says of who may read a page. */
export const pageAccessAnswer = {
  has_password: z.boolean(),
  allowed_mail_domains: z.array(z.string()),
  allowed_addresses: z.array(z.string()).describe('CIDRs in their canonical form.'),
} as const;

const slug = z.string().min(1).max(63);
const page = { answer: z.string(), contentType: 'text/html; charset=utf-8' } as const;

export const unlockStatusPageRoute = route({
  method: 'POST',
  path: '/status/:slug/unlock',
  credentials: 'none',
  tag: 'Status pages',
  summary: 'Unlock a private status page',
  description:
    'The form of the page. With the right `password` the answer sets a cookie that is good for twelve hours and leads to the page, or to the document below it that `to` names. With `mail` a link is sent where that ' +
    'address may have one; the answer is the same for every address. Every answer is a page: 401 with the form for a wrong password, 429 after five of them in a minute. Programs send the password as `X-Status-Password`, or ' +
    'by Basic authentication, with each request for a document.',
  params: z.object({ slug }),
  bytes: { maxBytes: pageAccessLimits.formBytes },
  success: { status: 303, ...page },
  alternative: { status: 200, description: 'A link was asked for.' },
  pages: [401, 403, 404, 429],
  errors: [401, 403, 404, 413],
  perAddressPerMinute: 60,
});

export const unlockStatusPageByLinkRoute = route({
  method: 'POST',
  path: '/status/:slug/unlock/:token',
  credentials: 'none',
  tag: 'Status pages',
  summary: 'Unlock a private status page by a link that was mailed',
  description:
    'What the button of the page behind the link sends. A link works once, within 15 minutes. The body is not read.',
  params: z.object({ slug, token: z.string().min(1).max(100) }),
  bytes: { keptBytes: 1_000, readBytes: 10_000 },
  success: { status: 303, ...page },
  pages: [403, 404],
  errors: [403, 404],
  perAddressPerMinute: 30,
});
