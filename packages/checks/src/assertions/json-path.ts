/**
 * The path language of JSON assertions, a small part of RFC 9535 that always names one value: `$` for the whole, then any of
 * `.name`, `['any name']` (or with double quotes) and `[index]` (from the end when negative); `.length()` at the end counts the
 * entries of a list or object, or the characters of a text. No wildcards, filters or expressions. At most 20 steps.
 */
export type JsonPath = { readonly steps: ReadonlyArray<string | number>; readonly counts: boolean };

const maxSteps = 20;
const step = /\.([\p{L}_$][\p{L}\p{N}_$-]*)|\[(-?\d{1,9})\]|\['([^'\\]{0,200})'\]|\["([^"\\]{0,200})"\]/uy;

/** Reads a path. Gives a sentence about what is wrong otherwise. */
export function parsePath(text: string): JsonPath | string {
  if (!text.startsWith('$')) return 'A JSON path begins with $, for example $.status or $.items[0].name.';
  const counts = text.endsWith('.length()');
  const end = counts ? text.length - '.length()'.length : text.length;
  const steps: (string | number)[] = [];
  let at = 1;
  while (at < end) {
    step.lastIndex = at;
    const match = step.exec(text);
    if (match === null || step.lastIndex > end)
      return `The JSON path cannot be read from character ${at + 1} on; steps are .name, ['name'] and [index].`;
    const [, name, index, single, double] = match;
    steps.push(index === undefined ? (name ?? single ?? double ?? '') : Number(index));
    if (steps.length > maxSteps) return `A JSON path has at most ${maxSteps} steps.`;
    at = step.lastIndex;
  }
  return { steps, counts };
}

export function pathProblem(text: string): string | undefined {
  const path = parsePath(text);
  return typeof path === 'string' ? path : undefined;
}

/** The value that a path names; undefined when there is none. Only own properties count, whatever their names. */
export function valueAt(document: unknown, path: JsonPath): unknown {
  let value = document;
  for (const key of path.steps) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (typeof key === 'number') {
      if (!Array.isArray(value)) return undefined;
      value = (value as readonly unknown[]).at(key);
    } else {
      if (Array.isArray(value) || !Object.hasOwn(value, key)) return undefined;
      value = (value as Readonly<Record<string, unknown>>)[key];
    }
  }
  return path.counts ? countOf(value) : value;
}

function countOf(value: unknown): number | undefined {
  if (typeof value === 'string') return Array.from(value).length;
  if (typeof value !== 'object' || value === null) return undefined;
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}
