import { parsePath, valueAt } from '../assertions/json-path.ts';
import { firstMatch } from '../http/keyword.ts';
import type { CookieJar } from './cookies.ts';
import type { Extraction } from './settings.ts';
import type { Value } from './templates.ts';

/** What a step was answered. */
export type Answer = {
  readonly url: URL;
  readonly status: number;
  readonly headers: ReadonlyArray<readonly [string, string]>;
  /** Undefined where it could not be decoded. */
  readonly body: string | undefined;
  readonly bodyTruncated: boolean;
};

/** Longest value that is taken out of an answer, in characters. */
const maxValue = 8192;

/** The value of an extraction, its default where the answer has none; else a sentence about what is missing. */
export function extract(
  { from, path = '', default: fallback, name }: Extraction,
  answer: Answer,
  jar: CookieJar,
): { readonly value: Value } | { readonly problem: string } {
  const found = valueIn(from, path, answer, jar);
  if (found !== undefined && String(found).length > maxValue)
    return { problem: `What is to be ${name} has more than ${maxValue} characters.` };
  const value = found ?? fallback;
  if (value !== undefined) return { value };
  const cut = answer.bodyTruncated && (from === 'json' || from === 'regex') ? ' of the first 1 MiB' : '';
  const what = { json: 'body as JSON', header: 'headers', cookie: 'cookies', status: 'status', regex: 'body' }[from];
  return { problem: `Nothing in the ${what}${cut} is ${path.slice(0, 100)}, which is to be ${name}.` };
}

function valueIn(from: Extraction['from'], path: string, answer: Answer, jar: CookieJar): Value | undefined {
  switch (from) {
    case 'status':
      return answer.status;
    case 'header':
      return answer.headers.findLast(([name]) => name.toLowerCase() === path.toLowerCase())?.[1];
    case 'cookie':
      return jar.valueOf(answer.url, path);
    case 'regex':
      return answer.body === undefined ? undefined : firstMatch(path, answer.body);
    case 'json':
      return jsonValue(path, answer);
  }
}

/** A text, number or boolean as it is; lists and objects as JSON; null counts as nothing. */
function jsonValue(path: string, { body, bodyTruncated }: Answer): Value | undefined {
  const steps = parsePath(path);
  if (body === undefined || bodyTruncated || typeof steps === 'string') return undefined;
  let document: unknown;
  try {
    document = JSON.parse(body.replace(/^\ufeff/, ''));
  } catch {
    return undefined;
  }
  const value = valueAt(document, steps);
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return JSON.stringify(value);
}
