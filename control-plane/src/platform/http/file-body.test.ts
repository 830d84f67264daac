import { route } from '@parallax/api-contract';
import { quietLog } from '@parallax/testkit';
import t from 'tap';
import type { Test } from 'tap';
import { z } from 'zod';
import { handle } from './handler.ts';
import { openApiDocument } from './openapi.ts';
import { buildHttpServer } from './server.ts';

const fileRoute = route({
  method: 'POST',
  path: '/files',
  credentials: 'none',
  tag: 'test',
  summary: 'test',
  file: { types: ['text/csv', 'multipart/form-data'], maxBytes: 400_000 },
  success: { status: 200, answer: z.object({ text: z.string(), bytes: z.number() }) },
  errors: [413],
});
const jsonRoute = route({
  method: 'POST',
  path: '/json',
  credentials: 'none',
  tag: 'test',
  summary: 'test',
  body: z.object({ name: z.string() }),
  success: { status: 200, answer: z.object({ name: z.string() }) },
});

async function start(t: Test) {
  const app = await buildHttpServer(
    [
      handle(fileRoute, async ({ file }) => ({ text: file.bytes.toString('utf8', 0, 50), bytes: file.bytes.length })),
      handle(jsonRoute, async ({ body }) => body),
    ],
    {
      log: quietLog,
      publicUrl: 'https://parallax.example',
      trustedProxies: [],
      authenticate: async () => undefined,
      limit: async () => undefined,
    },
  );
  await app.listen({ host: '127.0.0.1', port: 0 });
  t.teardown(() => app.close());
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return async (path: string, body: RequestInit['body'] | undefined, headers: Record<string, string> = {}) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers,
      ...(body === undefined ? {} : { body, duplex: 'half' }),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
}

const csv = { 'content-type': 'text/csv; charset=utf-8' };

void t.test('a file comes as the body or in a form', async (t) => {
  const post = await start(t);
  t.match(await post('/files', 'a,b\r\n', csv), { status: 200, body: { text: 'a,b\r\n' } });
  const form = new FormData();
  form.append('note', 'first');
  form.append('file', new Blob(['x,y\r\n']), 'данные.csv');
  t.match(await post('/files', form), { status: 200, body: { text: 'x,y\r\n', bytes: 5 } });
  t.match(await post('/files', 'x'.repeat(400_000), csv), { status: 200, body: { bytes: 400_000 } });
});

void t.test('what is no file of the named kinds is refused', async (t) => {
  const post = await start(t);
  const form = new FormData();
  form.append('note', 'no file');
  t.match(await post('/files', form), { status: 422, body: { errors: [{ in: 'body', code: 'multipart' }] } });
  t.match(await post('/files', 'x', { 'content-type': 'multipart/form-data' }), {
    status: 422,
    body: { errors: [{ in: 'header', path: '/Content-Type' }] },
  });
  t.match(await post('/files', '{}', { 'content-type': 'application/json' }), { status: 415 });
  t.match(await post('/files', 'x', { ...csv, 'content-encoding': 'gzip' }), { status: 415 });
  t.match(await post('/files', undefined, csv), { status: 422, body: { errors: [{ code: 'file_required' }] } });
  t.match(await post('/files', undefined), { status: 422 });
  t.match(await post('/files', new Uint8Array([1, 2])), { status: 415 }, 'without a media type');
});

void t.test('a file that is too large is refused, also when its length is not told', async (t) => {
  const post = await start(t);
  t.match(await post('/files', 'x'.repeat(400_001), csv), { status: 413, body: { code: 'payload_too_large' } });
  const endless = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) });
  t.match(await post('/files', endless, csv).catch(() => ({ status: 413 })), { status: 413 });
});

void t.test('routes beside it still take JSON and nothing else', async (t) => {
  const post = await start(t);
  t.match(await post('/json', '{"name":"a"}', { 'content-type': 'application/json' }), { status: 200 });
  t.match(await post('/json', 'a,b', csv), { status: 415 });
});

void t.test('OpenAPI describes the file', async (t) => {
  const document = openApiDocument([fileRoute]) as {
    paths: Record<string, { post: { requestBody: unknown; responses: object } }>;
  };
  t.match(document.paths['/files']?.post, {
    requestBody: {
      required: true,
      content: {
        'text/csv': { schema: { type: 'string', format: 'binary' } },
        'multipart/form-data': { schema: { properties: { file: { type: 'string' } } } },
      },
    },
    responses: { 413: {}, 422: {} },
  });
});
