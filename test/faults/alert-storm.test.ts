import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import t from 'tap';
import { addMonitors, fail, startReceiver, tellTargets } from '../harness/alerting.ts';
import { signedIn, startProduct } from '../harness/product.ts';
import { openDatabaseOf } from './oracle.ts';

/* Very many monitors fail at once, each for a cause of its own: everybody concerned is told soon, and of all of it, and in a few messages. */

/** The longer run of all faults has 120 seconds for each of them. */
const isLong = Number(process.env['PARALLAX_FAULT_SECONDS'] ?? 0) >= 120;
const monitorCount = Number(process.env['PARALLAX_STORM_MONITORS'] ?? (isLong ? 10_000 : 1_000));
const teams = Array.from({ length: 10 }, (_, index) => `team-${index}`);
/** Who is concerned must know within a minute, of all of it. */
const knowsWithinMs = 60_000;
/** Then it is given up. */
const allWithinMs = 180_000;

void t.test(
  `when ${monitorCount} monitors fail at once, everybody concerned knows, in a few messages`,
  { timeout: 900_000 },
  async (t) => {
    const receiver = await startReceiver();
    const product = await startProduct({ PARALLAX_LOG_LEVEL: 'warn' });
    t.teardown(async () => {
      await product.stop();
      receiver.close();
    });
    const { api, workspaceId } = await signedIn(product.baseUrl);
    const events = ['monitor.down'];
    await tellTargets(api, workspaceId, 'webhook', receiver, [
      ...teams.map((name) => ({ name, scope: { tags: [name] }, events })),
      { name: 'everything', scope: { all: true }, events },
    ]);
    const pool = openDatabaseOf(product);
    t.teardown(() => pool.end());
    const monitors = await addMonitors(pool, workspaceId, 'shop', monitorCount, teams);

    const failedMs = await fail(pool, monitors);
    const targets = [...teams, 'everything'];
    await untilSent(pool, 2 * monitorCount, failedMs + allWithinMs);
    for (const target of targets) {
      const own = receiver.arrivals.filter((one) => one.target === target);
      const lastMs = (own.at(-1)?.atMs ?? Infinity) - failedMs;
      t.ok(lastMs < knowsWithinMs, `${target} knows of all after ${lastMs} ms`);
      const minutes = 1 + Math.floor(((own.at(-1)?.atMs ?? 0) - (own[0]?.atMs ?? 0)) / 60_000);
      const digests = own.filter(({ isDigest }) => isDigest);
      t.ok(digests.length <= minutes + 1, `${target} was sent ${digests.length} digests`);
      t.ok(own.length - digests.length <= 5 * (minutes + 1), `${target} was sent ${own.length} messages`);
      const told = own.reduce((sum, { count }) => sum + count, 0);
      t.equal(told, target === 'everything' ? monitorCount : monitorCount / teams.length, `${target} is told of each`);
      t.equal(new Set(own.map(({ id }) => id)).size, own.length, 'nothing arrives twice');
    }
  },
);

/** Until so many notifications of failures have been sent. */
async function untilSent(pool: pg.Pool, count: number, deadlineMs: number): Promise<void> {
  for (;;) {
    const { rows } = await pool.query<{ status: string; n: number }>(
      `select status, count(*)::integer as n from notifications where channel = 'webhook' group by status`,
    );
    if ((rows.find(({ status }) => status === 'sent')?.n ?? 0) >= count) return;
    if (Date.now() > deadlineMs) throw new Error(`not all is told: ${JSON.stringify(rows)}`);
    await delay(200);
  }
}
