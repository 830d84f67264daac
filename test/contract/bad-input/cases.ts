import type { RouteContract } from '@parallax/api-contract';
import { describe, variantsOf } from './schema.ts';
import type { Schema } from './schema.ts';
import { sampleOf, spoil, withValue } from './values.ts';
import type { Known, Path } from './values.ts';

/** A request that is wrong in one place. */
export type BadCase = {
  readonly name: string;
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /** `errors[].path` of the answer begins with it; absent: only a refusal is expected. */
  readonly path?: string;
  /** Which answers are right. */
  readonly statuses: readonly number[];
};

const json = { 'content-type': 'application/json' };

/**
 * Every request of a route that its contract refuses for one field: other types, bounds, unknown fields, in bodies, queries and paths. What a
 * contract takes, such as null where it clears, is no case; so a new field is tried from the moment that it is in the contract.
 * @param target the path with valid parameters
 */
export function badCases(contract: RouteContract, target: string, known: Known): readonly BadCase[] {
  const common = { method: contract.method, headers: {} };
  const route = `${contract.method} ${contract.path}`;
  return [
    ...bodyCases(contract, known).map(({ what, body, path, statuses }) => ({
      ...common,
      name: `${route}: ${what}`,
      target,
      headers: json,
      body,
      statuses: statuses ?? [422],
      ...(path === undefined ? {} : { path }),
    })),
    ...queryCases(contract).map(({ query, path }) => ({
      ...common,
      name: `${route}: ?${query.slice(0, 80)}`,
      target: `${target}?${query}`,
      statuses: [422],
      path,
      ...(contract.method === 'GET' || contract.body === undefined
        ? {}
        : { headers: json, body: JSON.stringify(sample(contract, known)) }),
    })),
    ...pathCases(contract).map(({ part, place, name }) => ({
      ...common,
      name: `${route}: path ${part}`,
      target: place,
      statuses: [422],
      path: `/${name}`,
      ...(contract.body === undefined ? {} : { headers: json, body: JSON.stringify(sample(contract, known)) }),
    })),
  ];
}

type BodyCase = {
  readonly what: string;
  readonly body: string;
  readonly path?: string | undefined;
  readonly statuses?: readonly number[];
};

/** Below so many levels of a body a rule over several fields may name a neighbour, such as the word that tells two forms apart. */
const mostNamed = 3;

function bodyCases(contract: RouteContract, known: Known): readonly BodyCase[] {
  const type = contract.body;
  if (type === undefined) return [];
  const cases: BodyCase[] = [];
  for (const variant of variantsOf(describe(type))) {
    const valid = sampleOf(variant, known);
    for (const { path, at, what, value } of spoil(variant, [], known)) {
      const body = withValue(valid, at, value);
      if (type.safeParse(body).success) continue;
      cases.push({
        what: `${pointer(path)} ${what}`,
        body: JSON.stringify(body),
        path: path.length === 0 ? undefined : pointer(path.slice(0, mostNamed)),
      });
    }
    cases.push(...absent(type, variant, valid), ...texts(variant, valid));
  }
  return cases;
}

function absent(type: NonNullable<RouteContract['body']>, variant: Schema, valid: unknown): readonly BodyCase[] {
  return (variant.required ?? []).flatMap((name) => {
    const { [name]: _left, ...body } = valid as Record<string, unknown>;
    return type.safeParse(body).success
      ? []
      : [{ what: `without ${name}`, body: JSON.stringify(body), path: `/${name}` }];
  });
}

/** What is wrong as JSON, whatever it says. */
function texts(variant: Schema, valid: unknown): readonly BodyCase[] {
  const names = Object.keys(variant.properties ?? {});
  const inner = JSON.stringify(valid).slice(1, -1);
  const more = inner === '' ? '' : `,${inner}`;
  const deep = `${'['.repeat(200)}${']'.repeat(200)}`;
  const statuses = [422];
  return [
    ...names.map((name) => ({
      what: `${name} twice`,
      body: `{"${name}":1,"${name}":1}`,
      path: `/${name}`,
      statuses,
    })),
    { what: 'nested too deeply', body: `{"no_such_field":${deep}${more}}`, statuses },
    { what: 'cut off', body: `{"no_such_field":`, statuses },
    { what: 'more behind it', body: `{${inner}}{}`, statuses },
    { what: 'a prototype', body: `{"__proto__":{"is_active":true}${more}}`, statuses },
    { what: 'too large', body: `{"no_such_field":"${'a'.repeat(9 * 1_024 * 1_024)}"}`, statuses: [413] },
  ];
}

function queryCases(contract: RouteContract): readonly { readonly query: string; readonly path: string }[] {
  const type = contract.query;
  if (type === undefined) return [];
  const values = [
    '',
    'no-such-word',
    '-1',
    '0',
    '1.5',
    '1e3',
    '0x10',
    '9999999999',
    'NaN',
    '2026-02-30T00:00:00Z',
    '\0',
    'a'.repeat(1_000),
  ];
  return Object.keys(describe(type).properties ?? {}).flatMap((name) => {
    const single = values.map((value) => [value, `${name}=${encodeURIComponent(value)}`] as const);
    const pair = [[['1', '2'], `${name}=1&${name}=2`] as const];
    return [...single, ...pair].flatMap(([value, query]) => {
      const parsed = type.safeParse({ [name]: value });
      const isThis = !parsed.success && parsed.error.issues.some(({ path }) => path[0] === name);
      return isThis ? [{ query, path: `/${name}` }] : [];
    });
  });
}

function pathCases({ path, params }: RouteContract) {
  const names = (path.match(/:[a-z_]+/g) ?? []).map((name) => name.slice(1));
  const parts = ['0', '-1', '1.5', 'a', '2147483648', '1e3', '9'.repeat(30), "1'"];
  return names.flatMap((name) =>
    parts
      .filter((part) => {
        const parsed = params?.safeParse(Object.fromEntries(names.map((each) => [each, each === name ? part : '1'])));
        return parsed?.success === false;
      })
      .map((part) => ({ part, name, place: path.replace(`:${name}`, part).replaceAll(/:[a-z_]+/g, '1') })),
  );
}

function sample(contract: RouteContract, known: Known): unknown {
  return contract.body === undefined ? undefined : sampleOf(describe(contract.body), known);
}

/** JSON pointer (RFC 6901). */
export function pointer(path: Path): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
