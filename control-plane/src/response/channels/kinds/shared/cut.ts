import { cut as cutUnits } from '../../../messages/plain.ts';

/** How long a service finds a text. */
export type Measure = (text: string) => number;

/** UTF-16 code units: never fewer than the characters that any service counts. */
export const units: Measure = (text) => text.length;

/** UTF-8 bytes. */
export const bytes: Measure = (text) => Buffer.byteLength(text, 'utf8');

/**
 * The longest beginning of a text that a service finds no longer than `limit`, as `measure` finds it: `cut(text, 100, (part) => escape(part).length)`
 * cuts before escaping, so that no escape is cut. Ends by "…" where something is left out; empty where not even that has room.
 */
export function cut(text: string, limit: number, measure: Measure = units): string {
  if (measure(text) <= limit) return text;
  let [least, most] = [0, text.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (measure(cutUnits(text, middle)) <= limit) least = middle;
    else most = middle - 1;
  }
  return cutUnits(text, least);
}
