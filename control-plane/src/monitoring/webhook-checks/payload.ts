import { createHash } from 'node:crypto';
import { mostKeptBody } from '@parallax/api-contract';
import type { CustomHmac, SignatureForm } from '@parallax/api-contract';
import type { Headers } from './signatures/claim.ts';
import { standardFamily } from './signatures/forms.ts';

/** A body that was read as JSON; undefined when it is none. */
export type Json = { readonly value: unknown } | undefined;

/** Reads a body as JSON in UTF-8. Of a key that stands twice the last counts, as everywhere. */
export function jsonOf(body: Uint8Array): Json {
  try {
    return { value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown };
  } catch {
    return undefined;
  }
}

/** The beginning of a body as it is kept: what is no UTF-8, and NUL, which PostgreSQL does not store, is replaced. */
export function keptBody(body: Buffer): { readonly text: string; readonly isCut: boolean } {
  const isCut = body.length > mostKeptBody;
  const text = body.subarray(0, mostKeptBody).toString('utf8').replaceAll('\0', '\u{FFFD}');
  // A character that the cut went through.
  return { text: isCut ? text.replace(/\u{FFFD}$/u, '') : text, isCut };
}

const mostIdCharacters = 255;

/**
 * How a sender names a delivery, the same when it is sent again; null when it does not. Only for deliveries whose signature was verified.
 * @param json of the body, for senders that name it there
 */
export function deliveryIdOf(
  { signature, custom }: { readonly signature: SignatureForm; readonly custom: CustomHmac | null },
  headers: Headers,
  json: Json,
): string | null {
  const given = idOf(signature, custom, headers, json);
  if (given === undefined || given === '') return null;
  if (given.length <= mostIdCharacters && /^[ -~]+$/.test(given)) return given;
  return `sha256:${createHash('sha256').update(given).digest('hex')}`;
}

function idOf(signature: SignatureForm, custom: CustomHmac | null, headers: Headers, json: Json): string | undefined {
  switch (signature) {
    case 'standard':
      return headers(`${standardFamily(headers)}-id`)[0];
    case 'github':
      return headers('x-github-delivery')[0];
    case 'stripe':
      return textAt(json, 'id');
    case 'slack':
      return textAt(json, 'event_id');
    case 'custom_hmac':
      return custom?.id_header == null ? undefined : headers(custom.id_header.toLowerCase())[0];
    case 'none':
      return headers('webhook-id')[0];
  }
}

/** What a sender asks instead of telling something: GitHub when a webhook is made, Slack before it delivers to a URL. */
export type Greeting =
  | { readonly reason: 'ping' }
  | { readonly reason: 'url_verification'; readonly challenge: string };

const mostChallenge = 1_000;

/** The greeting that a delivery is, if it is one. */
export function greetingOf(signature: SignatureForm, headers: Headers, json: Json): Greeting | undefined {
  if (signature === 'github') return headers('x-github-event')[0] === 'ping' ? { reason: 'ping' } : undefined;
  if (signature !== 'slack' || textAt(json, 'type') !== 'url_verification') return undefined;
  const challenge = textAt(json, 'challenge') ?? '';
  return { reason: 'url_verification', challenge: challenge.slice(0, mostChallenge) };
}

function textAt(json: Json, name: string): string | undefined {
  const value = json?.value;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  const found = (value as Readonly<Record<string, unknown>>)[name];
  return typeof found === 'string' ? found : undefined;
}
