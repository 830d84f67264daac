import { variantsOf } from './schema.ts';
import type { Schema } from './schema.ts';

/** A path of keys and indices into a body. */
export type Path = readonly (string | number)[];

/** Something wrong at a path; `value` is for the place `at`, which is the path or the list around it. */
export type Spoiled = { readonly path: Path; readonly at: Path; readonly what: string; readonly value: unknown };

/** Known names whose values must mean something where the body is to be valid but for one field. */
export type Known = Readonly<Record<string, unknown>>;

/** A small value that fits a schema. */
export function sampleOf(schema: Schema, known: Known, name = ''): unknown {
  if (Object.hasOwn(known, name)) return known[name];
  const [first = {}] = variantsOf(schema);
  if (first.const !== undefined) return first.const;
  if (first.enum !== undefined) return first.enum[0];
  switch (first.type) {
    case 'object': {
      // A target is optional in the schema and not in fact: one protocol of all has none.
      const target = Object.hasOwn(first.properties ?? {}, 'url') && Object.hasOwn(known, 'url') ? ['url'] : [];
      const keys = new Set([...(first.required ?? []), ...target]);
      return Object.fromEntries(
        [...keys].map((key) => [key, sampleOf(first.properties?.[key] ?? {}, known, key)] as const),
      );
    }
    case 'array':
      return Array.from({ length: first.minItems ?? 0 }, () => sampleOf(first.items ?? {}, known));
    case 'integer':
    case 'number':
      return first.minimum ?? 1;
    case 'boolean':
      return true;
    case 'string':
      if (first.format === 'date-time') return '2026-01-01T00:00:00.000Z';
      return 'a'.repeat(Math.max(1, first.minLength ?? 1));
    case undefined:
    default:
      return {};
  }
}

const ofOtherTypes: readonly (readonly [string, unknown])[] = [
  ['a text', 'text'],
  ['a number', 7],
  ['a fraction', 1.5],
  ['a truth', true],
  ['an object', { a: 1 }],
  ['a list', [[]]],
  ['null', null],
];

/** Values for a place and everything below it that some schema would refuse; which of them this one takes is for the contract to say. */
export function spoil(schema: Schema, path: Path, known: Known): readonly Spoiled[] {
  const here = (what: string, value: unknown): Spoiled => ({ path, at: path, what, value });
  return [
    ...ofOtherTypes.map(([what, value]) => here(what, value)),
    ...variantsOf(schema).flatMap((variant) => [
      ...outOfBounds(variant).map(([what, value]) => here(what, value)),
      ...below(variant, path, known),
    ]),
  ];
}

function outOfBounds(schema: Schema): readonly (readonly [string, unknown])[] {
  if (schema.type === 'string') {
    const most = schema.maxLength;
    return [
      ['an empty text', ''],
      ['a text of NUL', 'a\0b'],
      ['half a character', '\ud800'],
      ['a control character', 'a\u0007'],
      ...(schema.enum === undefined ? [] : ([['none of the words', 'no-such-word']] as const)),
      ...(most === undefined || most > 100_000 ? [] : ([['a long text', 'a'.repeat(most + 1)]] as const)),
    ];
  }
  if (schema.type === 'integer' || schema.type === 'number') {
    return [
      ['below', (schema.minimum ?? 0) - 1],
      ['above', (schema.maximum ?? 2_147_483_647) + 1],
      ['huge', 1e300],
      ['digits', '7'],
    ];
  }
  return [];
}

function below(schema: Schema, path: Path, known: Known): readonly Spoiled[] {
  if (schema.type === 'array') {
    const item = sampleOf(schema.items ?? {}, known);
    const most = schema.maxItems;
    const here = (what: string, value: unknown): Spoiled => ({ path, at: path, what, value });
    return [
      ...(most === undefined || most > 2_000
        ? []
        : [
            here(
              'too many',
              Array.from({ length: most + 1 }, (_, index) => numbered(item, index)),
            ),
          ]),
      ...((schema.minItems ?? 0) > 0 ? [here('too few', [])] : []),
      here('twice the same', [item, item]),
      // The second, so that an answer that names the first by chance is seen.
      ...spoil(schema.items ?? {}, [], known).map((inner) => ({
        path: [...path, 1, ...inner.path],
        at: path,
        what: inner.what,
        value: [item, withValue(item, inner.at, inner.value)],
      })),
    ];
  }
  if (schema.type !== 'object') return [];
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    spoil(field, [...path, name], known),
  );
  const isClosed = schema.additionalProperties === false;
  return isClosed
    ? [
        ...fields,
        { path: [...path, 'no_such_field'], at: [...path, 'no_such_field'], what: 'an unknown field', value: 1 },
      ]
    : fields;
}

function numbered(item: unknown, index: number): unknown {
  if (typeof item === 'number') return index + 1;
  return typeof item === 'string' ? `a${index}` : item;
}

/** A body with a value at a path of keys. */
export function withValue(body: unknown, path: Path, value: unknown): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return value;
  const object = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  return { ...object, [first]: withValue(object[first], rest, value) };
}
