import { booleanQuery, idSchema, nameSchema, numberParameter, pageQuery, route } from '@parallax/api-contract';
import type { RouteContract } from '@parallax/api-contract';
import t from 'tap';
import { z } from 'zod';
import { openApiDocument } from './openapi.ts';

const part = z.object({ kind: z.enum(['a', 'b']).default('a') }).meta({ id: 'Part' });
const thing = z.object({ id: z.number().int(), parts: z.array(part) }).meta({ id: 'Thing' });

const list = route({
  method: 'GET',
  path: '/api/v1/things',
  credentials: 'key-or-bearer',
  tag: 'things',
  summary: 'List',
  query: z.object({
    ...pageQuery,
    deep: booleanQuery(true),
    active: z.boolean().optional(),
    target: numberParameter(90, 100).optional(),
    search: z.string().max(200).optional().meta({ description: 'part of the name' }),
    sort: z.enum(['name', 'status']).default('status'),
  }),
  success: { status: 200, answer: z.object({ things: z.array(thing) }) },
});
const create = route({
  method: 'POST',
  path: '/api/v1/things',
  credentials: 'bearer',
  tag: 'things',
  summary: 'Create',
  body: z.object({ name: nameSchema, parts: z.array(part) }).meta({ id: 'CreateThing' }),
  success: { status: 201, answer: thing },
  errors: [409],
});
const remove = route({
  method: 'DELETE',
  path: '/api/v1/things/:thing_id',
  credentials: 'bearer',
  tag: 'things',
  summary: 'Delete',
  params: z.object({ thing_id: idSchema }),
  success: { status: 204 },
});
const act = route({
  method: 'POST',
  path: '/api/v1/things/:thing_id/act',
  credentials: 'bearer-or-none',
  tag: 'things',
  summary: 'Act',
  params: z.object({ thing_id: idSchema }),
  body: z.object({ confirm: z.boolean() }).nullish(),
  success: { status: 307 },
});
const probe = route({
  method: 'GET',
  path: '/health',
  credentials: 'none',
  tag: 'health',
  summary: 'Health',
  success: { status: 200, answer: z.object({ status: z.string() }).meta({ id: 'Health' }) },
  alternative: { status: 503, description: 'the same' },
});
const contracts: readonly RouteContract[] = [list, create, remove, act, probe];

type Operation = {
  operationId: string;
  'x-role': string;
  security: unknown;
  parameters: { name: string; in: string; required: boolean; schema: Record<string, unknown>; description?: string }[];
  requestBody: { required: boolean; content: Record<string, { schema: unknown }> };
  responses: Record<string, { content?: Record<string, { schema: unknown }>; headers?: Record<string, unknown> }>;
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Record<string, unknown>>;
    responses: Record<string, Record<string, unknown>>;
  };
};
const document = (given: readonly RouteContract[]): Document => openApiDocument(given) as unknown as Document;

void t.test('parameters show type, bounds, enumeration and default', async (t) => {
  const parameters = document(contracts).paths['/api/v1/things']?.['get']?.parameters ?? [];
  t.same(Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])), {
    page: { type: 'integer', minimum: 1, maximum: 10_000, default: 1 },
    page_size: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    deep: { type: 'boolean', default: true },
    active: { type: 'boolean' },
    target: { type: 'number', minimum: 90, maximum: 100 },
    search: { type: 'string', maxLength: 200 },
    sort: { type: 'string', enum: ['name', 'status'], default: 'status' },
  });
  t.same([...new Set(parameters.map(({ required }) => required))], [false]);
  t.equal(parameters.find(({ name }) => name === 'search')?.description, 'part of the name');
  t.match(document(contracts).paths['/api/v1/things/{thing_id}']?.['delete']?.parameters, [
    { name: 'thing_id', in: 'path', required: true, schema: { type: 'integer', minimum: 1, maximum: 2_147_483_647 } },
  ]);
});

void t.test('credentials, bodies and statuses are those of the contract', async (t) => {
  const { paths } = document(contracts);
  t.same(paths['/api/v1/things']?.['get']?.security, [{ api_key: [] }, { bearer: [] }]);
  t.same(paths['/api/v1/things']?.['post']?.security, [{ bearer: [] }]);
  t.same(paths['/api/v1/things/{thing_id}/act']?.['post']?.security, [{ bearer: [] }, {}]);
  t.same(paths['/health']?.['get']?.security, []);
  const unlisted = document([{ ...act, isTokenUnlisted: true }]).paths[act.path.replace(':thing_id', '{thing_id}')];
  t.same(unlisted?.['post']?.security, [], 'a token that stands in the description alone');
  const created = paths['/api/v1/things']?.['post'];
  t.equal(created?.requestBody.required, true);
  t.equal(paths['/api/v1/things/{thing_id}/act']?.['post']?.requestBody.required, false);
  const anyway = [
    '400',
    '401',
    '403',
    '404',
    '408',
    '409',
    '413',
    '414',
    '415',
    '417',
    '421',
    '422',
    '429',
    '431',
    '500',
    '503',
  ];
  t.same(Object.keys(created?.responses ?? {}), ['201', ...anyway]);
  t.same(created?.responses['409'], { $ref: '#/components/responses/Problem409' });
  t.match(document(contracts).components.responses['Problem401'], {
    headers: { 'WWW-Authenticate': { $ref: '#/components/headers/WWW-Authenticate' } },
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  });
  const removed = paths['/api/v1/things/{thing_id}']?.['delete']?.responses['204'];
  t.notOk(removed?.content, 'no content');
  t.ok(paths['/api/v1/things/{thing_id}/act']?.['post']?.responses['307']?.headers, 'a redirect has a Location');
  t.same(
    paths['/health']?.['get']?.responses['503']?.content,
    {
      ...paths['/health']?.['get']?.responses['200']?.content,
      'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
    },
    'its own answer, or that of a server which is about to end',
  );
});

const read = route({
  method: 'GET',
  path: '/api/v1/resources/:id',
  credentials: 'bearer',
  tag: 'things',
  summary: 'Read',
  params: z.object({ id: idSchema }),
  success: { status: 200, answer: z.object({ id: z.number(), version: z.number() }) },
});
const make = route({
  ...read,
  method: 'POST',
  path: '/api/v1/resources',
  success: { ...read.success, status: 201 },
  idempotent: true,
  requestHeaders: ['X-Invite-Token'],
  errors: [412],
});
const page = route({
  ...probe,
  path: '/resources/:id',
  success: { ...probe.success, others: { 'text/csv': z.string() } },
});

void t.test(
  'headers, media types and roles stand in it, and a page is not called like a route of the API',
  async (t) => {
    const { paths } = document([read, make, page]);
    const made = paths['/api/v1/resources']?.['post'];
    t.same(
      made?.parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name),
      ['If-Match', 'Idempotency-Key', 'X-Invite-Token'],
    );
    const counted = ['RateLimit', 'RateLimit-Policy', 'X-Request-Id'];
    t.same(Object.keys(made?.responses['201']?.headers ?? {}), [
      'ETag',
      'Idempotency-Replayed',
      'Location',
      ...counted,
    ]);
    t.same(Object.keys(paths['/api/v1/resources/{id}']?.['get']?.responses['200']?.headers ?? {}), [
      'ETag',
      ...counted,
    ]);
    t.same(paths['/api/v1/resources/{id}']?.['get']?.['x-role'], 'account');
    t.same(paths['/resources/{id}']?.['get']?.operationId, 'get_resources_by_id_at_root');
    t.same(Object.keys(paths['/resources/{id}']?.['get']?.responses['200']?.content ?? {}), [
      'application/json',
      'text/csv',
    ]);
    t.throws(() => openApiDocument([read, route({ ...read, path: '/api/v1/resources/by_id' })]), /called/);
  },
);

void t.test('named schemas are components, apart as input where they read otherwise', async (t) => {
  const { paths, components } = document(contracts);
  t.same(Object.keys(components.schemas), ['CreateThing', 'Health', 'Part', 'PartInput', 'Problem', 'Thing']);
  t.same(components.schemas['Part']?.['required'], ['kind'], 'an answer always has it');
  t.equal(components.schemas['PartInput']?.['required'], undefined, 'a request may leave it to the default');
  t.match(components.schemas['CreateThing'], {
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 200 },
      parts: { items: { $ref: '#/components/schemas/PartInput' } },
    },
  });
  t.same(paths['/api/v1/things']?.['post']?.responses['201']?.content?.['application/json']?.schema, {
    $ref: '#/components/schemas/Thing',
  });
});

void t.test('the document depends on the routes and not on their order', async (t) => {
  t.equal(JSON.stringify(document(contracts.toReversed())), JSON.stringify(document(contracts)));
  const ids = Object.values(document(contracts).paths).flatMap((item) =>
    Object.values(item).map((one) => one.operationId),
  );
  t.equal(new Set(ids).size, contracts.length, 'operations are told apart');
});

void t.test('two schemas of one name are an error', async (t) => {
  const other = route({
    ...probe,
    path: '/other',
    success: { status: 200, answer: z.object({ x: z.number() }).meta({ id: 'Health' }) },
  });
  t.throws(() => openApiDocument([probe, other]), /Health/);
});
