import { processorMs } from '@parallax/testkit/time-taken';
import t from 'tap';
import { z } from 'zod';
import { probeCapabilities } from './check.ts';
import { checkTypeOf, checkTypes, isProtocol, protocols, secretFieldsOf, settingsSchema } from './registry.ts';

void t.test('every check type is registered as what it is', async (t) => {
  for (const [protocol, checkType] of Object.entries(checkTypes)) {
    t.ok(isProtocol(protocol));
    if (!isProtocol(protocol)) continue;
    t.equal(checkType.type, protocol, 'the type is named as it is registered');
    t.equal(checkTypeOf(protocol), checkType);
    t.match(checkType.summary, /^.{10,80}$/);
    const fields = Object.keys(shapeOf(settingsSchema(protocol)).properties ?? {});
    for (const field of secretFieldsOf(protocol)) t.ok(fields.includes(field), `${field} is a setting`);
    for (const need of checkType.requires) t.ok(probeCapabilities.includes(need));
    const empty = settingsSchema(protocol).parse({});
    t.type(checkTypeOf(protocol).validateTarget({ url: '' }, empty), 'string', 'nothing is no target');
    t.type(checkTypeOf(protocol).validateTarget({ url: 'a b\0c' }, empty), 'string');
  }
  for (const text of ['constructor', '__proto__', 'toString', 'HTTP', '']) t.equal(isProtocol(text), false, text);
});

void t.test('settings have defaults, are read again as they were, and unknown ones are refused', async (t) => {
  for (const protocol of protocols) {
    const schema = settingsSchema(protocol);
    const empty = schema.parse({});
    t.same(schema.parse(empty), empty, `${protocol}: what was read can be read again`);
    t.equal(schema.safeParse({ no_such_setting: 1 }).success, false, `${protocol}: unknown settings are refused`);
    for (const io of ['input', 'output'] as const) t.match(z.toJSONSchema(schema, { io }), { type: 'object' });
    for (const other of [null, 1, 'text', [], [1]]) t.equal(schema.safeParse(other).success, false);
    const { properties = {} } = shapeOf(schema);
    for (const [name, field] of Object.entries(properties)) {
      if (field.default === undefined) continue;
      t.same((empty as Record<string, unknown>)[name], field.default, `${protocol}: the default of ${name} is told`);
    }
  }
});

/** The part of a JSON schema that bounds are read from. */
type Shape = {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly pattern?: string;
  readonly allOf?: readonly Shape[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
};

function shapeOf(schema: z.ZodType): Shape {
  return z.toJSONSchema(schema, { io: 'input' }) as Shape;
}

/** Texts that are repeated to a length, with what some settings want at their beginning. */
const fillings: ReadonlyArray<readonly [string, string]> = [
  ['', 'a'],
  ['', '1'],
  ['', 'abcd1234.'],
  ['', 'a.'],
  ['a.b.', 'c'],
  ['-----BEGIN CERTIFICATE-----\n', 'a'],
  ['-----BEGIN PRIVATE KEY-----\n', 'a'],
  ['https://a.test/', 'a'],
  ['/', 'a'],
];

/** Values of a kind, of which one at least has to be good. */
function textsOf(length: number): readonly string[] {
  return fillings
    .filter(([front]) => front.length <= length)
    .map(([front, piece]) => front + piece.repeat(length).slice(0, length - front.length));
}

type Bound = { readonly what: string; readonly good: readonly unknown[]; readonly bad: readonly unknown[] };

function isBounded(bound: number | undefined): boolean {
  return bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER;
}

/** Each bound of a setting: values that lie at it and values that lie beyond it. */
function boundsOf(shape: Shape): readonly Bound[] {
  const bounds: Bound[] = [];
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = shape;
  const step = shape.type === 'integer' ? 1 : 0.001;
  if (minimum !== undefined && isBounded(minimum))
    bounds.push({ what: `at least ${minimum}`, good: [minimum], bad: [minimum - step] });
  if (maximum !== undefined && isBounded(maximum))
    bounds.push({ what: `at most ${maximum}`, good: [maximum], bad: [maximum + step] });
  if (minLength !== undefined && minLength > 0)
    bounds.push({ what: `of at least ${minLength}`, good: textsOf(minLength), bad: textsOf(minLength - 1) });
  if (maxLength !== undefined)
    bounds.push({ what: `of at most ${maxLength}`, good: textsOf(maxLength), bad: textsOf(maxLength + 1) });
  const items = shape.items === undefined ? [] : samplesOf(shape.items);
  const lists = (length: number) => items.map((item) => Array.from({ length }, () => item));
  if (minItems !== undefined && minItems > 0)
    bounds.push({ what: `at least ${minItems} of them`, good: lists(minItems), bad: lists(minItems - 1) });
  if (maxItems !== undefined)
    bounds.push({ what: `at most ${maxItems} of them`, good: lists(maxItems), bad: lists(maxItems + 1) });
  return bounds;
}

/** Some values that may fit. */
function samplesOf(shape: Shape): readonly unknown[] {
  if (shape.enum !== undefined) return shape.enum;
  if (shape.anyOf !== undefined) return shape.anyOf.flatMap(samplesOf);
  if (shape.type === 'integer' || shape.type === 'number') return [shape.minimum ?? 1, shape.maximum ?? 1];
  if (shape.type === 'object') return [{}];
  return ['a', '200', 'a.test', '127.0.0.1', 'SHA256:'.padEnd(50, 'a'), ...textsOf(shape.minLength ?? 1)];
}

/** Whether a setting itself is refused; what it does not go together with is another matter. */
function isRefused(schema: z.ZodType, name: string, value: unknown): boolean {
  const issues = schema.safeParse({ [name]: value }).error?.issues ?? [];
  return issues.some((issue) => issue.path[0] === name && issue.code !== 'custom');
}

/** Whether a setting is refused for what it is or for what it says; with the processor time that this took. */
async function refusal(
  schema: z.ZodType,
  name: string,
  value: unknown,
): Promise<{ readonly isProblem: boolean; readonly tookMs: number }> {
  let isProblem = false;
  const tookMs = await processorMs(() => {
    const issues = schema.safeParse({ [name]: value }).error?.issues ?? [];
    isProblem = issues.some((issue) => issue.path[0] === name);
  });
  return { isProblem, tookMs };
}

void t.test('what lies at a bound of a setting is taken, and what lies beyond it is not', async (t) => {
  const tooLong = [...textsOf(100_000), Array.from({ length: 10_000 }, () => 'a')];
  let tried = 0;
  for (const protocol of protocols) {
    const schema = settingsSchema(protocol);
    for (const [name, field] of Object.entries(shapeOf(schema).properties ?? {})) {
      const shapes = field.anyOf ?? [field];
      // Of several forms another one may take what lies beyond the bound of the first.
      const mayRefuse = (value: unknown) => shapes.length > 1 || isRefused(schema, name, value);
      for (const { what, good, bad } of shapes.flatMap(boundsOf)) {
        const where = `${protocol}: ${name} ${what}`;
        t.ok(
          good.some((value) => !isRefused(schema, name, value)),
          `${where} is taken`,
        );
        for (const value of bad)
          if (!mayRefuse(value)) t.fail(`${where} is not kept to: ${String(value).slice(0, 60)}`);
        tried += 1;
      }
      // Nothing is taken that is as long as one likes.
      for (const value of tooLong) {
        const { isProblem, tookMs } = await refusal(schema, name, value);
        t.ok(isProblem, `${protocol}: ${name} is bounded`);
        // Whoever may write a monitor must not hold the thread with it. The second time everything is compiled.
        if (tookMs > 100)
          t.ok((await refusal(schema, name, value)).tookMs < 100, `${protocol}: ${name} is refused at once`);
      }
      for (const { type, minimum, maximum } of shapes)
        if (type === 'integer') t.ok(isBounded(minimum) && isBounded(maximum), `${protocol}: ${name} has both bounds`);
    }
  }
  t.comment(`${tried} bounds of ${protocols.length} check types`);
  t.ok(tried > 400, `${tried} bounds`);
});

void t.test('authorities that OpenSSL would pass over without a word are refused', (t) => {
  const half = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  let tried = 0;
  for (const protocol of protocols) {
    const schema = settingsSchema(protocol);
    const { properties } = z.toJSONSchema(schema, { io: 'input' }) as { properties: object };
    for (const name of ['ca_certificates', 'token_ca_certificates', 'proxy_ca_certificates'].filter((each) =>
      Object.hasOwn(properties, each),
    )) {
      tried += 1;
      const issues = schema.safeParse({ [name]: half }).error?.issues ?? [];
      t.ok(
        issues.some(({ path, message }) => path[0] === name && /cannot be read/.test(message)),
        `${protocol} ${name}`,
      );
    }
  }
  t.ok(tried > 20, `${tried} settings`);
  t.end();
});
