import { pingBodyBytes, Problem } from '@parallax/api-contract';
import { parseJson } from '../../../platform/http/json-text.ts';
import type { Warning } from './signal.ts';
import { skimMembers } from './skim.ts';

/** A body, or its beginning, as it came. */
export type GivenBody = { readonly bytes: Buffer; readonly isCut: boolean; readonly isJson: boolean };

/** What of a body is kept. */
export type ReadBody = {
  /** Null for none. */
  readonly text: string | null;
  readonly isCut: boolean;
  readonly durationMs: number | null;
  /** A JSON object. */
  readonly payload: Readonly<Record<string, unknown>> | null;
  readonly warnings: readonly Warning[];
};

const nothing: ReadBody = { text: null, isCut: false, durationMs: null, payload: null, warnings: [] };

/** The longest run that a client may tell of: a year. */
const mostDurationMs = 31_536_000_000;
const maxDepth = 32;

/**
 * Reads a body. Its first bytes are kept as text whatever it is, and what cannot be stored is replaced; `duration_ms` and `payload` are taken from a JSON
 * object, also where the client does not say that it is one, as curl does not. What is wrong is a warning: the signal counts.
 */
export function readBody(given: GivenBody | undefined): ReadBody {
  if (given === undefined || given.bytes.length === 0) return nothing;
  const isCut = given.isCut || given.bytes.length > pingBodyBytes;
  const warnings: Warning[] = isCut ? ['body_truncated'] : [];
  // PostgreSQL stores no NUL.
  const text = decode(given.bytes.subarray(0, pingBodyBytes), isCut).replaceAll('\u0000', '\uFFFD');
  if (text.includes('\uFFFD')) warnings.push('body_not_text');
  const kept = { ...nothing, text, isCut, warnings };
  const mayBeObject = /^\s*\{/.test(text);
  if (!mayBeObject && !given.isJson) return kept;
  const told = given.isCut ? undefined : isCut ? membersOfLong(decode(given.bytes, false)) : membersIn(text);
  if (told === undefined) {
    if (given.isJson) warnings.push('body_not_json');
    return kept;
  }
  const { duration_ms: duration, payload } = told.members;
  const isDuration =
    typeof duration === 'number' && Number.isFinite(duration) && duration >= 0 && duration <= mostDurationMs;
  if (duration != null && !isDuration) warnings.push('duration_ignored');
  const isPayload = isObject(payload);
  if (payload != null && !isPayload) warnings.push('payload_ignored');
  if (told.isPayloadTooLarge) warnings.push('payload_too_large');
  return { ...kept, durationMs: isDuration ? Math.round(duration) : null, payload: isPayload ? payload : null };
}

/** @param isCut there is more, so a character that is not whole at the end is left out */
function decode(bytes: Buffer, isCut: boolean): string {
  return new TextDecoder('utf-8', { ignoreBOM: false }).decode(bytes, { stream: isCut });
}

type Told = { readonly members: Readonly<Record<string, unknown>>; readonly isPayloadTooLarge: boolean };

function membersIn(text: string): Told | undefined {
  const members = objectIn(text);
  return members === undefined ? undefined : { members, isPayloadTooLarge: false };
}

/** Longer than what is kept: only the two members are parsed, and the payload only where it is itself short enough to be kept. */
function membersOfLong(text: string): Told | undefined {
  const found = skimMembers(text, ['duration_ms', 'payload']);
  if (found === undefined) return undefined;
  const isPayloadTooLarge = Buffer.byteLength(found.get('payload')?.trim() ?? '') > pingBodyBytes;
  const short = [...found].filter(([name]) => !(name === 'payload' && isPayloadTooLarge));
  if (Buffer.byteLength(found.get('duration_ms') ?? '') > pingBodyBytes) return undefined;
  const members = objectIn(`{${short.map(([name, value]) => `"${name}":${value.trim()}`).join(',')}}`);
  return members === undefined ? undefined : { members, isPayloadTooLarge };
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed = parseJson(text, { maxDepth });
    return isObject(parsed) ? parsed : undefined;
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
