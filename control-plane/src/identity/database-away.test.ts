import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { deepHealthRoute, route } from '@parallax/api-contract';
import t from 'tap';
import type { Test } from 'tap';
import { z } from 'zod';
import { openDatabase, sql } from '../platform/database/pools.ts';
import { testDatabase } from '../platform/database/testing.ts';
import { createHealthCapability } from '../platform/health/index.ts';
import { handle } from '../platform/http/handler.ts';
import { buildHttpServer } from '../platform/http/server.ts';
import { createRequestGuards } from './access/index.ts';
import { authCapability } from './auth/index.ts';
import { signInCapability } from './sign-in/index.ts';
import { testApi, testContext } from './testing.ts';
import type { TestApi, TestCall } from './testing.ts';

/** The database behind a relay that can be cut and closed, as when it restarts or is away. */
async function relayedApi(t: Test): Promise<{ api: TestApi; relay: Relay }> {
  const { urls } = await testDatabase(t);
  const folder = decodeURIComponent(/@([^/]+)\//.exec(urls.api)?.[1] ?? '');
  const relay = await startRelay(t, path.join(folder, '.s.PGSQL.5432'));
  const through = (url: string): string => url.replace(/@[^/]+\//, `@${encodeURIComponent(relay.folder)}/`);
  const database = await openDatabase(
    { owner: urls.owner, api: through(urls.api), worker: through(urls.worker) },
    { api: 4, worker: 2 },
  );
  t.teardown(() => database.close());
  const health = createHealthCapability({ readModels: [async () => ({ looked: 0, wrong: 0 })] });
  return { api: await testApi(t, { database, capabilities: [authCapability, signInCapability, health] }), relay };
}

type Relay = {
  readonly folder: string;
  /** Cuts every connection. */
  readonly cut: () => void;
  /** Cuts every connection and takes no new one. */
  readonly close: () => Promise<void>;
  readonly open: () => Promise<void>;
};

async function startRelay(t: Test, target: string): Promise<Relay> {
  const folder = await mkdtemp(path.join(tmpdir(), 'relay-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream).pipe(client);
  });
  const cut = (): void => sockets.forEach((socket) => socket.destroy());
  const open = async (): Promise<void> => {
    server.listen(path.join(folder, '.s.PGSQL.5432'));
    await once(server, 'listening');
  };
  const close = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    cut();
    await closed;
  };
  await open();
  t.teardown(async () => {
    if (server.listening) await close();
  });
  return { folder, cut, close, open };
}

async function untilHealed(api: TestApi, token: string): Promise<number> {
  const deadline = performance.now() + 10_000;
  let status = 0;
  while (status !== 200 && performance.now() < deadline)
    status = (await api.call('GET', '/api/v1/auth/me', { token })).status;
  return status;
}

void t.test('while the database is away every route that needs it answers 503, and afterwards it heals', async (t) => {
  const { api, relay } = await relayedApi(t);
  const account = await api.account('ada@example.com');
  await relay.close();
  const body = { email: account.email, password: account.password };
  const cases: [method: string, path: string, call: TestCall][] = [
    ['POST', '/api/v1/auth/login', { body }],
    ['POST', '/api/v1/auth/register', { body }],
    ['POST', '/api/v1/auth/refresh', { body: { refresh_token: account.refreshToken } }],
    ['GET', '/api/v1/auth/me', { token: account.accessToken }],
    ['POST', '/api/v1/auth/logout/all', { token: account.accessToken }],
  ];
  for (const [method, target, call] of cases) {
    const answer = await api.call(method, target, call);
    t.match(answer, { status: 503, body: { code: 'unavailable' } }, target);
    t.match(answer.headers.get('retry-after'), /^\d+$/, target);
    t.notMatch(JSON.stringify(answer.body), /ENOENT|ECONN|relay/, 'no address of ours');
  }
  for (const target of ['/health', '/health/readiness', '/health/deep']) {
    t.match(
      await api.call('GET', target),
      { status: 503, body: { status: 'failing', database: { status: 'failing' } } },
      target,
    );
  }
  t.equal((await api.call('GET', '/health/liveness')).status, 200, 'the process lives');
  await relay.open();
  t.equal(await untilHealed(api, account.accessToken), 200);
});

void t.test('connections that are cut under requests cost at most a 503', async (t) => {
  const { api, relay } = await relayedApi(t);
  const { accessToken: token } = await api.account('ada@example.com');
  const seen: number[] = [];
  for (let round = 0; round < 8; round += 1) {
    const requests = Array.from({ length: 10 }, () => api.call('GET', '/api/v1/auth/me', { token }));
    await requests[round];
    relay.cut();
    seen.push(...(await Promise.all(requests)).map((answer) => answer.status));
  }
  t.same(
    seen.filter((status) => status !== 200 && status !== 503),
    [],
    seen.join(),
  );
  t.ok(seen.includes(503), 'some were hit');
  t.equal(await untilHealed(api, token), 200);
});

void t.test('a statement that takes too long is a 503', async (t) => {
  const sleepRoute = route({
    method: 'GET',
    path: '/sleep',
    credentials: 'none',
    tag: 'test',
    summary: 'test',
    success: { status: 200, answer: z.object({}) },
  });
  const api = await testApi(t, {
    routes: ({ database }) => [
      handle(sleepRoute, async () =>
        database.api.transaction(async (transaction) => {
          await transaction.query(sql.unsafe`set local statement_timeout = 50`);
          await transaction.query(sql.unsafe`select pg_sleep(10)`);
          return {};
        }),
      ),
    ],
  });
  t.match(await api.call('GET', '/sleep'), { status: 503, body: { code: 'unavailable' } });
});

void t.test('health tells what is well and what is not', async (t) => {
  const { database } = await testDatabase(t);
  let brokerAnswers = true;
  const bus = {
    connection: {
      flush: async () => {
        if (!brokerAnswers) throw new Error('the broker is away');
      },
    },
  } as unknown as ReturnType<typeof testContext>['bus'];
  let nowMs = Date.now();
  let sample = { looked: 3, wrong: 0 };
  const context = testContext(database, { bus, now: () => nowMs });
  const health = createHealthCapability({ readModels: [async () => sample] });
  const app = await buildHttpServer(health.routes?.(context) ?? [], {
    log: context.log,
    publicUrl: context.publicUrl,
    trustedProxies: [],
    ...createRequestGuards(context),
  });
  t.teardown(() => app.close());
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const get = async (path: string): Promise<{ status: number; body: unknown }> => {
    const response = await fetch(url + path);
    return { status: response.status, body: await response.json() };
  };
  for (const path of ['/health', '/health/readiness', '/health/deep', '/version']) {
    t.equal((await get(path)).status, 200, path);
  }
  t.match(await get('/health/deep'), {
    body: { ingest: { lag_seconds: null }, schema: { detail: 'as this program expects' } },
  });
  await database.worker.query(
    sql.unsafe`insert into shards (shard, owner, folded_until) values (0, 'me', now()) on conflict (shard) do update set owner = 'me', folded_until = now()`,
  );
  t.equal((await get('/health/deep')).status, 200, 'the ingest keeps up');
  nowMs += 61_000;
  t.match(await get('/health/deep'), { status: 503, body: { ingest: { status: 'failing', detail: 'is behind' } } });
  t.equal((await get('/health')).status, 200, 'which only the deep one sees');
  nowMs -= 61_000;
  brokerAnswers = false;
  const deep = await get('/health/deep');
  t.match(deep, { status: 503, body: { nats: { status: 'failing' }, database: { status: 'ok' } } });
  t.ok(deepHealthRoute.success.answer?.safeParse(deep.body).success, 'the same body as when all is well');
  brokerAnswers = true;
  await database.worker.query(sql.unsafe`update shards set owner = null`);
  t.match(await get('/health/deep'), { status: 503, body: { ingest: { detail: 'nobody ingests shard 0' } } });
  sample = { looked: 3, wrong: 1 };
  t.match(await get('/health/deep'), {
    status: 503,
    body: { read_models: { status: 'failing', detail: '1 of 3 differ from what they are made from' } },
  });
});
