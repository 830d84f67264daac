import { sameJson } from '../../monitors/index.ts';

type Fields = Readonly<Record<string, unknown>>;

/** One field of a change. Of a secret only what becomes of it is known here, so it cannot be printed. */
export type Difference =
  | { readonly field: string; readonly before: unknown; readonly after: unknown }
  | { readonly field: string; readonly secret: 'set' | 'replaced' | 'dropped' };

/** Fields of `after` that differ from `before`; what `after` does not name is left as it is. */
export function changedFields(before: Fields, after: Fields): Fields {
  const changed = Object.entries(after).filter(
    ([name, value]) => value !== undefined && !sameJson(before[name] ?? null, value ?? null),
  );
  return Object.fromEntries(changed);
}

/**
 * The differences that people are shown: of maps, and of lists of maps, only what differs inside of them.
 * @param before undefined for something new
 */
export function differencesOf(prefix: string, before: Fields | undefined, changed: Fields): readonly Difference[] {
  return Object.entries(changed).flatMap(([name, after]) => inside(prefix + name, before?.[name], after));
}

/** Beyond so many the whole is easier to read. */
const mostInside = 20;

function inside(field: string, before: unknown, after: unknown): readonly Difference[] {
  const found = leaves(field, before, after);
  return found.length > mostInside ? [{ field, before, after }] : found;
}

function leaves(field: string, before: unknown, after: unknown): readonly Difference[] {
  if (isRecord(before) && isRecord(after)) {
    const names = [...new Set([...Object.keys(after), ...Object.keys(before)])];
    return names.flatMap((name) => differing(`${field}.${name}`, before[name], after[name]));
  }
  if (areRecords(before) && areRecords(after)) {
    const places = Array.from({ length: Math.max(before.length, after.length) }, (_, place) => place);
    return places.flatMap((place) => differing(`${field}[${place}]`, before[place], after[place]));
  }
  return [{ field, before, after }];
}

function differing(field: string, before: unknown, after: unknown): readonly Difference[] {
  return sameJson(before ?? null, after ?? null) ? [] : leaves(field, before ?? null, after ?? null);
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function areRecords(value: unknown): value is readonly Fields[] {
  return Array.isArray(value) && value.length > 0 && value.every(isRecord);
}

/** Every field in which two states of the same thing differ. */
export function differencesBetween(prefix: string, before: Fields, after: Fields): readonly Difference[] {
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  const whole = { ...after, ...Object.fromEntries(gone.map((name) => [name, null] as const)) };
  return differencesOf(prefix, before, changedFields(before, whole));
}
