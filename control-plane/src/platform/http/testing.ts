import type { RouteContract } from '@parallax/api-contract';
import { z } from 'zod';

/** A request that a contract may refuse or take, but that must never be our fault. */
export type HostileRequest = {
  readonly name: string;
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
  const request = (what: string, target: string, more: Partial<HostileRequest> = {}): HostileRequest => ({
    name: `${name}: ${what}`,
    method: contract.method,
    target,
    headers: {},
    ...more,
  });
  const json = { 'content-type': 'application/json' };
  const takesBody = contract.method !== 'GET';
  return [
    ...pathTargets(contract.path).map((target) => request(`path ${target}`, target)),
    ...queryTargets(contract.query).map((query) => request(`query ${query}`, `${plainPath}?${query}`)),
    ...(takesBody
      ? bodies.map((body) => request(`body ${body.slice(0, 40)}`, plainPath, { headers: json, body }))
      : []),
    ...(takesBody
      ? spoiled(contract.body, valid).map((body) =>
          request(`body ${body.slice(0, 120)}`, plainPath, { headers: json, body }),
        )
      : []),
    ...oddHeaders.map((headers) =>
      request(
        `headers ${JSON.stringify(headers)}`.slice(0, 100),
        plainPath,
        takesBody ? { headers, body: JSON.stringify(valid) } : { headers },
      ),
    ),
  ];
}

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

function pathTargets(path: string): readonly string[] {
  const parameters = path.match(/:[a-z_]+/g) ?? [];
  return parameters.flatMap((parameter) =>
    [...texts.filter((text) => text !== '').map(encodeURIComponent), ...rawParts].map((part) =>
      path.replace(parameter, () => part).replaceAll(/:[a-z_]+/g, '1'),
    ),
  );
}

function queryTargets(query: z.ZodType | undefined): readonly string[] {
  const names = query === undefined ? ['page'] : fieldsOf(query);
  return [
    '__proto__=1',
    '__proto__[x]=1&constructor.prototype=1',
    '&&==&',
    ...names.flatMap((name) => [
      ...texts.map((text) => `${name}=${encodeURIComponent(text)}`),
      ...rawParts.map((part) => `${name}=${part}`),
      `${name}=1&${name}=2`,
      `${name}[]=1`,
      name,
    ]),
  ];
}

function spoiled(body: z.ZodType | undefined, valid: Readonly<Record<string, unknown>>): readonly string[] {
  if (body === undefined) return [];
  return fieldsOf(body).flatMap((field) => {
    const { [field]: _left, ...without } = valid;
    return [JSON.stringify(without), ...values.map((value) => JSON.stringify({ ...valid, [field]: value }))];
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
