import { invalidInput, Problem } from '@parallax/api-contract';
import type { InputError, InputPath } from '@parallax/api-contract';

/** A value with the place of the request at which it stands. */
export type Named<Value> = { readonly value: Value; readonly in: 'body' | 'query'; readonly path: InputPath };

/**
 * What a request names in its body and in repeated query parameters, in this order, each once.
 * @param field its name in both
 */
export function namedIn<Value extends string | number>(
  field: string,
  body: readonly Value[] | undefined,
  query?: Value | readonly Value[],
): Named<Value>[] {
  const given: Named<Value>[] = [
    ...(body ?? []).map((value, index) => ({ value, in: 'body' as const, path: `/${field}/${index}` as const })),
    ...listed(query).map((value) => ({ value, in: 'query' as const, path: `/${field}` as const })),
  ];
  const first = new Map<Value, Named<Value>>();
  for (const named of given) if (!first.has(named.value)) first.set(named.value, named);
  return [...first.values()];
}

function listed<Value extends string | number>(query: Value | readonly Value[] | undefined): readonly Value[] {
  if (query === undefined) return [];
  return typeof query === 'object' ? query : [query];
}

/**
 * The same for a request that must name something.
 * @throws Problem `invalid_input` when it names nothing
 */
export function somethingNamedIn<Value extends string | number>(
  field: string,
  body: readonly Value[] | undefined,
  query: Value | readonly Value[] | undefined,
): Named<Value>[] {
  const named = namedIn(field, body, query);
  if (named.length > 0) return named;
  throw invalidInput('body', `/${field}`, 'required', `name at least one in the body or as ?${field}=`);
}

/**
 * Judges which of the named monitors are there.
 * @param present those that were found in the workspace
 * @throws Problem `not_found` that names each other one by its place
 */
export function requireAll(workspaceId: number, named: readonly Named<number>[], present: readonly number[]): void {
  const found = new Set(present);
  const errors: InputError[] = named.flatMap(({ value, ...place }) =>
    found.has(value)
      ? []
      : [{ ...place, code: 'not_found', message: `there is no monitor ${value} in workspace ${workspaceId}` }],
  );
  const [first] = errors;
  if (first === undefined) return;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  throw new Problem('not_found', `${first.message}${more}`, { errors: errors.slice(0, 100) });
}
