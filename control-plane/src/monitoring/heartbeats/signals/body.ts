import { Problem } from '@parallax/api-contract';
import { parseJson } from '../../../platform/http/json-text.ts';
import type { Warning } from './signal.ts';

/** The beginning of a body as it came. */
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
 * Reads a body. It is kept as text whatever it is, and what cannot be stored is replaced; `duration_ms` and `payload` are taken from a JSON object, also
 * where the client does not say that it is one, as curl does not. What is wrong is a warning: the signal counts.
 */
export function readBody(given: GivenBody | undefined): ReadBody {
  if (given === undefined || given.bytes.length === 0) return nothing;
  const warnings: Warning[] = given.isCut ? ['body_truncated'] : [];
  const decoded = new TextDecoder('utf-8', { ignoreBOM: false }).decode(given.bytes, { stream: given.isCut });
  // PostgreSQL stores no NUL.
  const text = decoded.replaceAll('\u0000', '\uFFFD');
  if (text.includes('\uFFFD')) warnings.push('body_not_text');
  const mayBeObject = /^\s*\{/.test(text);
  if (!mayBeObject && !given.isJson) return { ...nothing, text, isCut: given.isCut, warnings };
  const parsed = given.isCut ? undefined : objectIn(text);
  if (parsed === undefined) {
    if (given.isJson) warnings.push('body_not_json');
    return { ...nothing, text, isCut: given.isCut, warnings };
  }
  const { duration_ms: duration, payload } = parsed;
  const isDuration =
    typeof duration === 'number' && Number.isFinite(duration) && duration >= 0 && duration <= mostDurationMs;
  if (duration != null && !isDuration) warnings.push('duration_ignored');
  const isPayload = isObject(payload);
  if (payload != null && !isPayload) warnings.push('payload_ignored');
  return {
    text,
    isCut: given.isCut,
    durationMs: isDuration ? Math.round(duration) : null,
    payload: isPayload ? payload : null,
    warnings,
  };
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
