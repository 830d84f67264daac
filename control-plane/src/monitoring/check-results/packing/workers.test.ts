import pg from 'pg';
import t from 'tap';
import { hourMs } from './hours.ts';
import { whilePacking } from './queries.ts';
import { noonMs, round, rowsOf, sameAsRows, settledMs } from './testing/steps.ts';
import { packingWorld } from './testing/world.ts';

t.test('several workers at once, killed again and again, pack everything once', async (t) => {
  const w = await packingWorld(t, { atMs: noonMs, count: 40, shards: 2 });
  const other = await w.add(20, { shard: 1 });
  await w.store(rowsOf({ ...w, monitors: [...w.monitors, ...other] }, noonMs, noonMs + 3 * hourMs));
  for (const shard of [0, 1]) await w.foldUntil(noonMs + 12 * hourMs + settledMs, shard);
  // Batches of one monitor, so that there are many moments to be killed in.
  await w.pool.query('update monitors set interval_seconds = 1 where id % 2 = 0');
  const pools = [0, 1, 2].map(() => new pg.Pool({ connectionString: w.urls.worker, application_name: 'packer' }));
  for (const pool of pools) {
    pool.on('error', () => undefined);
    pool.on('connect', (client) => client.on('error', () => undefined));
  }
  t.teardown(() => Promise.all(pools.map((pool) => pool.end())));
  let kills = 0;
  const over = new AbortController();
  const killing = (async () => {
    while (!over.signal.aborted) {
      const done = await w.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'packer' and datname = current_database()`,
      );
      kills += done.rows.length;
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
  })();
  const late = rowsOf(w, noonMs + 30 * 60_000, noonMs + 90 * 60_000, 3);
  for (let turn = 0; turn < 12; turn += 1) {
    await Promise.all(pools.map((pool) => w.pack({ pool }).catch(() => undefined)));
    if (turn % 3 === 0) await round(w, late.splice(0, 500));
  }
  over.abort();
  await killing;
  t.ok(kills > 5, `${kills} kills`);
  await Promise.all(pools.map((pool) => w.pack({ pool })));
  await w.pack();
  await sameAsRows(t, w, 'after all');
  t.equal(await w.count('packing_jobs'), 0);
  t.equal(await w.count('stale_hours'), 0);
  t.equal(await w.count('result_days'), 120, 'every monitor and probe');
});

t.test('while one packs a shard another one finds it busy', async (t) => {
  const w = await packingWorld(t, { atMs: noonMs });
  const found = await whilePacking(w.pool, 0, () => whilePacking(w.pool, 0, () => Promise.resolve('both')));
  t.equal(found, undefined);
  t.equal(await whilePacking(w.pool, 0, () => whilePacking(w.pool, 1, () => Promise.resolve('other'))), 'other');
});
