import { problemSchema, problems, roleOf } from '@parallax/api-contract';
import type { BytesBody, Credentials, FileBody, RouteContract } from '@parallax/api-contract';
import { z } from 'zod';
import { answerHeaders, headerParameters, headersNamed, headersOfError } from './openapi-headers.ts';
import { readOnlyFields } from './repeated-fields.ts';
import { hasVersion, Routes } from './routes-together.ts';

/** A JSON object of the document. */
type Node = Record<string, unknown>;

const securityOf: Readonly<Record<Credentials, readonly Node[]>> = {
  none: [],
  bearer: [{ bearer: [] }],
  'key-or-bearer': [{ api_key: [] }, { bearer: [] }],
  'bearer-or-none': [{ bearer: [] }, {}],
  'secret-header': [{ heartbeat_secret: [] }],
};

/** Formats that say all that the pattern of hundreds of characters beside them says. */
const patternless: ReadonlySet<unknown> = new Set(['date', 'date-time', 'email']);

/**
 * The OpenAPI 3.1 document of the given routes, the same for the same routes. Schemas with `.meta({ id })` become components; one
 * that reads otherwise as input than as output is there twice, as input with the suffix `Input`.
 */
export function openApiDocument(contracts: readonly RouteContract[]): Node {
  const components = new Components();
  const paths: Record<string, Node> = {};
  const routes = new Routes(contracts);
  // Outputs first: whether an input needs a name of its own depends on them.
  for (const contract of contracts) responsesOf(contract, false, components);
  for (const contract of contracts.toSorted((a, b) => compare(a.path, b.path) || compare(a.method, b.method))) {
    const path = contract.path.replaceAll(/:([a-z_]+)/g, '{$1}');
    const described = operation(contract, routes, components);
    paths[path] = { ...paths[path], [contract.method.toLowerCase()]: described };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Parallax',
      version: '1.0.0',
      description: 'Availability monitoring from several vantage points.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(contracts.map((contract) => contract.tag))].toSorted(compare).map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        api_key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        heartbeat_secret: { type: 'apiKey', in: 'header', name: 'X-Secret' },
      },
      headers: answerHeaders,
      responses: components.problems(),
      schemas: components.sorted(),
    },
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function operation(contract: RouteContract, routes: Routes, components: Components): Node {
  const repeated = routes.readerOf(contract) === undefined ? {} : repeatedFields(contract, components);
  const parameters = [
    ...parametersOf('path', contract.params, components),
    ...parametersOf('query', contract.query, components),
    ...headerParameters(contract),
  ];
  return {
    operationId: routes.idOf(contract),
    tags: [contract.tag],
    summary: contract.summary,
    ...(contract.description === undefined ? {} : { description: contract.description }),
    security: contract.isTokenUnlisted === true ? [] : securityOf[contract.credentials],
    'x-role': roleOf(contract),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(contract.body === undefined ? {} : { requestBody: requestBody(contract.body, repeated, components) }),
    ...(contract.file === undefined ? {} : { requestBody: requestFile(contract.file) }),
    ...(contract.bytes === undefined ? {} : { requestBody: requestBytes(contract.bytes) }),
    responses: responsesOf(contract, routes.locationOf(contract) !== undefined, components),
  };
}

function parametersOf(place: 'path' | 'query', schema: z.ZodType | undefined, components: Components): Node[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = components.describe(schema, 'input') as {
    properties?: Record<string, Node>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, described]) => {
    const { description, ...rest } = described;
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema: rest,
    };
  });
}

function requestBody(schema: z.ZodType, repeated: Readonly<Record<string, Node>>, components: Components): Node {
  return {
    required: !schema.safeParse(undefined).success,
    content: { 'application/json': { schema: components.withProperties(schema, repeated) } },
  };
}

/** The fields of the answer that the body of a change may repeat. */
function repeatedFields(contract: RouteContract, components: Components): Readonly<Record<string, Node>> {
  const { answer } = contract.success;
  if (answer === undefined) return {};
  const { properties = {} } = components.describe(answer, 'output') as { properties?: Record<string, Node> };
  return Object.fromEntries(readOnlyFields(contract).map((name) => [name, { ...properties[name], readOnly: true }]));
}

function requestFile(file: FileBody): Node {
  const bytes: Node = { type: 'string', format: 'binary', description: `At most ${file.maxBytes} bytes.` };
  const form: Node = { type: 'object', properties: { file: bytes }, required: ['file'] };
  return {
    required: true,
    content: Object.fromEntries(
      file.types.map((type) => [type, { schema: type === 'multipart/form-data' ? form : bytes }]),
    ),
  };
}

function requestBytes(limits: BytesBody): Node {
  const description =
    'maxBytes' in limits
      ? `At most ${limits.maxBytes} bytes.`
      : `Anything; the first ${limits.keptBytes} bytes are read.`;
  return { required: false, content: { '*/*': { schema: { type: 'string', format: 'binary', description } } } };
}

function responsesOf(contract: RouteContract, located: boolean, components: Components): Node {
  const { status, answer, contentType = 'application/json', others = {} } = contract.success;
  const bodies = Object.entries(answer === undefined ? {} : { [contentType]: answer, ...others });
  const content = bodies.map(([type, schema]) => [type, { schema: components.reference(schema, 'output') }] as const);
  const described: Node = content.length === 0 ? {} : { content: Object.fromEntries(content) };
  const headers = { headers: headersNamed(headersOfSuccess(contract, located)) };
  const responses: Record<string, Node> = {
    [status]: { description: successText(status), ...headers, ...described },
  };
  for (const error of errorsOf(contract)) responses[error] = components.problem(error);
  if (contract.alternative !== undefined) {
    const { description, status: other } = contract.alternative;
    const pages = Object.fromEntries(content);
    responses[other] = { description, ...headers, content: withProblem(pages, other, contract, components) };
  }
  for (const page of contract.pages ?? []) responses[page] = pageOf(page, { contract, headers, components });
  return responses;
}

/** A status that is answered by a page, or as everywhere where the request does not get so far. */
function pageOf(
  status: number,
  given: { readonly contract: RouteContract; readonly headers: Node; readonly components: Components },
): Node {
  const { contract, headers, components } = given;
  const { answer, contentType = 'text/html; charset=utf-8' } = contract.success;
  const page = answer === undefined ? {} : { [contentType]: { schema: components.reference(answer, 'output') } };
  return { description: 'a page that says why', ...headers, content: withProblem(page, status, contract, components) };
}

/** Content of a status, and beside it a problem where any request may be answered one with this status. */
function withProblem(content: Node, status: number, contract: RouteContract, components: Components): Node {
  if (!errorsOf(contract).has(status)) return content;
  return { ...content, 'application/problem+json': { schema: components.reference(problemSchema, 'output') } };
}

/** What HTTP itself, or a fault of ours, may answer to any request. A URL that is not validly percent-encoded is nothing that is there, also by its query. */
const ofAnyRequest = [400, 404, 408, 414, 417, 421, 431, 500, 503].filter((each) =>
  Object.values(problems).some(({ status }) => status === each),
);

function errorsOf(contract: RouteContract): ReadonlySet<number> {
  const { credentials, idempotent, errors = [] } = contract;
  return new Set([
    ...ofAnyRequest,
    ...(credentials === 'none' ? [] : [401, 403]),
    // A body that nobody asked for is judged like any other.
    ...(contract.method === 'GET' ? [] : [413, 415, 422]),
    ...(takesInput(contract) ? [422] : []),
    ...(idempotent === true ? [409, 422] : []),
    ...(isCounted(contract) ? [429] : []),
    ...errors,
  ]);
}

/** Whether requests are counted against a rate. */
function isCounted({ credentials, path, perAddressPerMinute }: RouteContract): boolean {
  return credentials !== 'none' || path.startsWith('/api/') || perAddressPerMinute !== undefined;
}

function headersOfSuccess(contract: RouteContract, located: boolean): readonly string[] {
  const { status, headers = [] } = contract.success;
  const names = new Set<string>([
    ...headers,
    ...(hasVersion(contract) ? ['ETag'] : []),
    ...(contract.idempotent === true ? ['Idempotency-Replayed'] : []),
    ...(status === 303 || status === 307 || located ? ['Location'] : []),
    ...(isCounted(contract) ? ['RateLimit', 'RateLimit-Policy'] : []),
    'X-Request-Id',
  ]);
  return [...names].toSorted(compare);
}

function takesInput({ params, query, body, file }: RouteContract): boolean {
  return [params, query, body, file].some((part) => part !== undefined);
}

function successText(status: number): string {
  return { 201: 'created', 202: 'accepted', 204: 'done', 303: 'see other', 307: 'redirect' }[status] ?? 'success';
}

/** The codes that a status may carry. */
function describedProblems(status: number): string {
  const codes = Object.entries(problems).filter(([, problem]) => problem.status === status);
  return codes.map(([code]) => code).join(', ') || 'error';
}

/** Collects the named schemas of the document. */
class Components {
  readonly #schemas = new Map<string, Node>();
  readonly #texts = new Map<string, string>();
  readonly #more = new Map<string, Readonly<Record<string, Node>>>();
  readonly #problems = new Map<number, Node>();

  /** The answer of an error, which is the same for all operations. */
  problem(status: number): Node {
    const described = {
      description: describedProblems(status),
      headers: headersNamed(headersOfError(status)),
      content: { 'application/problem+json': { schema: this.reference(problemSchema, 'output') } },
    };
    if (!this.#problems.has(status)) this.#problems.set(status, described);
    return { $ref: `#/components/responses/Problem${status}` };
  }

  problems(): Record<string, Node> {
    const sorted = [...this.#problems].toSorted(([a], [b]) => a - b);
    return Object.fromEntries(sorted.map(([status, node]) => [`Problem${status}`, node]));
  }

  sorted(): Record<string, Node> {
    const all = [...this.#schemas].map(([name, node]) => [name, extended(node, this.#more.get(name) ?? {})] as const);
    return Object.fromEntries(all.toSorted(([a], [b]) => compare(a, b)));
  }

  /** The reference to an object of a request, or the object, with more properties. */
  withProperties(schema: z.ZodType, more: Readonly<Record<string, Node>>): Node {
    const named = this.reference(schema, 'input');
    if (typeof named['$ref'] !== 'string') return extended(named, more);
    this.#more.set(named['$ref'].split('/').at(-1) ?? '', more);
    return named;
  }

  /** The schema itself, its named parts by reference. */
  describe(schema: z.ZodType, io: 'input' | 'output'): Node {
    const named = this.reference(schema, io);
    const name = typeof named['$ref'] === 'string' ? named['$ref'].split('/').at(-1) : undefined;
    return name === undefined ? named : (this.#schemas.get(name) ?? {});
  }

  /** The schema, or a reference to it when it has a name. */
  reference(schema: z.ZodType, io: 'input' | 'output'): Node {
    // Wrapped, so that a name of the schema itself becomes a definition too.
    const wrapped = z.toJSONSchema(z.object({ it: schema }), {
      io,
      target: 'draft-2020-12',
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema }) => {
        const { def } = zodSchema._zod;
        // Lost by zod where the inner schema converts from text.
        if (def.type === 'default') jsonSchema.default = def.defaultValue;
        // What a route itself puts in, since it must know whether a parameter was given.
        const stated = z.globalRegistry.get(zodSchema)?.['default'];
        if (stated !== undefined) jsonSchema.default = stated;
        // What is not named is ignored or left out, but a later version may name more.
        if (def.type === 'object' && def.catchall === undefined && jsonSchema.additionalProperties === false) {
          delete jsonSchema.additionalProperties;
        }
        // A second spelling of a field is understood and not offered.
        for (const [name, field] of Object.entries(def.type === 'object' ? def.shape : {})) {
          if (z.globalRegistry.get(field)?.['isUndocumented'] === true) delete jsonSchema.properties?.[name];
        }
        // What every number of JSON is bounded by says nothing.
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
        if (patternless.has(jsonSchema.format)) delete jsonSchema.pattern;
        delete jsonSchema.id;
      },
    }) as unknown as { properties: { it: Node }; $defs?: Record<string, Node> };
    const definitions = wrapped.$defs ?? {};
    const rename = new Map(
      Object.keys(definitions).map((name) => [name, this.#nameOf(name, reachable(name, definitions), io)]),
    );
    for (const [name, node] of Object.entries(definitions)) {
      this.#schemas.set(rename.get(name) ?? name, pointToComponents(node, rename) as Node);
    }
    return pointToComponents(wrapped.properties.it, rename) as Node;
  }

  /** Outputs keep their name; an input that reads otherwise than the output of that name gets a suffix. */
  #nameOf(name: string, text: string, io: 'input' | 'output'): string {
    const known = this.#texts.get(`${io} ${name}`);
    if (known !== undefined && known !== text) throw new Error(`two schemas are called ${name}`);
    this.#texts.set(`${io} ${name}`, text);
    if (io === 'output') return name;
    const output = this.#texts.get(`output ${name}`);
    return output === undefined || output === text ? name : `${name}Input`;
  }
}

function extended(node: Node, more: Readonly<Record<string, Node>>): Node {
  if (Object.keys(more).length === 0) return node;
  return { ...node, properties: { ...(node['properties'] as Node | undefined), ...more } };
}

/** A definition with all that it refers to, as text to compare by. */
function reachable(name: string, definitions: Readonly<Record<string, Node>>): string {
  const found = new Map<string, string>();
  const visit = (at: string): void => {
    if (found.has(at)) return;
    const text = JSON.stringify(definitions[at] ?? {});
    found.set(at, text);
    for (const [, next] of text.matchAll(/"#\/\$defs\/([^"]+)"/g)) visit(next ?? '');
  };
  visit(name);
  return [...found].map(([at, text]) => `${at} ${text}`).join('\n');
}

function pointToComponents(node: unknown, rename: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(node)) return node.map((item) => pointToComponents(item, rename));
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => {
      if (key !== '$ref' || typeof value !== 'string') return [key, pointToComponents(value, rename)];
      const name = value.split('/').at(-1) ?? '';
      return [key, `#/components/schemas/${rename.get(name) ?? name}`];
    }),
  );
}
