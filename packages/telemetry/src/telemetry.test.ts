import { EventEmitter } from 'node:events';
import t from 'tap';
import { createLogger, createShutdown, isSecretKey, readableLine } from './index.ts';
import { createMetrics } from './metrics.ts';

const canary = 'CANARY-7f3a';

function capture() {
  const lines: string[] = [];
  const log = createLogger({
    name: 'test',
    level: 'debug',
    destination: { write: (line: string) => lines.push(line) },
  });
  return { log, lines, fields: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

t.test('lines are JSON with time, level word, program and fields', (t) => {
  const { log, fields } = capture();
  log.child({ capability: 'ingest' }).child({ shard: 1 }).warn({ rows: 3n }, 'stored');
  log.trace('not shown');
  t.match(fields(), [
    {
      level: 'warn',
      name: 'test',
      capability: 'ingest',
      shard: 1,
      rows: '3',
      msg: 'stored',
      time: /^\d{4}-\d\d-\d\dT/,
    },
  ]);
  t.end();
});

t.test('secrets are redacted in fields, nested objects, children, errors, causes and URLs', (t) => {
  const { log, lines } = capture();
  const error = Object.assign(new Error(`connect postgresql://u:${canary}@host/db`), {
    token: canary,
    cause: { password: canary },
  });
  const cyclic: Record<string, unknown> = { authorization: canary };
  cyclic['self'] = cyclic;
  log.info({ password: canary, request: { headers: { cookie: canary, 'x-api-key': canary } } }, 'a');
  log
    .child({ joinToken: canary })
    .child({ nats: { seed: canary } })
    .info('b');
  log.error({ err: error }, 'c');
  log.error(error);
  log.info(
    { cyclic, list: [{ private_key: canary }], map: new Map([['refresh_token', canary]]) },
    `d nats://u:${canary}@h`,
  );
  t.equal(lines.length, 5);
  t.notMatch(lines.join(''), canary);
  t.match(lines[2], /"type":"Error","message":"connect postgresql:\/\/u:\[redacted\]@host\/db"/);
  t.end();
});

t.test('only keys that name a secret count', (t) => {
  for (const key of [
    'password',
    'clientSecret',
    'x-secret',
    'X-API-Key',
    'private_key_pem',
    'refreshToken',
    'set-cookie',
  ])
    t.ok(isSecretKey(key), key);
  for (const key of ['key', 'tokens', 'tokenId', 'public_key', 'secretFields', 'monitor', 'cookies'])
    t.notOk(isSecretKey(key), key);
  t.end();
});

t.test('a line for people has clock, level, program, text and fields', (t) => {
  const line = '{"level":"info","time":"2026-01-02T03:04:05.000Z","name":"up","port":8080,"msg":"ready"}\n';
  t.equal(readableLine(line), '03:04:05 info  up: ready port=8080\n');
  t.equal(readableLine('no json'), 'no json');
  t.end();
});

t.test('metrics are served at /metrics and nowhere else', async (t) => {
  const metrics = createMetrics({ program: 'test' });
  const listener = await metrics.listen({ port: 0 });
  t.teardown(() => listener.close());
  const answer = await fetch(`http://127.0.0.1:${listener.port}/metrics`);
  t.match(await answer.text(), /process_cpu_seconds_total\{program="test"\}/);
  t.equal((await fetch(`http://127.0.0.1:${listener.port}/`)).status, 404);
  await t.rejects(metrics.listen({ port: listener.port }), { code: 'EADDRINUSE' });
});

t.test('pages are served beside the metrics, to GET alone and with their own status', async (t) => {
  const metrics = createMetrics({ program: 'test' });
  const listener = await metrics.listen({
    port: 0,
    pages: new Map([
      ['/health', async () => ({ status: 503, contentType: 'application/json', body: '{"status":"failing"}' })],
      ['/broken', () => Promise.reject(new Error('no page'))],
    ]),
  });
  t.teardown(() => listener.close());
  const base = `http://127.0.0.1:${listener.port}`;
  const answer = await fetch(`${base}/health?deep`);
  t.equal(answer.status, 503);
  t.equal(answer.headers.get('content-type'), 'application/json');
  t.same(await answer.json(), { status: 'failing' });
  t.equal((await fetch(`${base}/metrics`)).status, 200);
  t.equal((await fetch(`${base}/broken`)).status, 500);
  for (const [method, path] of [
    ['POST', '/health'],
    ['GET', '/health/'],
    ['GET', '/'],
  ] as const)
    t.equal((await fetch(base + path, { method })).status, 404, `${method} ${path}`);
});

t.test('a signal stops in reverse order of registration, once', async (t) => {
  const signals = new EventEmitter();
  const { log } = capture();
  const order: string[] = [];
  const code = await new Promise<number>((exit) => {
    const shutdown = createShutdown({ log, signals, exit });
    shutdown.onShutdown('first', () => order.push('first'));
    shutdown.onShutdown('second', async () => {
      await Promise.resolve();
      order.push('second');
    });
    shutdown.signal.addEventListener('abort', () => order.push('abort'));
    signals.emit('SIGINT');
    signals.emit('SIGINT');
    signals.emit('SIGTERM');
  });
  t.equal(code, 0);
  t.same(order, ['abort', 'second', 'first']);
});

t.test(
  'a failing step does not keep the others from stopping, a hanging one is given up at the deadline',
  async (t) => {
    const { log, fields } = capture();
    const order: string[] = [];
    const failing = createShutdown({ log, signals: new EventEmitter() });
    failing.onShutdown('last', () => order.push('last'));
    failing.onShutdown('broken', () => Promise.reject(new Error('no')));
    t.equal(await failing.stop('test'), false);
    t.same(order, ['last']);

    const hanging = createShutdown({ log, signals: new EventEmitter(), deadlineMs: 20 });
    hanging.onShutdown('never reached', () => order.push('wrong'));
    hanging.onShutdown('hangs', () => new Promise(() => {}));
    t.equal(await hanging.stop('test'), false);
    t.match(fields().at(-1), { step: 'hangs', notBegun: ['never reached'] });
    t.same(order, ['last']);
  },
);
