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

/** @param before undefined for something new */
export function differencesOf(prefix: string, before: Fields | undefined, changed: Fields): readonly Difference[] {
  return Object.entries(changed).map(([name, after]) => ({ field: prefix + name, before: before?.[name], after }));
}

/** Every field in which two states of the same thing differ. */
export function differencesBetween(prefix: string, before: Fields, after: Fields): readonly Difference[] {
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  const whole = { ...after, ...Object.fromEntries(gone.map((name) => [name, null] as const)) };
  return differencesOf(prefix, before, changedFields(before, whole));
}
