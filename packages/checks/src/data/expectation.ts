import { z } from 'zod';
import { lazily } from '../lazily.ts';
import { occurs, shown } from '../http/keyword.ts';
import type { Facts } from '../facts.ts';
import { type Failure, failed } from '../net/failure.ts';
import type { Session } from '../net/session.ts';
import { valueShape } from './value-settings.ts';

/** Most rows and bytes of a result; a check looks at a value, it does not fetch a table. */
export const maxRows = 1000;
export const maxResultBytes = 1024 * 1024;
const shownCharacters = 100;
const maxFactCharacters = 4096;

/** How many rows a result may have. */
export const rowsShape = lazily(() => ({
  min_rows: z.int().min(0).max(maxRows).default(0),
  max_rows: z.int().min(0).max(maxRows).optional(),
}));

/** A statement and what its result has to be: the value is the first column of the first row. */
export const queryShape = lazily(() => ({
  query: z
    .string()
    .min(1)
    .max(4096)
    // oxlint-disable-next-line no-control-regex -- a NUL would end the statement on the wire
    .regex(/^[^\0]*$/, 'A query holds no NUL.')
    .default('SELECT 1'),
  ...valueShape(),
  ...rowsShape(),
}));

type Expectation = z.infer<z.ZodObject<ReturnType<typeof valueShape>>> &
  Partial<z.infer<z.ZodObject<ReturnType<typeof rowsShape>>>>;

/** What a query gave: the number of rows, and the first value as text; null for NULL, undefined when there is none. */
export type Result = { readonly rows: number; readonly first: string | null | undefined };

/** What is wrong with a result, or undefined. `show` takes secrets out, which comes before a value is cut: a part of one would pass. */
function judgeResult(result: Result, expected: Expectation, show: (text: string) => string): Failure | undefined {
  const { rows, first } = result;
  if (rows > maxRows) return failed('db_result_too_large', `The result has more than ${maxRows} rows.`);
  if (rows < (expected.min_rows ?? 0))
    return failed('db_wrong_result', `The result has ${rows} rows, fewer than ${expected.min_rows ?? 0}.`);
  if (expected.max_rows !== undefined && rows > expected.max_rows)
    return failed('db_wrong_result', `The result has ${rows} rows, more than ${expected.max_rows}.`);
  if (expected.expected_value !== undefined && first !== expected.expected_value)
    return failed(
      'db_wrong_result',
      `The value is ${valueText(first, show)}, expected is "${cut(expected.expected_value)}".`,
    );
  if (
    expected.expected_pattern !== undefined &&
    (typeof first !== 'string' || !occurs(expected.expected_pattern, first))
  )
    return failed(
      'db_wrong_result',
      `The value ${valueText(first, show)} does not match ${shown(expected.expected_pattern)}.`,
    );
  return undefined;
}

/** Gives the result to assertions and ends the conversation when it is not as expected. */
export function settle(session: Session, result: Result, expected: Expectation): void {
  session.context.trace?.('query', `${result.rows} rows`);
  session.facts = factsOf(result, session.noted('server_version'));
  const wrong = judgeResult(result, expected, session.show);
  if (wrong !== undefined) session.note('rows', result.rows);
  session.demand(wrong);
}

/** The result as assertions see it: the first value as the answer, the number of rows among the details. */
function factsOf(result: Result, version: string | number | boolean | undefined): Facts {
  return {
    ...(typeof result.first === 'string' && { answers: [result.first.slice(0, maxFactCharacters)] }),
    ...(typeof version === 'string' && { version }),
    details: { rows: result.rows },
  };
}

/** Whether the first value is asked about at all. */
export function asksForValue(expected: Expectation): boolean {
  return expected.expected_value !== undefined || expected.expected_pattern !== undefined;
}

function valueText(value: string | null | undefined, show: (text: string) => string): string {
  if (value === undefined) return 'missing';
  return value === null ? 'NULL' : `"${cut(show(value))}"`;
}

function cut(text: string): string {
  // oxlint-disable-next-line no-control-regex -- a value may hold any of them
  const line = text.slice(0, shownCharacters).replace(/[\0-\x1f\x7f]+/g, ' ');
  return text.length > shownCharacters ? `${line}…` : line;
}
