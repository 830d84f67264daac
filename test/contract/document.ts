import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { TestAnswer } from '../../control-plane/src/identity/testing.ts';

/** JSON Schema of a parameter, as far as it is used here. */
export type ParameterSchema = {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly enum?: readonly string[];
  readonly default?: string | number | boolean;
  readonly items?: ParameterSchema;
  readonly anyOf?: readonly ParameterSchema[];
};

type Content = Readonly<Record<string, { readonly schema: object }>>;
type Operation = {
  readonly operationId: string;
  readonly 'x-role': string;
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: ParameterSchema }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
};
type Response = {
  readonly $ref?: string;
  readonly content?: Content;
  readonly headers?: Readonly<Record<string, object>>;
};

// Where JSON Schema itself looks for what is referred to.
const text = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8');
const document = JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, ParameterSchema>>;
    readonly responses: Readonly<Record<string, Response>>;
  };
};

/** An endpoint of the OpenAPI document, named as `GET /api/v1/monitors/{monitor_id}`. */
export type Documented = {
  readonly name: string;
  readonly path: string;
  readonly query: Readonly<Record<string, ParameterSchema>>;
  readonly operation: Operation;
};

/** Every endpoint of the document, references of parameters resolved. */
export const documented: readonly Documented[] = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    path,
    operation,
    query: Object.fromEntries(
      (operation.parameters ?? [])
        .filter((parameter) => parameter.in === 'query')
        .map(({ name, schema }) => [name, document.components.schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? schema]),
    ),
  })),
);

/** Headers that an answer may have only where the document says so. */
const namedHeaders = [
  'Content-Disposition',
  'ETag',
  'Idempotency-Replayed',
  'Link',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'WWW-Authenticate',
];
/** Headers that a success has wherever the document names them. */
const alwaysSent = ['ETag', 'Location', 'X-Request-Id'];

const byName = new Map(documented.map((one) => [one.name, one]));
const schemas = new Map<object, z.ZodType>();

/** Endpoints with what their paths look like, those with the fewest parameters first: `/monitors/export/csv` is no `/monitors/{monitor_id}`. */
const patterns = documented
  .map(({ name, path }) => {
    const method = name.split(' ', 1)[0];
    const parts = path.split('/').map((part) => (part.startsWith('{') ? '[^/]+' : part.replaceAll('.', '\\.')));
    return { method, path, pattern: new RegExp(`^${parts.join('/')}$`), parameters: path.split('{').length };
  })
  .sort((one, other) => one.parameters - other.parameters);

/** The same of a request by the path that was asked for; undefined for what is no endpoint, too. */
export function undocumentedAnswer(method: string, asked: string, answer: TestAnswer): string | undefined {
  const [pathname = ''] = asked.split('?');
  const found = patterns.find((each) => each.method === method && each.pattern.test(pathname));
  return found === undefined ? undefined : undocumented(method, found.path, answer);
}

/** What of an answer the document does not say; undefined when it says all of it. Bodies of files are not looked into. */
export function undocumented(method: string, path: string, answer: TestAnswer): string | undefined {
  const name = `${method} ${path.replaceAll(/:([a-z_]+)/g, '{$1}')}`;
  const found = byName.get(name);
  if (found === undefined) return `${name} is not in the document`;
  const given = found.operation.responses[String(answer.status)];
  const response = document.components.responses[given?.$ref?.split('/').at(-1) ?? ''] ?? given;
  if (response === undefined) return `${name} may not answer ${answer.status}: ${answer.text.slice(0, 200)}`;
  const { content, headers = {} } = response;
  const unnamed = namedHeaders.filter((header) => answer.headers.has(header) && !Object.hasOwn(headers, header));
  if (unnamed.length > 0) return `${name} does not say that ${answer.status} has ${unnamed.join(', ')}`;
  for (const header of alwaysSent.filter((each) => Object.hasOwn(headers, each) && answer.status < 300)) {
    if (!answer.headers.has(header)) return `${name} answers ${answer.status} without ${header}`;
  }
  if (content === undefined) return answer.text === '' ? undefined : `${name} has a body with ${answer.status}`;
  const type = answer.headers.get('content-type') ?? '';
  const entry = Object.entries(content).find(([each]) => each.split(';')[0] === type.split(';')[0])?.[1];
  if (entry === undefined) return `${name} may not answer ${type}`;
  if (!/[/+]json\b/.test(type)) return undefined;
  const known = schemas.get(entry.schema);
  const whole = { ...entry.schema, $defs: document.components.schemas } as Parameters<typeof z.fromJSONSchema>[0];
  const schema = known ?? z.fromJSONSchema(whole);
  schemas.set(entry.schema, schema);
  const { error } = schema.safeParse(answer.body);
  return error === undefined ? undefined : `${name} answers ${answer.status} otherwise: ${z.prettifyError(error)}`;
}
