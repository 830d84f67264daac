import { createPrivateKey, X509Certificate } from 'node:crypto';
import { z } from 'zod';
import { lazily } from '../lazily.ts';
import { parseHost } from './host.ts';

/**
 * How a connection is secured. Which of them a type takes is what its protocol can do:
 * - `none` not at all
 * - `auto` where the port, the scheme or the server says so
 * - `starttls` by asking the server, after a beginning in the clear; compulsory
 * - `implicit` from the first byte on
 */
export type TlsMode = 'none' | 'auto' | 'starttls' | 'implicit';

const noControls = /^\P{Cc}*$/u;

/** What a setting may hold that goes into one line or one length-prefixed field of a protocol. */
export const oneLine = (length: number) => z.string().min(1).max(length).regex(noControls, 'No control characters.');

/** Settings of every type that connects. */
export const addressFields = lazily(() => ({
  /** Only addresses of this family. */
  ip_version: z.union([z.literal(4), z.literal(6)]).optional(),
}));

/** Settings of those whose servers say something first. */
export const bannerFields = lazily(() => ({
  /** A text that has to occur in what the server says first. */
  expected_banner: z.string().min(1).max(256).optional(),
}));

/** Settings of those that can log in. */
export const loginFields = lazily(() => ({
  /** The user to log in as. */
  username: z.string().min(1).max(256).regex(noControls, 'A user name has no control characters.').optional(),
  /** The password of the user. */
  password: z.string().max(1024).regex(noControls, 'A password has no control characters.').optional(),
}));

/** The secret ones among `loginFields` and `tlsFields`. */
export const connectionSecrets = ['password', 'client_key'] as const;

const pem = (what: string) =>
  z
    .string()
    .max(64 * 1024, { abort: true })
    .regex(new RegExp(`-----BEGIN ${what}-----`), 'Certificates and keys are written in PEM form.');

/** Authorities in PEM form. What OpenSSL would pass over without a word is refused, or the target would be blamed for it. */
export const authorities = lazily(() =>
  pem('CERTIFICATE').refine(
    areReadable,
    'The authorities cannot be read; they are certificates in PEM form, one after the other.',
  ),
);

/** How TLS is trusted, by those that can secure the connection by it. */
export const trustFields = lazily(() => ({
  /** Whether a certificate that cannot be trusted is a failure. */
  verify_tls: z.boolean().default(true),
  /** Days before the end of the certificate from which on the check warns; 0 switches it off. */
  warn_days_before_expiry: z.int().min(0).max(365).default(14),
  /** Authorities in PEM form to trust instead of the public ones. */
  ca_certificates: authorities().optional(),
  /** Certificate that the check itself shows (mutual TLS), in PEM form, with what is needed of its chain behind it. */
  client_certificate: pem('CERTIFICATE').optional(),
  /** The key of `client_certificate`, in PEM form and without a pass phrase. */
  client_key: pem('(?:RSA |EC )?PRIVATE KEY').optional(),
}));

/** Settings of those that hold a conversation inside TLS. */
export const tlsFields = lazily(() => ({
  ...trustFields(),
  /** Name to ask for and to find in the certificate, when it is not the host of the target. */
  server_name: z
    .string()
    .max(253)
    .refine((name) => parseHost(name).kind === 'name', 'A server name is a host name.')
    .optional(),
}));

/** `tls` of the types whose protocol has TLS from the first byte or not at all. */
export const directTls = lazily(() => ({
  /** `implicit`: TLS from the first byte on, as a scheme that stands for it says too (`rediss://`, `mqtts://`); `none`: no TLS. */
  tls: z.enum(['none', 'implicit']).default('none'),
}));

/** What the fields above read, as far as a connection needs it; a type without a field leaves it out. */
export type ConnectionSettings = {
  readonly ip_version?: 4 | 6 | undefined;
  readonly expected_banner?: string | undefined;
  readonly verify_tls?: boolean | undefined;
  readonly warn_days_before_expiry?: number | undefined;
  readonly server_name?: string | undefined;
  readonly ca_certificates?: string | undefined;
  readonly client_certificate?: string | undefined;
  readonly client_key?: string | undefined;
};

/** A user name and a password come together, in types where one is useless without the other. */
export const loginIsWhole = [
  (all: { readonly username?: string | undefined; readonly password?: string | undefined }) =>
    (all.username === undefined) === (all.password === undefined),
  { message: 'Give both a user name and a password, or neither.', path: ['password'] as PropertyKey[] },
] as const;

/** Settings whose client certificate and key, where there are fields for them, have to belong together. */
export function withClientPair<Schema extends z.ZodObject>(settings: Schema): Schema {
  if (!Object.hasOwn(settings.shape, 'client_key')) return settings;
  return settings.superRefine((all, context) => {
    const problem = clientPairProblem(all);
    if (problem !== undefined) context.addIssue({ code: 'custom', path: ['client_key'], message: problem });
  });
}

type ClientPair = { readonly client_certificate?: string | undefined; readonly client_key?: string | undefined };
/** What was said about pairs: reading keys takes a while, and settings are read again for every assignment. */
const maxKnownPairs = 256;
const knownPairs = new Map<string, string | undefined>();

/** What is wrong with a client certificate and its key, or undefined. */
export function clientPairProblem({ client_certificate: cert, client_key: key }: ClientPair): string | undefined {
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) return 'A client certificate and its key go together.';
  const pair = `${cert} ${key}`;
  if (knownPairs.has(pair)) return knownPairs.get(pair);
  const problem = readPair(cert, key);
  if (knownPairs.size >= maxKnownPairs) knownPairs.clear();
  knownPairs.set(pair, problem);
  return problem;
}

const pemBlock = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
const knownAuthorities = new Map<string, boolean>();

/** Whether every certificate in a text is one. */
function areReadable(text: string): boolean {
  const known = knownAuthorities.get(text);
  if (known !== undefined) return known;
  const begun = text.split('-----BEGIN CERTIFICATE-----').length - 1;
  const blocks = text.match(pemBlock) ?? [];
  const readable = blocks.length === begun && blocks.every(isCertificate);
  if (knownAuthorities.size >= maxKnownPairs) knownAuthorities.clear();
  knownAuthorities.set(text, readable);
  return readable;
}

function isCertificate(block: string): boolean {
  try {
    return new X509Certificate(block).raw.length > 0;
  } catch {
    return false;
  }
}

function readPair(cert: string, key: string): string | undefined {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
      ? undefined
      : 'The key does not belong to the client certificate.';
  } catch {
    return 'The client certificate or its key cannot be read; both are PEM, the key without a pass phrase.';
  }
}
