import pg from 'pg';
import t from 'tap';
import { dayMs, hourMs } from './hours.ts';
import { hourOf, noonMs, round, rowsOf, sameAsRows, settledMs, waiting } from './testing/steps.ts';
import { packingWorld } from './testing/world.ts';

t.test('a late result makes its hour stale; the hour and its day are packed again', async (t) => {
  const w = await packingWorld(t, { atMs: noonMs });
  await w.store(rowsOf(w, noonMs, noonMs + 2 * hourMs));
  await w.foldUntil(noonMs + 12 * hourMs + settledMs);
  await w.pack();
  const late = rowsOf(w, noonMs + 30 * 60_000, noonMs + 90 * 60_000, 2);
  await round(w, late);
  t.same(
    (await w.pool.query('select monitor_id, hour from stale_hours order by 1, 2')).rows,
    w.monitors.flatMap((monitor_id) => [0, 1].map((hour) => ({ monitor_id, hour: hourOf(noonMs) + hour }))),
  );
  await round(w, late.slice(0, 1));
  t.equal(await w.count('stale_hours'), 6, 'once for each');
  t.same(await w.pack({ settledSeconds: 60 }), { results: 0, chunks: 0, leftOut: 0 }, 'more may come soon');
  t.match(await w.pack(), { chunks: 12 });
  t.equal(await w.count('stale_hours'), 0);
  await sameAsRows(t, w, 'with what came late');
  await w.pool.query('select ensure_result_partitions($1, $1)', [new Date(noonMs + dayMs)]);
  await round(w, rowsOf(w, noonMs + 13 * hourMs, noonMs + 14 * hourMs));
  t.equal(await w.count('stale_hours'), 0, 'results of an hour that is not closed make nothing stale');
});

t.test('a result that is stored while its hour is packed again makes it stale anew', async (t) => {
  const w = await packingWorld(t, { atMs: noonMs, count: 1, probeCount: 1 });
  await w.store(rowsOf(w, noonMs, noonMs + 1_800_000));
  await w.foldUntil(noonMs + 12 * hourMs + settledMs);
  await w.pack();
  const [first, second] = rowsOf(w, noonMs + 1_800_000, noonMs + hourMs);
  if (first === undefined || second === undefined) throw new Error('there are no rows');
  await round(w, [first]);
  const pool = new pg.Pool({ connectionString: w.urls.worker, max: 1 });
  t.teardown(() => pool.end());
  const client = await pool.connect();
  const query = client.query.bind(client) as (...given: unknown[]) => unknown;
  let meanwhile: Promise<void> | undefined;
  // The results of the hour have been read; what was read is not written yet.
  const between = (...given: unknown[]): unknown => {
    if (typeof given[0] !== 'string' || !given[0].includes('delete from result_hours')) return query(...given);
    meanwhile ??= round(w, [second]);
    const settled = Promise.race([meanwhile, waiting(w)]);
    return settled.then(() => query(...given));
  };
  client.query = between as typeof client.query;
  client.release();
  await w.pack({ pool });
  await meanwhile;
  t.ok(meanwhile !== undefined);
  await w.pack();
  await sameAsRows(t, w, 'with both');
});

t.test('a stale hour is not packed while a round is under way that stores more results of it', async (t) => {
  const w = await packingWorld(t, { atMs: noonMs, count: 1, probeCount: 1 });
  await w.store(rowsOf(w, noonMs, noonMs + 1_800_000));
  await w.foldUntil(noonMs + 12 * hourMs + settledMs);
  await w.pack();
  const [first, second] = rowsOf(w, noonMs + 1_800_000, noonMs + hourMs);
  if (first === undefined || second === undefined) throw new Error('there are no rows');
  await round(w, [first]);
  const client = new pg.Client({ connectionString: w.urls.worker });
  await client.connect();
  t.teardown(() => client.end());
  const query = client.query.bind(client) as (...given: unknown[]) => unknown;
  const held = (...given: unknown[]): unknown =>
    given[0] === 'commit' ? w.pack().then(() => query('commit')) : query(...given);
  client.query = held as typeof client.query;
  await round(w, [second], client);
  t.equal(await w.count('stale_hours'), 1, 'its note is still there');
  await w.pack();
  t.equal(await w.count('stale_hours'), 0);
  await sameAsRows(t, w, 'with both');
});

t.test('a late result of a day that is half merged is in its day, whichever half its monitor is of', async (t) => {
  const w = await packingWorld(t, { atMs: noonMs, count: 2, probeCount: 1 });
  await w.store(rowsOf(w, noonMs, noonMs + hourMs));
  await w.foldUntil(noonMs + 12 * hourMs + settledMs);
  await w.pack();
  await w.pool.query(`insert into packing_jobs (kind, shard, at, next_monitor_id) values ('day', 0, $1, $2)`, [
    Math.floor(noonMs / dayMs),
    w.monitors[1],
  ]);
  await round(w, rowsOf(w, noonMs, noonMs + 600_000, 2));
  await w.pack();
  t.equal(await w.count('packing_jobs'), 0);
  await sameAsRows(t, w, 'both');
});

t.test('a late result of a monitor and of a week that had none is packed too', async (t) => {
  const w = await packingWorld(t, { atMs: noonMs });
  await w.store(rowsOf(w, noonMs, noonMs + hourMs));
  await w.foldUntil(noonMs + 12 * hourMs + settledMs);
  await w.pack();
  const earlier = noonMs - 8 * dayMs;
  await w.pool.query('select ensure_result_partitions($1, $1)', [new Date(earlier)]);
  await round(w, rowsOf(w, earlier, earlier + 600_000));
  await w.pack();
  await sameAsRows(t, w, 'both');
  t.equal(await w.count('result_days'), 12);
});

t.test('a round that is under way when its hours are to be closed is waited for, and packed', async (t) => {
  const w = await packingWorld(t, { atMs: noonMs });
  await w.store(rowsOf(w, noonMs, noonMs + 1_800_000));
  await w.foldUntil(noonMs + hourMs + settledMs);
  const client = new pg.Client({ connectionString: w.urls.worker });
  await client.connect();
  t.teardown(() => client.end());
  let packing: Promise<unknown> | undefined;
  const query = client.query.bind(client) as (...given: unknown[]) => unknown;
  const held = (...given: unknown[]): unknown => {
    if (given[0] !== 'commit') return query(...given);
    packing = w.pack();
    return waiting(w).then(() => query('commit'));
  };
  client.query = held as typeof client.query;
  await round(w, rowsOf(w, noonMs + 1_800_000, noonMs + hourMs), client);
  await packing;
  await sameAsRows(t, w, 'both halves');
  t.equal(await w.count('stale_hours'), 0, 'and none of it was late');
});
