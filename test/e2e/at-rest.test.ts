import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { openDatabaseOf } from '../faults/oracle.ts';
import { enrolAgent, signedIn, startProduct } from '../harness/product.ts';
import { eventually } from '../harness/processes.ts';
import type { Started } from '../harness/processes.ts';

/** What jobs do at their start is over after so long. */
const settlesMs = 12_000;
const watchedMs = 20_000;
/** Leases, signs of life and slow polls: measured at 8 a second; loops that asked whether there is work made 38 of it. */
const mostPerSecond = 12;

t.test('an installation that watches nothing leaves its database alone', { timeout: 120_000 }, async (t) => {
  const product = await startProduct();
  const started: Started[] = [];
  t.teardown(async () => {
    await Promise.all(started.map((one) => one.stop(4_000)));
    await product.stop();
  });
  const { api } = await signedIn(product.baseUrl);
  const agent = await enrolAgent(product, api, { name: 'one', region: 'eu' });
  started.push(agent.start());
  const pool = openDatabaseOf(product);
  t.teardown(() => pool.end());
  const transactions = async (): Promise<number> => {
    const { rows } = await pool.query<{ count: string }>(
      'select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()',
    );
    return Number(rows[0]?.count);
  };
  await eventually('a session of the probe', async () => {
    const { rowCount } = await pool.query('select from probe_sessions where closed_at is null');
    return rowCount === 1;
  });
  await sleep(settlesMs);
  const before = await transactions();
  await sleep(watchedMs);
  const perSecond = ((await transactions()) - before) / (watchedMs / 1_000);
  t.comment(`${perSecond.toFixed(1)} transactions a second`);
  t.ok(perSecond > 0, 'they are counted');
  t.ok(perSecond <= mostPerSecond, `${perSecond} transactions a second`);
});
