import type { CustomHmac } from '@parallax/api-contract';
import { mostSignatures, ofBase64, ofHex, ofSeconds, single } from './claim.ts';
import type { Headers, Reading } from './claim.ts';

const sha256Bytes = 32;
export const digestBytes = { sha1: 20, sha256: sha256Bytes, sha512: 64 } as const;

/**
 * Standard Webhooks 1.0.0, "Verifying signatures": HMAC-SHA256 over id, time stamp and body with full stops between; `webhook-signature` is a list
 * with spaces of versions and base64. Versions other than v1 are passed over. Svix sends the same under names of its own.
 */
export function readStandard(headers: Headers): Reading {
  const family = standardFamily(headers);
  const list = single(headers, `${family}-signature`, 'signature_missing', 'signature_malformed');
  if (typeof list === 'object') return list;
  // The identifier is part of what is signed.
  const id = single(headers, `${family}-id`, 'signature_malformed', 'signature_malformed');
  if (typeof id === 'object') return id;
  const timestamp = timestampOf(headers, `${family}-timestamp`);
  if ('refusal' in timestamp) return timestamp;
  const parts = list.split(' ').filter((part) => part !== '');
  const ours = parts.filter((part) => part.startsWith('v1,'));
  return claimOf(
    ours.map((part) => ofBase64(part.slice('v1,'.length), sha256Bytes)),
    `${id}.${timestamp.text}.`,
    timestamp.seconds,
  );
}

/** Under which names a delivery is signed. Headers of the other are not covered by the signature: anybody may have added them. */
export function standardFamily(headers: Headers): 'webhook' | 'svix' {
  return headers('webhook-signature').length === 0 && headers('svix-signature').length > 0 ? 'svix' : 'webhook';
}

/** GitHub, "Validating webhook deliveries": `X-Hub-Signature-256: sha256=` and hexadecimal HMAC-SHA256 of the body. Without a time stamp. */
export function readGithub(headers: Headers): Reading {
  const given = single(headers, 'x-hub-signature-256', 'signature_missing', 'signature_malformed');
  if (typeof given === 'object') return given;
  return claimOf([after(given, 'sha256=', (hex) => ofHex(hex, sha256Bytes))], '', null);
}

/**
 * Stripe, "Verify webhook signatures manually": `Stripe-Signature: t=…,v1=…`, hexadecimal HMAC-SHA256 over time stamp, full stop and body. There are
 * several v1 while a secret is being changed; other schemes are passed over.
 */
export function readStripe(headers: Headers): Reading {
  const given = single(headers, 'stripe-signature', 'signature_missing', 'signature_malformed');
  if (typeof given === 'object') return given;
  // Spaces are part of a name, as in the sender's own libraries.
  const pairs = given.split(',');
  // A name without a value, such as a second `t`, is read in other ways by other libraries.
  if (!pairs.every((pair) => pair.includes('='))) return { refusal: 'signature_malformed' };
  const named = (name: string): string[] =>
    pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
  const signatures = named('v1');
  if (signatures.length === 0) return { refusal: 'signature_malformed' };
  const [timestamp, ...others] = named('t');
  if (timestamp === undefined) return { refusal: 'timestamp_missing' };
  const seconds = ofSeconds(timestamp);
  if (seconds === undefined || others.length > 0) return { refusal: 'timestamp_malformed' };
  return claimOf(
    signatures.map((hex) => ofHex(hex, sha256Bytes)),
    `${timestamp}.`,
    seconds,
  );
}

/** Slack, "Verifying requests from Slack": `X-Slack-Signature: v0=` and hexadecimal HMAC-SHA256 over `v0`, time stamp and body with colons between. */
export function readSlack(headers: Headers): Reading {
  const given = single(headers, 'x-slack-signature', 'signature_missing', 'signature_malformed');
  if (typeof given === 'object') return given;
  const timestamp = timestampOf(headers, 'x-slack-request-timestamp');
  if ('refusal' in timestamp) return timestamp;
  return claimOf([after(given, 'v0=', (hex) => ofHex(hex, sha256Bytes))], `v0:${timestamp.text}:`, timestamp.seconds);
}

/** HMAC of the body in a header of the check's own. Senders spell hexadecimal digits either way. */
export function readCustom(headers: Headers, { header, encoding, prefix, algorithm }: CustomHmac): Reading {
  const given = single(headers, header.toLowerCase(), 'signature_missing', 'signature_malformed');
  if (typeof given === 'object') return given;
  const bytes = digestBytes[algorithm];
  const decode = (text: string): Buffer | undefined =>
    encoding === 'hex' ? ofHex(text, bytes, true) : ofBase64(text, bytes);
  const reading = claimOf([after(given, prefix, decode)], '', null);
  return 'refusal' in reading ? reading : { ...reading, algorithm };
}

function timestampOf(
  headers: Headers,
  name: string,
): { readonly text: string; readonly seconds: number } | Extract<Reading, { refusal: unknown }> {
  const text = single(headers, name, 'timestamp_missing', 'timestamp_malformed');
  if (typeof text === 'object') return text;
  const seconds = ofSeconds(text);
  return seconds === undefined ? { refusal: 'timestamp_malformed' } : { text, seconds };
}

function after(text: string, prefix: string, decode: (rest: string) => Buffer | undefined): Buffer | undefined {
  return text.startsWith(prefix) ? decode(text.slice(prefix.length)) : undefined;
}

/** One that cannot be read spoils the others: a sender that signs rightly writes all of them rightly. */
function claimOf(
  signatures: readonly (Buffer | undefined)[],
  before: string,
  timestampSeconds: number | null,
): Reading {
  const read = signatures.filter((signature) => signature !== undefined);
  if (read.length === 0 || read.length !== signatures.length || read.length > mostSignatures) {
    return { refusal: 'signature_malformed' };
  }
  return { algorithm: 'sha256', before, signatures: read, timestampSeconds };
}
