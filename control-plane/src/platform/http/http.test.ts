import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import {
  Problem,
  route,
  integerParameter,
  booleanQuery,
  pageQuery,
  inputErrors,
  problems,
} from '@parallax/api-contract';
import { keptLog, lateness, quietLog } from '@parallax/testkit';
import type { FastifyInstance } from 'fastify';
import t from 'tap';
import type { Test } from 'tap';
import { z } from 'zod';
import { handle } from './handler.ts';
import { isKnownHost } from './host-guard.ts';
import { buildHttpServer } from './server.ts';
import type { HttpServerOptions } from './server.ts';

const echoRoute = route({
  method: 'POST',
  path: '/echo',
  credentials: 'none',
  tag: 'test',
  summary: 'test',
  body: z.object({ name: z.string().max(5), list: z.array(z.number()).optional() }),
  success: { status: 200, answer: z.object({ name: z.string() }) },
});
const itemRoute = route({
  method: 'GET',
  path: '/items/:id',
  credentials: 'none',
  tag: 'test',
  summary: 'test',
  params: z.object({ id: integerParameter(1, 100) }),
  query: z.object({ ...pageQuery, deep: booleanQuery(false), search: z.string().max(10).optional() }),
  success: { status: 200, answer: z.object({ id: z.number(), page: z.number(), deep: z.boolean() }) },
});
const bareRoute = route({
  method: 'DELETE',
  path: '/items/:id',
  credentials: 'none',
  tag: 'test',
  summary: 'test',
  success: { status: 204 },
});
const faultRoute = route({
  method: 'GET',
  path: '/fault',
  credentials: 'none',
  tag: 'test',
  summary: 'test',
  success: { status: 200, answer: z.object({ ok: z.boolean() }) },
});

type Started = { readonly app: FastifyInstance; readonly url: string; readonly port: number };

async function start(
  t: Test,
  fault: () => Promise<unknown> = async () => ({ ok: true }),
  more: Partial<HttpServerOptions> = {},
  host = '127.0.0.1',
): Promise<Started> {
  const app = await buildHttpServer(
    [
      handle(echoRoute, async ({ body }) => ({ name: body.name, secret: 'kept back' }) as { name: string }),
      handle(itemRoute, async ({ params, query }) => ({ id: params.id, page: query.page, deep: query.deep })),
      handle(bareRoute, async () => undefined),
      handle(faultRoute, fault as () => Promise<{ ok: boolean }>),
    ],
    {
      log: quietLog,
      publicUrl: 'https://parallax.example',
      trustedProxies: [],
      authenticate: async () => undefined,
      limit: async () => undefined,
      ...more,
    },
  );
  await app.listen({ host, port: 0 });
  t.teardown(() => app.close());
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { app, port, url: `http://127.0.0.1:${port}` };
}

/** Sends bytes as they are and reads until the server closes, or until one whole answer has come. */
async function raw(port: number, text: string | Buffer): Promise<{ status: number; head: string; body: string }> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(text);
  const whole = (): string => Buffer.concat(chunks).toString();
  const isWhole = (): boolean => {
    const [head = '', body] = whole().split('\r\n\r\n', 2);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? -1);
    return body !== undefined && (length <= Buffer.byteLength(body) || /^HTTP\/1.1 204/.test(head));
  };
  socket.on('data', () => {
    if (isWhole()) socket.destroy();
  });
  await once(socket, 'close');
  const [head = '', body = ''] = whole().split('\r\n\r\n', 2);
  return { status: Number(/^HTTP\/1.1 (\d+)/.exec(head)?.[1] ?? 0), head: head.toLowerCase(), body };
}

const post = (body: string | Buffer, headers = 'content-type: application/json\r\n'): Buffer =>
  Buffer.concat([
    Buffer.from(
      `POST /echo HTTP/1.1\r\nhost: localhost\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n`,
    ),
    Buffer.from(body),
  ]);
const get = (target: string, headers = ''): string => `GET ${target} HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n`;

void t.test('what comes in wrongly is answered as a problem with its own status and code', async (t) => {
  const { port } = await start(t);
  const cases: [name: string, request: string | Buffer, status: number, code: string][] = [
    ['malformed JSON', post('{"name":'), 422, 'invalid_json'],
    ['a duplicate key', post('{"name":"a","name":"b"}'), 422, 'invalid_json'],
    ['a duplicate key, escaped', post('{"name":"a","n\\u0061me":"b"}'), 422, 'invalid_json'],
    ['__proto__', post('{"__proto__":{"name":"a"}}'), 422, 'invalid_json'],
    ['constructor.prototype', post('{"name":"a","constructor":{"prototype":{}}}'), 422, 'invalid_json'],
    ['NUL', post('{"name":"a\\u0000"}'), 422, 'invalid_json'],
    ['half a surrogate pair', post('{"name":"\\ud800"}'), 422, 'invalid_json'],
    ['33 levels', post(`{"list":${'['.repeat(32)}${']'.repeat(32)}}`), 422, 'invalid_json'],
    ['bytes that are not UTF-8', post(Buffer.from([0x22, 0xff, 0x22])), 422, 'invalid_json'],
    ['an infinite number', post('{"name":"a","list":[1e999]}'), 422, 'invalid_json'],
    ['an empty body', post(''), 422, 'invalid_input'],
    ['null', post('null'), 422, 'invalid_input'],
    [
      'no body and no type',
      'POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n',
      422,
      'invalid_input',
    ],
    ['a form', post('name=a', 'content-type: application/x-www-form-urlencoded\r\n'), 415, 'unsupported_media_type'],
    ['no media type', post('{}', ''), 415, 'unsupported_media_type'],
    ['a media type that is none', post('{}', 'content-type: json\r\n'), 415, 'unsupported_media_type'],
    [
      'another charset',
      post('{}', 'content-type: application/json; charset=utf-16\r\n'),
      415,
      'unsupported_media_type',
    ],
    [
      'a compressed body',
      post('{}', 'content-type: application/json\r\ncontent-encoding: gzip\r\n'),
      415,
      'unsupported_media_type',
    ],
    ['262,145 bytes', post(`"${'a'.repeat(262_143)}"`), 413, 'payload_too_large'],
    [
      'a body where none is taken',
      'DELETE /items/1 HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 7\r\n\r\n{"a":1}',
      422,
      'invalid_input',
    ],
    ['an unknown path', get('/nothing'), 404, 'not_found'],
    [
      'an unknown path with a body of any type',
      'POST /nothing HTTP/1.1\r\nhost: localhost\r\ncontent-type: text/plain\r\ncontent-length: 1\r\n\r\na',
      404,
      'not_found',
    ],
    ['bad percent-encoding in the path', get('/items/%zz'), 404, 'not_found'],
    ['bytes that are not UTF-8 in the path', get('/items/%ff'), 404, 'not_found'],
    ['bad percent-encoding in the query', get('/items/1?search=%e0%a4'), 404, 'not_found'],
    ['NUL in the path', get('/items/%00'), 422, 'invalid_input'],
    ['NUL in the query', get('/items/1?search=%00'), 422, 'invalid_input'],
    ['a path parameter out of range', get('/items/101'), 422, 'invalid_input'],
    ['a path parameter that is no number', get('/items/1e1'), 422, 'invalid_input'],
    ['a path parameter of 400 characters', get(`/items/${'1'.repeat(400)}`), 414, 'uri_too_long'],
    ['a repeated query parameter', get('/items/1?page=1&page=2'), 422, 'invalid_input'],
    ['an empty query parameter', get('/items/1?page='), 422, 'invalid_input'],
    ['a hexadecimal query parameter', get('/items/1?page=0x1'), 422, 'invalid_input'],
    ['a boolean that is none', get('/items/1?deep=2'), 422, 'invalid_input'],
    ['a URL of 2,049 characters', get(`/items/1?search=${'a'.repeat(2_049 - 16)}`), 414, 'uri_too_long'],
    ['headers of 20 KiB', get('/items/1', `x-long: ${'a'.repeat(20_000)}\r\n`), 431, 'headers_too_large'],
    [
      'a known method that the path does not take',
      'PATCH /items/1 HTTP/1.1\r\nhost: localhost\r\n\r\n',
      405,
      'method_not_allowed',
    ],
    ['a method of WebDAV', 'PROPFIND /items/1 HTTP/1.1\r\nhost: localhost\r\n\r\n', 405, 'method_not_allowed'],
    ['an invented method', 'BREW /items/1 HTTP/1.1\r\nhost: localhost\r\n\r\n', 405, 'method_not_allowed'],
    ['TRACE', 'TRACE /items/1 HTTP/1.1\r\nhost: localhost\r\n\r\n', 405, 'method_not_allowed'],
    ['no Host', 'GET /items/1 HTTP/1.1\r\n\r\n', 400, 'bad_request'],
    ['no HTTP', 'hello\r\n\r\n', 400, 'bad_request'],
    [
      'two lengths',
      'POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'bad_request',
    ],
    ['a header with a line break folded in', get('/items/1', 'x: a\r\n b\x00\r\n'), 400, 'bad_request'],
    ['another expectation', get('/items/1', 'expect: tea\r\n'), 417, 'expectation_failed'],
  ];
  for (const [name, request, status, code] of cases) {
    const answer = await raw(port, request);
    t.equal(answer.status, status, `${name}: ${answer.status} ${answer.body.slice(0, 300)}`);
    t.match(answer.head, /content-type: application\/problem\+json/, `${name}: media type`);
    t.match(answer.head, /content-security-policy: default-src 'none'/, `${name}: security headers`);
    t.match(answer.head, /strict-transport-security/, `${name}: HTTPS only`);
    const body = answer.body === '' ? {} : (JSON.parse(answer.body) as Record<string, unknown>);
    t.match(
      body,
      { status, code, type: `https://parallax.example/docs/problems#${code}`, request_id: /^[0-9a-f-]{36}$/ },
      name,
    );
    t.notMatch(answer.body, /node_modules|\bat .*\.[jt]s:/, `${name}: no stack`);
    if (status === 405) t.match(answer.head, /allow: /, `${name}: Allow`);
  }
});

void t.test('a request that names another host is refused, whatever it asks for', async (t) => {
  const { port } = await start(t, undefined, {
    allowedHosts: ['inner.example', '2001:db8::7'],
    corsOrigins: ['https://other.example'],
  });
  const at = (host: string, target = '/items/1', more = ''): string =>
    `GET ${target} HTTP/1.1\r\nhost: ${host}\r\n${more}\r\n`;
  const strangers = [
    'evil.example',
    'evil.example:8080',
    'parallax.example.evil.example',
    '127.0.0.1.evil.example',
    '127.evil.example',
    'localhost.evil.example',
    '198.51.100.1',
    '2130706433.evil',
    '[2001:db8::8]:8080',
    '[::1].evil.example',
    'localhost@evil.example',
    'evil.example, localhost',
    'a b',
    '',
  ];
  const refused = { status: 421, body: /"code":"misdirected_request"/ };
  for (const host of strangers) t.match(await raw(port, at(host)), refused, JSON.stringify(host));
  t.match(await raw(port, at('evil.example', '/nothing')), refused, 'a path that is none');
  t.match(await raw(port, at('evil.example', '/openapi.json')), refused, 'a document');
  t.match(await raw(port, at('evil.example', '/items/1', 'x-forwarded-host: localhost\r\n')), refused, 'forwarded');
  const preflight =
    'OPTIONS /items/1 HTTP/1.1\r\nhost: evil.example\r\norigin: https://other.example\r\naccess-control-request-method: GET\r\n\r\n';
  t.match(await raw(port, preflight), { status: 421 }, 'a preflight');
  const own = [
    'localhost',
    'LOCALHOST:1',
    'localhost.',
    '127.0.0.1',
    '127.8.9.1:80',
    '[::1]:8080',
    'parallax.example',
    'Parallax.Example:443',
    'inner.example:8080',
    '[2001:DB8:0::7]',
  ];
  for (const host of own) t.match(await raw(port, at(host)), { status: 200 }, host);
  t.match(await raw(port, 'GET /items/1 HTTP/1.0\r\n\r\n'), { status: 200 }, 'HTTP 1.0 knows no such header');
});

void t.test('the address that was dialled is a host of its own', async (t) => {
  const known = new Set(['parallax.example']);
  t.ok(isKnownHost('192.0.2.7:8080', known, '192.0.2.7'));
  t.ok(isKnownHost('192.0.2.7', known, '::ffff:192.0.2.7'), 'as a socket of both families names it');
  t.ok(isKnownHost('[2001:db8::7]:8080', known, '2001:db8::7'));
  t.notOk(isKnownHost('192.0.2.8', known, '192.0.2.7'));
  t.notOk(isKnownHost('192.0.2.7', known, undefined));
  const outside = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  const address = outside.find(({ internal, family }) => !internal && family === 'IPv4')?.address ?? '127.0.0.1';
  const { app } = await start(t, undefined, {}, '0.0.0.0');
  const bound = app.server.address() as AddressInfo;
  t.equal((await fetch(`http://${address}:${bound.port}/items/1`)).status, 200, `dialled as ${address}`);
});

void t.test('input within the bounds is taken with its defaults', async (t) => {
  const { port } = await start(t);
  const taken: [string, string | Buffer, number, unknown][] = [
    ['defaults', get('/items/7'), 200, { id: 7, page: 1, deep: false }],
    ['given', get('/items/100?page=10000&deep=true'), 200, { id: 100, page: 10_000, deep: true }],
    ['a URL of 2,048 characters', get(`/items/1?x=${'a'.repeat(2_048 - 11)}`), 200, { id: 1 }],
    [
      'a body in UTF-8',
      post('{"name":"ü😀"}', 'content-type: application/json; charset=UTF-8\r\n'),
      200,
      { name: 'ü😀' },
    ],
    ['a byte order mark', post('\ufeff{"name":"a"}'), 200, { name: 'a' }],
  ];
  for (const [name, request, status, body] of taken) {
    const answer = await raw(port, request);
    t.equal(answer.status, status, `${name}: ${answer.body}`);
    t.match(JSON.parse(answer.body), body, name);
  }
  t.notMatch((await raw(port, post('{"name":"a"}'))).body, /kept back/, 'what the contract does not name stays here');
  for (const body of ['', 'null', '{}']) {
    const request = `DELETE /items/1 HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    t.equal((await raw(port, request)).status, 204, `a route without a body takes ${body || 'an empty one'}`);
  }
  const form =
    'DELETE /items/1 HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: 0\r\n\r\n';
  t.equal((await raw(port, form)).status, 204, 'the type of an empty body does not matter');
});

void t.test('every fault of a request is listed with its place and code', async (t) => {
  const { url } = await start(t);
  const response = await fetch(`${url}/echo`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"name":"too long","list":[1,"2"]}',
  });
  const body = (await response.json()) as { errors: unknown };
  t.match(body.errors, [
    { in: 'body', path: '/name', code: 'too_big' },
    { in: 'body', path: '/list/1', code: 'invalid_type' },
  ]);
  const both = (await (await fetch(`${url}/items/0?page=0&deep=no`)).json()) as {
    errors: { in: string; path: string }[];
  };
  t.same(
    both.errors.map((error) => `${error.in} ${error.path}`),
    ['path /id', 'query /page', 'query /deep'],
  );
});

void t.test('HEAD answers like GET without a body, OPTIONS names the methods', async (t) => {
  const { port, url } = await start(t);
  const head = await fetch(`${url}/items/1`, { method: 'HEAD' });
  t.equal(head.status, 200);
  t.equal(await head.text(), '');
  const options = await raw(port, 'OPTIONS /items/1 HTTP/1.1\r\nhost: localhost\r\n\r\n');
  t.equal(options.status, 204);
  t.match(options.head, /allow: .*get.*delete|allow: .*delete.*get/);
});

void t.test(
  'a fault of ours is a 500 that tells nothing and is logged; a database that is away is a 503',
  async (t) => {
    const { log, lines } = keptLog();
    const refused = Object.assign(new Error('connect ECONNREFUSED'), {
      code: 'ECONNREFUSED',
      syscall: 'connect',
      address: '127.0.0.1',
    });
    const faults: [string, unknown, number][] = [
      ['a bug', new TypeError('secret detail of users.ts'), 500],
      ['a statement', Object.assign(new Error('syntax error at or near "selec"'), { code: '42601' }), 500],
      ['no connection', refused, 503],
      ['no connection, wrapped', new Error('wrapped', { cause: refused }), 503],
      ['a restart', Object.assign(new Error('terminating connection'), { code: '57P01' }), 503],
      [
        'a slow statement',
        Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' }),
        503,
      ],
      ['a deadlock', Object.assign(new Error('deadlock detected'), { code: '40P01' }), 503],
      [
        'a missing file',
        Object.assign(new Error('ENOENT: open'), { code: 'ENOENT', syscall: 'open', path: '/x' }),
        500,
      ],
      ['a wrong answer', undefined, 500],
      ['something thrown that is no error', 'text', 500],
      ['a framework error', Object.assign(new Error('FST text'), { statusCode: 400 }), 400],
      ['a problem', new Problem('conflict', 'mine'), 409],
    ];
    let present: unknown;
    const { url } = await start(
      t,
      async () => {
        if (present === undefined) return { ok: 'not a boolean' };
        throw present;
      },
      { log },
    );
    for (const [name, fault, status] of faults) {
      present = fault;
      const response = await fetch(`${url}/fault`);
      const text = await response.text();
      t.equal(response.status, status, `${name}: ${text}`);
      t.notMatch(text, /secret detail|selec|FST text|users\.ts|not a boolean/, `${name}: nothing of ours`);
      t.equal(response.headers.has('retry-after'), status === 503, `${name}: Retry-After`);
    }
    t.ok(
      lines.some((line) => JSON.stringify(line).includes('secret detail')),
      'the log has it',
    );
  },
);

void t.test('a request that never ends is cut off in time', async (t) => {
  const { port } = await start(t, undefined, {
    limits: { headersTimeoutMs: 200, requestTimeoutMs: 400, checkingIntervalMs: 50 },
  });
  const started: Record<string, string> = {
    headers: 'GET /items/1 HTTP/1.1\r\nhost: localhost\r\nx-slow: ',
    body: 'POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{',
  };
  for (const [what, text] of Object.entries(started)) {
    const { result, late } = await lateness(1_500, () => raw(port, text));
    t.equal(result.status, 408, what);
    t.ok(late < 0, `${what}: soon`);
  }
});

void t.test('hanging connections of one address give way to its new ones, and to no more than the cap', async (t) => {
  const { port, url, app } = await start(t, undefined, { limits: { connections: { perAddress: 5, total: 50 } } });
  const hanging = Array.from({ length: 12 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
  t.teardown(() => hanging.forEach((socket) => socket.destroy()));
  await Promise.all(hanging.slice(0, 7).map((socket) => once(socket, 'close')));
  const count = await new Promise<number>((resolve) => app.server.getConnections((_error, open) => resolve(open)));
  t.ok(count <= 5, `${count} open`);
  t.equal((await fetch(`${url}/items/1`)).status, 200, 'a new request is answered');
});

void t.test('connections that are being answered are not cut for new ones', async (t) => {
  const held = Promise.withResolvers<void>();
  const full = Promise.withResolvers<void>();
  let inside = 0;
  const { port } = await start(
    t,
    async () => {
      inside += 1;
      if (inside === 2) full.resolve();
      await held.promise;
      return { ok: true };
    },
    { limits: { connections: { perAddress: 2, total: 50 } } },
  );
  const served = [raw(port, get('/fault')), raw(port, get('/fault'))];
  await full.promise;
  const extra = connect(port, '127.0.0.1').on('error', () => undefined);
  await once(extra, 'close');
  held.resolve();
  t.same(
    (await Promise.all(served)).map((answer) => answer.status),
    [200, 200],
  );
});

void t.test('the documents are served with a policy under which they work', async (t) => {
  const { url } = await start(t);
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as { openapi: string };
  t.equal(document.openapi, '3.1.0');
  const page = await fetch(`${url}/docs/`);
  const html = await page.text();
  t.equal(page.status, 200);
  t.match(page.headers.get('content-security-policy'), /script-src 'self';/);
  t.notMatch(html, /<script(?![^>]*src=)/, 'no inline script that the policy would stop');
  for (const [, source] of html.matchAll(/(?:src|href)="\.?([^"]+)"/g)) {
    const asset = await fetch(`${url}/docs${source}`);
    await asset.arrayBuffer();
    t.equal(asset.status, 200, `/docs${source}`);
  }
  const list = await (await fetch(`${url}/docs/problems`)).text();
  for (const code of Object.keys(problems)) t.match(list, `id="${code}"`, code);
  for (const code of Object.keys(inputErrors)) t.match(list, `id="input-${code}"`, code);
});

void t.test('a name that is no file of the documents is not found, whatever it is made of', async (t) => {
  const { log, lines } = keptLog();
  const { port } = await start(t, undefined, { log });
  lines.length = 0;
  for (const name of [
    '../package.json',
    '..',
    '%2e%2e/index.html',
    '..%2f..%2fpackage.json',
    '%00',
    'index.css%00.html',
    '%5c',
    '..%5cindex.html',
    '%2e%2e%5c%2e%2e%5cpackage.json',
    'a/b',
    '',
    '.',
    'x'.repeat(1_500),
  ]) {
    for (const prefix of ['/docs/static/', '/docs/%73tatic/']) {
      const answer = await raw(port, get(prefix + name));
      t.equal(answer.status, 404, `${prefix}${name.slice(0, 40)}`);
      t.equal((JSON.parse(answer.body) as { code: string }).code, 'not_found');
    }
  }
  t.equal((await raw(port, get('/docs/static/index.css'))).status, 200);
  t.same(lines, [], 'nothing is logged of it');
});

/** Sends bytes on one connection and reads until the server closes it. */
async function exchange(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(text);
  await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}

void t.test('a good request is answered although a bad one follows it on its connection', async (t) => {
  for (const [what, second, status] of [
    ['no HTTP', 'this is no HTTP\r\n\r\n', 400],
    ['an unknown method', 'BREW /items/1 HTTP/1.1\r\nhost: x\r\n\r\n', 405],
    ['headers that are too large', get('/items/1', `x: ${'x'.repeat(20_000)}\r\n`), 431],
    ['an expectation', get('/items/1', 'expect: a miracle\r\n'), 417],
    [
      'a body that is wrongly framed',
      post('x')
        .toString()
        .replace(/content-length: 1/, 'transfer-encoding: chunked'),
      0,
    ],
    ['a request that never ends', 'GET /items/1 HTTP/1.1\r\nhost: x\r\nx-slow: ', 408],
  ] as const) {
    const inside = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const { port, app } = await start(
      t,
      async () => {
        inside.resolve();
        await held.promise;
        return { ok: true };
      },
      { limits: { headersTimeoutMs: 200, requestTimeoutMs: 400, checkingIntervalMs: 50 } },
    );
    const refused = once(app.server, status === 417 ? 'checkExpectation' : 'clientError');
    const answers = exchange(port, get('/fault') + second);
    await Promise.all([inside.promise, refused]);
    held.resolve();
    const text = await answers;
    t.match(text, /^HTTP\/1.1 200 OK\r\n[^]*\{"ok":true\}/, what);
    const rest = text.slice(text.indexOf('{"ok":true}') + '{"ok":true}'.length);
    if (status === 0) t.equal(rest, '', what);
    else t.match(rest, new RegExp(`^HTTP/1.1 ${status} [^]*"status":${status}`), what);
    t.equal(rest.split('HTTP/1.1').length, status === 0 ? 1 : 2, `${what} is answered once`);
  }
});

void t.test('a server that is stopping says so', async (t) => {
  const inside = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const { app, port } = await start(t, async () => {
    inside.resolve();
    await held.promise;
    return { ok: true };
  });
  const served = raw(port, get('/fault'));
  await inside.promise;
  const late = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  late.on('data', (chunk: Buffer) => chunks.push(chunk));
  const [first, rest] = [get('/items/1').slice(0, 20), get('/items/1').slice(20)];
  late.write(first);
  const connections = (): Promise<number> =>
    new Promise((resolve) => app.server.getConnections((_error, open) => resolve(open)));
  while ((await connections()) < 2) await new Promise(setImmediate);
  // One turn more, so that the server has read the first half.
  await fetch(`http://127.0.0.1:${port}/items/1`, { headers: { connection: 'close' } });
  const closed = app.close();
  late.write(rest);
  await once(late, 'close');
  held.resolve();
  t.equal((await served).status, 200, 'what was begun is answered');
  await closed;
  t.match(Buffer.concat(chunks).toString(), /^HTTP\/1.1 503[\s\S]*connection: close[\s\S]*"unavailable"/i);
});

void t.test('a connection of a client that would keep it is closed behind the answer that was under way', async (t) => {
  const inside = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const { app, url } = await start(t, async () => {
    inside.resolve();
    await held.promise;
    return { ok: true };
  });
  const under = fetch(`${url}/fault`);
  await inside.promise;
  const closed = app.close();
  // The close has begun when a new connection is refused.
  while (app.server.listening) await new Promise(setImmediate);
  held.resolve();
  const answer = await under;
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('connection'), 'close');
  await answer.text();
  await closed;
});
