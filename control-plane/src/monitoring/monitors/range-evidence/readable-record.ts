/**
 * What was kept of a check or a look at a target, as the API answers it: durations are in milliseconds. Agents send some of them in microseconds, and
 * rows of older versions hold them so. Null for what is no object.
 */
export function readableRecord(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? readableFields(value) : null;
}

function readableFields(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]: [string, unknown]) =>
      isMicroseconds(name) && typeof value === 'number'
        ? [inMilliseconds(name), value / 1_000]
        : [name, readableValue(value)],
    ),
  );
}

function readableValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(readableValue);
  return typeof value === 'object' && value !== null ? readableFields(value) : value;
}

type Difference = { readonly field: string; readonly a: string | number | null; readonly b: string | number | null };

/** A difference of two looks at a target in the same form. */
export function readableDifference({ field, a, b }: Difference): Difference {
  if (!isMicroseconds(field)) return { field, a, b };
  const milliseconds = (value: Difference['a']) => (typeof value === 'number' ? value / 1_000 : value);
  return { field: inMilliseconds(field), a: milliseconds(a), b: milliseconds(b) };
}

const isMicroseconds = (name: string): boolean => name.endsWith('_us');
const inMilliseconds = (name: string): string => name.replace(/_us$/, '_ms');
