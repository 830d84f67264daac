import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import t from 'tap';
import { z } from 'zod';
import { createSealer } from '../../platform/crypto/seal.ts';
import { sql } from '../../platform/database/pools.ts';
import { testDatabase } from '../../platform/database/testing.ts';
import { makeSigningPair, makeStandardSecret } from '../../platform/crypto/webhook-signature.ts';
import { sealSecrets } from './seal.ts';
import { leaseMs } from './sending/claim.queries.ts';
import { startReceiver, storeEvents } from './testing.ts';

/** `PARALLAX_WEBHOOK_KILLS=200` for the long form. */
const kills = Number(process.env['PARALLAX_WEBHOOK_KILLS'] ?? 20);

void t.test('workers that are killed lose nothing and repeat at most what was under way', async (t) => {
  const { urls, database } = await testDatabase(t);
  const pool = database.worker;
  const key = randomBytes(32);
  const receiver = await startReceiver(t);
  const userId = await pool.oneFirst(sql.typeAlias('id')`
    insert into users (email, password_hash, plan) values ('a@example.com', 'x', 'self_hosted') returning id`);
  const workspaceId = await pool.oneFirst(sql.typeAlias('id')`
    insert into workspaces (owner_id, name, ping_key) values (${userId}, 'w', 'key') returning id`);
  const hooks = [1, 2];
  for (const id of hooks) {
    const pair = makeSigningPair();
    const secrets = {
      url: receiver.url,
      headers: {},
      secret: makeStandardSecret(),
      key: pair.privateKey,
      previous: null,
    };
    await pool.query(sql.unsafe`
      insert into webhooks (id, workspace_id, maker_id, name, sealed, origin, header_names, public_key, events, covers_all, during_maintenance,
        signature, content)
      overriding system value
      values (${id}, ${workspaceId}, ${userId}, 'w', ${sql.binary(sealSecrets(createSealer(key), id, secrets))}, 'http://127.0.0.1', '{}',
        ${pair.publicKey}, '{*}', true, 'send', 'v1', 'full')`);
  }
  let child: ChildProcess | undefined;
  t.teardown(() => child?.kill('SIGKILL'));
  let killed = 0;
  receiver.answer = (_request, response) => {
    // It has arrived, and whoever sent it never learns of it.
    if (killed < kills && receiver.received.length % 3 === 1) {
      killed += 1;
      child?.kill('SIGKILL');
    } else response.end();
  };
  const ids = await storeEvents(
    pool,
    workspaceId,
    Array.from({ length: kills * 3 }, (_, index) => ({ subjectId: index + 1 })),
  );
  const wanted = ids.length * hooks.length;
  const left = () =>
    pool.oneFirst(sql.type(z.object({ n: z.number() }))`
      select count(*)::integer as n from webhook_deliveries where state <> 'delivered'`);
  let aheadMs = 0;
  while ((await left()) > 0) {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) {
      // What the dead one had claimed is free when its time is over.
      aheadMs += leaseMs + 1_000;
      const fixture = path.join(import.meta.dirname, 'killed.fixture.ts');
      child = spawn(process.execPath, [fixture, JSON.stringify(urls), key.toString('base64'), String(aheadMs)], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  t.equal(killed, kills);
  const arrived = receiver.received.map(({ headers }) => String(headers['webhook-id']));
  t.same([...new Set(arrived)].toSorted(), [...ids].toSorted(), 'each event has arrived, and nothing else');
  // Five of each webhook may be under way, and outcomes of the last 50 ms may be unnoted.
  const repetitions = arrived.length - wanted;
  t.ok(repetitions <= killed * hooks.length * 5, `${repetitions} repetitions after ${killed} kills`);
  t.comment(`${repetitions} repetitions after ${killed} kills, ${wanted} deliveries`);
});
