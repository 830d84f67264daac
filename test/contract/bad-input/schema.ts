import { z } from 'zod';

/** What is used here of JSON Schema, as the OpenAPI document has it. */
export type Schema = {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
};

/** The schema of what a contract takes, without references. */
export function describe(type: z.ZodType): Schema {
  // Wrapped, since a schema with a name of its own at the top would be a reference to itself.
  const whole = z.toJSONSchema(z.object({ it: type }), { io: 'input', unrepresentable: 'any' }) as unknown as Schema;
  const resolve = (schema: Schema, depth: number): Schema => {
    const name = schema.$ref?.split('/').at(-1);
    const found = name === undefined ? schema : (whole.$defs?.[name] ?? {});
    if (depth > 12) return {};
    const below = (part: Schema): Schema => resolve(part, depth + 1);
    return {
      ...found,
      ...(found.properties === undefined ? {} : { properties: mapValues(found.properties, below) }),
      ...(found.items === undefined ? {} : { items: below(found.items) }),
      ...(found.anyOf === undefined ? {} : { anyOf: found.anyOf.map(below) }),
      ...(found.oneOf === undefined ? {} : { oneOf: found.oneOf.map(below) }),
    };
  };
  return resolve(whole.properties?.['it'] ?? {}, 0);
}

/** The alternatives of a schema, null aside. */
export function variantsOf(schema: Schema): readonly Schema[] {
  const parts = schema.anyOf ?? schema.oneOf;
  return parts === undefined ? [schema] : parts.filter(({ type }) => type !== 'null').flatMap(variantsOf);
}

function mapValues<Value>(
  record: Readonly<Record<string, Value>>,
  change: (value: Value) => Value,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)] as const));
}
