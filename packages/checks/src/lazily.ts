/**
 * A function that makes its value when it is first asked for, and gives the same one from then on. Settings are made this way: their schemas
 * take memory and time, and a probe needs those of a few types only.
 */
export function lazily<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** A copy of a value with other properties. Does not ask for what the value makes only when it is asked for, as a spread would. */
export function changed<const Value extends object, const Changes extends object>(
  value: Value,
  changes: Changes,
): Omit<Value, keyof Changes> & Changes {
  const all = { ...Object.getOwnPropertyDescriptors(value), ...Object.getOwnPropertyDescriptors(changes) };
  return Object.defineProperties({}, all) as Omit<Value, keyof Changes> & Changes;
}
