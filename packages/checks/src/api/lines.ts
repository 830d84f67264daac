import { type ErrorCode, errorCodes } from '../outcome.ts';

/** What is kept of one step. */
export type StepLine = {
  /** From 1. */
  readonly number: number;
  readonly name: string;
  readonly result: 'ok' | 'warn' | 'slow' | 'failed' | 'skipped';
  readonly status?: number | undefined;
  readonly ms?: number | undefined;
  readonly code?: ErrorCode | undefined;
  readonly message?: string | undefined;
};

const longest = 500;
const form =
  /^(ok|warn|slow|failed|skipped)(?: (\d{3}))?(?: in (\d+(?:\.\d+)?) ms)?(?: \[([a-z_0-9]+)\])? "([^"]*)"(?:: ([^]*))?$/;

/** The fact that says which step failed, by its number: the gravest, of those the first. */
export const failedStep = 'failed_step';

/** The name of a step's line among the facts of the evidence. */
export function lineName(number: number): string {
  return `step_${number}`;
}

/** A step in one line of at most 500 characters, such as `failed 500 in 12.3 ms [http_status] "login": The server …`. */
export function writeLine({ name, result, status, ms, code, message }: StepLine): string {
  const parts = [
    result,
    ...(status === undefined ? [] : [` ${status}`]),
    ...(ms === undefined ? [] : [` in ${Math.round(ms * 1000) / 1000} ms`]),
    ...(code === undefined ? [] : [` [${code}]`]),
    ` "${name.replaceAll('"', "'")}"`,
    ...(message === undefined ? [] : [`: ${message}`]),
  ];
  return parts.join('').slice(0, longest);
}

/** The steps that the facts of an evidence tell of, in their order. What does not look like a line is passed over. */
export function readLines(details: Readonly<Record<string, unknown>>): readonly StepLine[] {
  const lines: StepLine[] = [];
  for (let number = 1; ; number += 1) {
    const text = details[lineName(number)];
    if (typeof text !== 'string') return lines;
    const match = form.exec(text);
    if (match === null) continue;
    const [, result, status, ms, code, name = '', message] = match;
    lines.push({
      number,
      name,
      result: result as StepLine['result'],
      ...(status !== undefined && { status: Number(status) }),
      ...(ms !== undefined && { ms: Number(ms) }),
      ...(code !== undefined && Object.hasOwn(errorCodes, code) && { code: code as ErrorCode }),
      ...(message !== undefined && { message }),
    });
  }
}
