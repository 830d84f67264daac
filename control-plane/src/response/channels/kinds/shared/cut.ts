import { cut as cutUnits } from '../../../messages/index.ts';

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

/** As many of the first as fit: what each takes, with one more for the comma between them, is at most `limit` together. */
export function firstThatFit<Item>(items: readonly Item[], limit: number, measure: (item: Item) => number): Item[] {
  let room = limit;
  const end = items.findIndex((item) => {
    room -= measure(item) + 1;
    return room < 0;
  });
  return items.slice(0, end < 0 ? items.length : end);
}

/** What a value takes as JSON, in UTF-8 bytes. */
export function jsonBytes(value: unknown): number {
  return bytes(JSON.stringify(value));
}
