import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { postgresOwner, startPostgres } from '@parallax/embedded';
import { quietLog } from '@parallax/testkit';
import t from 'tap';
import { z } from 'zod';
import { testContext } from '../../identity/testing.ts';
import { createSealer } from '../../platform/crypto/seal.ts';
import { migrate } from '../../platform/database/migrate.ts';
import { openDatabase, sql } from '../../platform/database/pools.ts';
import { webhooksSubject } from '../../platform/bus/subjects.ts';
import { createOutboundClients } from '../../platform/outbound-http/index.ts';
import { loopBus } from '../../testing/loop-bus.ts';
import { startWebhooks } from './job.ts';
import { leaseMs } from './sending/claim.queries.ts';
import { insertHooks, loopback, startReceiver, storeEvents } from './testing.ts';

/** `PARALLAX_WEBHOOK_DATABASE_KILLS=30` for the long form. */
const kills = Number(process.env['PARALLAX_WEBHOOK_DATABASE_KILLS'] ?? 3);

t.setTimeout(120_000 + kills * 30_000);

void t.test('a database that is killed while webhooks are sent loses nothing that was stored', async (t) => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'parallax-hooks-'));
  // PostgreSQL runs under another account where this one is root.
  chmodSync(dataDir, 0o711);
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  const start = () => startPostgres({ dataDir, durable: true, log: quietLog });
  let postgres = await start();
  t.teardown(() => postgres.stop());
  const login = (user: string) => postgres.url('postgres', user);
  const urls = { owner: login(postgresOwner), api: login('parallax_api'), worker: login('parallax_worker') };
  await migrate(urls.owner);
  const database = await openDatabase(urls, { api: 1, worker: 6 });
  t.teardown(() => database.close());
  const pool = database.worker;
  const sealer = createSealer(randomBytes(32));
  const receiver = await startReceiver(t);
  // Late enough for answers to come while the database is away.
  receiver.answer = (_request, response) => void setTimeout(() => response.end(), 20);
  const hooks = ['a', 'b', 'c', 'd'];
  const { workspaceId } = await insertHooks(
    pool,
    sealer,
    hooks.map((name) => ({ name, url: `${receiver.url}/${name}` })),
  );

  let aheadMs = 0;
  const bus = loopBus();
  const now = () => Date.now() + aheadMs;
  const denied: readonly never[] = [];
  const outbound = createOutboundClients({
    allowedPrivateTargets: loopback,
    deniedListeners: () => denied,
    now,
    version: '0.0.0',
  });
  const service = await startWebhooks(testContext(database, { bus, now, sealer, outbound }), quietLog);
  t.teardown(() => service.stop());

  for (let kill = 0; kill < kills; kill += 1) {
    const before = receiver.received.length;
    await storeEvents(
      pool,
      workspaceId,
      Array.from({ length: 30 }, (_, index) => ({ subjectId: kill * 100 + index + 1 })),
    );
    bus.hint(webhooksSubject, {});
    // Somewhere in the middle of them, each time somewhere else.
    while (receiver.received.length < before + 10 + 7 * kill) await sleep(2);
    process.kill(postgres.pid, 'SIGKILL');
    await postgres.exited;
    postgres = await start();
  }
  // What goes on by itself does so until nothing comes any more; the rest was claimed by a transaction whose end was not heard of.
  const states = z.object({ waiting: z.number(), leased: z.number() });
  const look = () =>
    pool.one(sql.type(states)`
      select count(*)::integer as waiting, count(leased_by)::integer as leased from webhook_deliveries where state = 'queued'`);
  for (let lastMs = Date.now(), last = ''; ; await sleep(50)) {
    const { waiting, leased } = await look().catch(() => ({ waiting: -1, leased: -1 }));
    if (waiting === 0) break;
    const seen = `${waiting} ${leased}`;
    if (seen !== last) lastMs = Date.now();
    last = seen;
    bus.hint(webhooksSubject, {});
    if (waiting === leased && Date.now() - lastMs > 3_000) {
      aheadMs += leaseMs + 1_000;
      lastMs = Date.now();
    }
  }
  const stored = await pool.anyFirst(sql.type(z.object({ event_id: z.string() }))`select event_id from events`);
  t.ok(stored.length >= kills * 30);
  const arrived = receiver.received.map(({ headers, path: at }) => `${at.at(-1)} ${String(headers['webhook-id'])}`);
  t.same(new Set(arrived), new Set(hooks.flatMap((hook) => stored.map((id) => `${hook} ${id}`))));
  // The process that sends has lived on: what it could not note while the database was away it noted afterwards.
  t.equal(arrived.length, stored.length * hooks.length, 'nothing was sent twice');
});
