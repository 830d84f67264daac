import type { RouteContract } from '@parallax/api-contract';
import { z } from 'zod';

export type HostileKind = 'path' | 'query' | 'odd query' | 'body' | 'field' | 'headers';

/** A request that a contract may refuse or take, but that must never be our fault. */
export type HostileRequest = {
  readonly name: string;
  /** What is hostile in it. */
  readonly kind: HostileKind;
  /** What of the route is tried, such as a parameter; empty where it is the whole body or a header. */
  readonly place: string;
  /** Number of the hostile part among those of its kind, the same for every route and place. */
  readonly part: number;
  readonly method: string;
  /** With query, percent-encoded where it is meant to be. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

const texts = [
  '',
  '0',
  '-1',
  '1.5',
  '1e3',
  '0x10',
  'NaN',
  'null',
  'true',
  '2147483648',
  '9007199254740993',
  '99999999999999999999999',
  "' or 1=1; --",
  '../../etc/passwd',
  '%',
  '_%\\',
  '💥',
  '\u202e\u0007',
  'a'.repeat(250),
  '2026-02-30T00:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  '0000-01-01T00:00:00Z',
];
const rawParts = ['%00', '%ff', '%', '%zz', '%c0%80', 'a%2fb', '%ed%a0%80'];

const bodies = [
  '',
  ' ',
  'null',
  '{}',
  '[]',
  '0',
  '"text"',
  'true',
  '{',
  '{"a":1,"a":2}',
  '{"__proto__":{"x":1}}',
  '{"constructor":{"prototype":{"x":1}}}',
  '["\\u0000"]',
  '["\\ud800"]',
  `${'['.repeat(40)}${']'.repeat(40)}`,
  `{"x":"${'a'.repeat(200_000)}"}`,
  `[${'0,'.repeat(50_000)}0]`,
];

const values: readonly unknown[] = [
  null,
  true,
  -1,
  0,
  1.5,
  2_147_483_648,
  9_007_199_254_740_992,
  1e300,
  -0,
  {},
  [],
  [[]],
  [null],
  { length: 1e9 },
  { toString: 1, valueOf: 1 },
  Array.from({ length: 2_000 }, (_, index) => index),
  ...texts,
  'a'.repeat(20_000),
];

/**
 * Hostile requests for a route, made from its contract: every path and query parameter and every field of the body with values
 * out of bounds and of other types, broken JSON, odd headers.
 * @param valid a body that the route would take, whose fields are then spoiled one by one
 */
export function hostileRequests(
  contract: RouteContract,
  valid: Readonly<Record<string, unknown>> = {},
): readonly HostileRequest[] {
  const name = `${contract.method} ${contract.path}`;
  const plainPath = contract.path.replaceAll(/:[a-z_]+/g, '1');
  const request = (
    { kind, place = '', part }: Hostile,
    what: string,
    target: string,
    more: Partial<HostileRequest> = {},
  ): HostileRequest => ({
    name: `${name}: ${what}`,
    kind,
    place,
    part,
    method: contract.method,
    target,
    headers: {},
    ...more,
  });
  const json = { 'content-type': 'application/json' };
  const takesBody = contract.method !== 'GET';
  return [
    ...pathTargets(contract.path).map((each) => request(each, `path ${each.text}`, each.text)),
    ...queryTargets(contract.query).map((each) => request(each, `query ${each.text}`, `${plainPath}?${each.text}`)),
    ...(takesBody ? [...wholeBodies, ...spoiled(contract.body, valid)] : []).map((each) =>
      request(each, `body ${each.place ?? ''} ${each.text.slice(0, 120)}`, plainPath, {
        headers: json,
        body: each.text,
      }),
    ),
    ...oddHeaders.map((headers, part) =>
      request(
        { kind: 'headers', part },
        `headers ${JSON.stringify(headers)}`.slice(0, 100),
        plainPath,
        takesBody ? { headers, body: JSON.stringify(valid) } : { headers },
      ),
    ),
  ];
}

type Hostile = { readonly kind: HostileKind; readonly place?: string; readonly part: number };
/** A hostile part in its place: a path, a query or a body. */
type HostileText = Hostile & { readonly text: string };

const wholeBodies: readonly HostileText[] = bodies.map((text, part) => ({ kind: 'body', part, text }));

const oddHeaders: readonly Record<string, string>[] = [
  { 'content-type': 'text/xml' },
  { 'content-type': 'application/json; charset=latin1' },
  { 'content-type': 'application/json', 'content-encoding': 'br' },
  { 'content-type': 'application/json', 'if-match': '"x", W/"1", *' },
  { 'content-type': 'application/json', 'idempotency-key': 'ä'.repeat(300) },
  { 'content-type': 'application/json', 'x-forwarded-for': "' or 1=1, ::::, 999.1.1.1" },
  { 'content-type': 'application/json', 'user-agent': 'ÿ'.repeat(2_000) },
  { 'content-type': 'application/json', accept: 'image/png', 'accept-encoding': 'x' },
];

function pathTargets(path: string): readonly HostileText[] {
  const parameters = path.match(/:[a-z_]+/g) ?? [];
  return parameters.flatMap((place) =>
    [...texts.filter((text) => text !== '').map(encodeURIComponent), ...rawParts].map((value, part) => ({
      kind: 'path',
      place,
      part,
      text: path.replace(place, () => value).replaceAll(/:[a-z_]+/g, '1'),
    })),
  );
}

function queryTargets(query: z.ZodType | undefined): readonly HostileText[] {
  const names = query === undefined ? ['page'] : fieldsOf(query);
  const odd = ['__proto__=1', '__proto__[x]=1&constructor.prototype=1', '&&==&'];
  return [
    ...odd.map((text, part) => ({ kind: 'odd query' as const, part, text })),
    ...names.flatMap((place) =>
      [
        ...texts.map((text) => `${place}=${encodeURIComponent(text)}`),
        ...rawParts.map((part) => `${place}=${part}`),
        `${place}=1&${place}=2`,
        `${place}[]=1`,
        place,
      ].map((text, part) => ({ kind: 'query' as const, place, part, text })),
    ),
  ];
}

function spoiled(body: z.ZodType | undefined, valid: Readonly<Record<string, unknown>>): readonly HostileText[] {
  if (body === undefined) return [];
  return fieldsOf(body).flatMap((place) => {
    const { [place]: _left, ...without } = valid;
    return [without, ...values.map((value) => ({ ...valid, [place]: value }))].map((spoilt, part) => ({
      kind: 'field' as const,
      place,
      part,
      text: JSON.stringify(spoilt),
    }));
  });
}

/** Names of the fields of an object schema, also below wrappers and in any of a union. */
function fieldsOf(schema: z.ZodType): readonly string[] {
  const described = z.toJSONSchema(z.object({ it: schema }), {
    io: 'input',
    unrepresentable: 'any',
  }) as unknown as Described;
  const names = new Set<string>();
  const visit = (node: Described | undefined): void => {
    if (node === undefined) return;
    if (node.$ref !== undefined) visit(described.$defs?.[node.$ref.split('/').at(-1) ?? '']);
    for (const name of Object.keys(node.properties ?? {})) names.add(name);
    for (const part of [...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])]) visit(part);
  };
  visit(described.properties?.['it']);
  return [...names];
}

type Described = {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Described>>;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly anyOf?: readonly Described[];
  readonly oneOf?: readonly Described[];
  readonly allOf?: readonly Described[];
};
