// Tables of settings from their JSON Schema.

export type Json = {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Json[];
  readonly items?: Json;
  readonly properties?: Readonly<Record<string, Json>>;
  readonly additionalProperties?: Json | boolean;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
};

/** What a value may be, in words. */
export function kindOf(schema: Json): string {
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum !== undefined) return schema.enum.map((each) => code(String(each))).join(', ');
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(kindOf))].join(' or ');
  switch (schema.type) {
    case 'string':
      return `text${range(schema.minLength, schema.maxLength, ' of ', ' characters')}`;
    case 'integer':
    case 'number':
      return `${schema.type === 'integer' ? 'whole number' : 'number'}${range(schema.minimum, schema.maximum, ' from ', '')}`;
    case 'boolean':
      return 'true or false';
    case 'null':
      return 'null';
    case 'array':
      return `list${range(schema.minItems, schema.maxItems, ' of ', '')} of ${kindOf(schema.items ?? {})}`;
    case 'object':
      return schema.properties === undefined
        ? 'names with their values'
        : `object of ${Object.keys(schema.properties).map(code).join(', ')}`;
    case undefined:
    default:
      return 'any value';
  }
}

/** Safe integers stand for no bound. */
function range(least: number | undefined, most: number | undefined, before: string, after: string): string {
  const low = least !== undefined && least > Number.MIN_SAFE_INTEGER ? least : undefined;
  const high = most !== undefined && most < Number.MAX_SAFE_INTEGER ? most : undefined;
  if (low === undefined && high === undefined) return '';
  if (low === undefined) return `${before}at most ${String(high)}${after}`;
  if (high === undefined) return `${before}at least ${low}${after}`;
  return low === high ? `${before}${low}${after}` : `${before}${low} to ${high}${after}`;
}

/** One row for each setting. Throws where one has no meaning: a comment above it in the sources of its type. */
export function settingsTable(
  properties: Readonly<Record<string, Json>>,
  comments: ReadonlyMap<string, string>,
  secret: readonly string[],
): string {
  const rows = Object.entries(properties).map(([name, schema]) => {
    const says = schema.description ?? comments.get(name) ?? '';
    if (says === '')
      throw new Error(
        `The setting "${name}" has no meaning (beside ${Object.keys(properties).join(', ')}): write a comment above it in its schema.`,
      );
    const marks = secret.includes(name) ? ' **Secret.**' : '';
    const fallback = schema.default === undefined ? '' : code(JSON.stringify(schema.default));
    return `| ${code(name)} | ${cell(kindOf(schema))} | ${fallback.length > 60 ? '' : cell(fallback)} | ${cell(`${says}${marks}`.trim())} |`;
  });
  return ['| setting | value | default | meaning |', '|---|---|---|---|', ...rows].join('\n');
}

export function cell(text: string): string {
  return text.replaceAll('|', '\\|').replace(/\s+/g, ' ');
}

function code(text: string): string {
  return `\`${text}\``;
}
