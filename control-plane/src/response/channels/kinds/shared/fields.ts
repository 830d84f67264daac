import type { Delivered, IncomingResponse } from '../../channel.ts';

/** A field of an answer's body by its path; undefined where there is none. Nothing of what strangers answer is trusted to have a form. */
export function fieldOf(answer: IncomingResponse, ...path: readonly (string | number)[]): unknown {
  let value: unknown = answer.json;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

/** The service's own name of a message: 1 to 200 printable ASCII characters, or a whole number; else none. */
export function referenceOf(value: unknown): Delivered {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return { reference: String(value) };
  if (typeof value === 'string' && /^[!-~]{1,200}$/.test(value)) return { reference: value };
  return {};
}
