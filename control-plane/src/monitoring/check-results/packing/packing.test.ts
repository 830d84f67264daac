import pg from 'pg';
import t from 'tap';
import { packFlags } from '@parallax/wire';
import { decodeSummary, mergeSummaries, summaryOf } from '../packed/summary.ts';
import { decodeChunk, maxChunkRows } from '../packed/chunk.ts';
import { dayMs, hourMs } from './hours.ts';
import { hourOf, noonMs, rowsOf, sameAsRows, settledMs } from './testing/steps.ts';
import { packingWorld } from './testing/world.ts';

t.test(
  'an hour is closed and packed when its shard is folded five minutes beyond it, and the day when it is over',
  async (t) => {
    const w = await packingWorld(t, { atMs: noonMs });
    await w.store(rowsOf(w, noonMs, noonMs + 3 * hourMs));
    t.same(await w.pack(), { results: 0, chunks: 0, leftOut: 0 }, 'nothing was folded yet');
    await w.foldUntil(noonMs + hourMs + settledMs - 1);
    await w.pack();
    t.equal(await w.count('result_hours'), 0, 'not a moment sooner');
    await w.foldUntil(noonMs + hourMs + settledMs);
    const packed = await w.pack();
    t.match(packed, { chunks: 6, leftOut: 0 });
    await sameAsRows(t, w, 'one hour');
    t.equal(await w.count('result_days'), 0);
    await w.foldUntil(noonMs + 12 * hourMs + settledMs);
    await w.pack();
    await sameAsRows(t, w, 'the rest of the day');
    t.equal(await w.count('result_days'), 6, 'each monitor and probe');
    t.equal(await w.count('packing_jobs'), 0);
    const [day] = (
      await w.pool.query<{ results: number; summary: Buffer }>(
        'select results, summary from result_days where monitor_id = $1 order by probe_id limit 1',
        [w.monitor],
      )
    ).rows;
    const summary = decodeSummary(day?.summary ?? Buffer.alloc(0));
    t.equal(summary.counts.results, day?.results);
    t.same(await w.pack(), { results: 0, chunks: 0, leftOut: 0 }, 'and nothing is done twice');
  },
);

t.test('a day has the median of all of its probes together, in one row', async (t) => {
  const w = await packingWorld(t, { atMs: noonMs, count: 1, probeCount: 3 });
  await w.store(rowsOf(w, noonMs, noonMs + 12 * hourMs));
  await w.foldUntil(noonMs + 12 * hourMs + settledMs);
  await w.pack();
  const stored = await w.pool.query<{ summary: Buffer; median_us: number | null }>(
    'select summary, median_us from result_days order by probe_id',
  );
  const all = mergeSummaries(stored.rows.map(({ summary }) => decodeSummary(summary)));
  const median = Math.round(all.latency.timed().quantile(0.5) ?? 0);
  t.ok(median > 0);
  t.same(
    stored.rows.map(({ median_us }) => median_us),
    [median, null, null],
  );
});

t.test('a summary is that of the rows in its chunk, and a day that of its hours', async (t) => {
  const w = await packingWorld(t, { atMs: noonMs, count: 1, probeCount: 1 });
  const rows = rowsOf(w, noonMs, noonMs + 12 * hourMs);
  await w.store(rows);
  await w.foldUntil(noonMs + 12 * hourMs + settledMs);
  await w.pack();
  const hours = await w.pool.query<{ summary: Buffer; chunk: Buffer }>('select summary, chunk from result_hours');
  for (const { summary, chunk } of hours.rows) {
    t.same(told(decodeSummary(summary)), told(summaryOf(decodeChunk(chunk))));
  }
  const [day] = (await w.pool.query<{ summary: Buffer }>('select summary from result_days')).rows;
  const ok = rows.filter(({ flags }) => flags === packFlags('scheduled', 'ok', undefined));
  const latency = decodeSummary(day?.summary ?? Buffer.alloc(0)).latency;
  t.equal(latency.count, ok.length);
  t.equal(
    latency.sumUs,
    ok.reduce((sum, { totalUs }) => sum + totalUs, 0),
  );
});

function told(summary: ReturnType<typeof decodeSummary>): unknown {
  const { counts, latency } = summary;
  return [counts.entries(), latency.count, latency.sumUs, latency.minUs, latency.maxUs, latency.buckets()];
}

t.test('days of rows from before there was packing are packed whole, oldest first', async (t) => {
  const w = await packingWorld(t, { atMs: noonMs });
  const firstMs = noonMs - 6 * dayMs;
  await w.pool.query('select ensure_result_partitions($1, $1)', [new Date(firstMs - 3 * dayMs)]);
  const spans = [firstMs, firstMs + dayMs, firstMs + 3 * dayMs, noonMs - hourMs];
  for (const ms of spans) await w.store(rowsOf(w, ms, ms + hourMs));
  await w.foldUntil(noonMs + settledMs);
  const order: number[] = [];
  await w.pack({
    isStopped: () => {
      void w.pool
        .query<{ at: number | null }>(`select min(at) as at from packing_jobs where kind = 'hour'`)
        .then(({ rows }) => order.push(...rows.flatMap(({ at }) => (at === null ? [] : [at]))));
      return false;
    },
  });
  await sameAsRows(t, w, 'all days');
  t.same(
    order,
    order.toSorted((a, b) => a - b),
    'oldest first',
  );
  t.equal(await w.count('result_days'), 18, 'three days that are over');
});

t.test('results that are older than any plan keeps are not packed', async (t) => {
  const w = await packingWorld(t, { atMs: noonMs });
  const old = noonMs - 120 * dayMs;
  await w.store(rowsOf(w, old, old + hourMs));
  await w.store(rowsOf(w, noonMs - hourMs, noonMs));
  await w.foldUntil(noonMs + settledMs);
  await w.pack();
  t.equal(await w.count('result_hours'), 6);
  t.equal(await w.count('result_hours where hour >= ' + hourOf(noonMs - hourMs)), 6);
});

t.test('a database without results begins to close hours where it is', async (t) => {
  const w = await packingWorld(t, { atMs: noonMs });
  await w.foldUntil(noonMs + settledMs);
  await w.pack();
  const [shard] = (await w.pool.query<{ at: Date }>('select closed_until as at from shards')).rows;
  t.equal(shard?.at.getTime(), noonMs);
  t.equal(await w.count('packing_jobs'), 0);
});

t.test(
  'nothing is packed of what a reset made void, or of a deleted monitor, and what was packed of it goes',
  async (t) => {
    const w = await packingWorld(t, { atMs: noonMs });
    const [reset = 0, deleted = 0] = w.monitors;
    const resetMs = noonMs + 90 * 60_000;
    await w.store(rowsOf(w, noonMs, noonMs + 3 * hourMs));
    await w.foldUntil(noonMs + 3 * hourMs + settledMs);
    await w.pack();
    await sameAsRows(t, w, 'before');
    await w.pool.query('update monitors set reset_at = $2 where id = $1', [reset, new Date(resetMs)]);
    await w.pool.query('update monitors set deleted_at = now() where id = $1', [deleted]);
    const stale = [0, 1, 2].map((hour) => hourOf(noonMs) + hour);
    await w.pool.query(
      'insert into stale_hours (monitor_id, hour) select m, h from unnest($1::integer[]) m, unnest($2::integer[]) h',
      [[reset], stale],
    );
    await w.pack();
    await w.pool.query('delete from result_hours where monitor_id = $1', [deleted]);
    await sameAsRows(t, w, 'after');
    const left = await w.pool.query<{ hour: number }>('select distinct hour from result_hours where monitor_id = $1', [
      reset,
    ]);
    t.same(
      left.rows.map(({ hour }) => hour).sort((one, other) => one - other),
      stale.slice(1),
      'the hour of the reset holds what came after it',
    );
    // A job of an hour that is made again finds the same.
    await w.pool.query(`insert into packing_jobs (kind, shard, at) values ('hour', 0, $1)`, [stale[0]]);
    await w.pack();
    await sameAsRows(t, w, 'packed again');
  },
);

t.test('a day is merged without the hours of before a reset that are still there', async (t) => {
  const w = await packingWorld(t, { atMs: noonMs, count: 2, probeCount: 1 });
  const [kept = 0, reset = 0] = w.monitors;
  await w.store(rowsOf(w, noonMs, noonMs + 12 * hourMs));
  await w.foldUntil(noonMs + 9 * hourMs + settledMs);
  await w.pack();
  const resetMs = noonMs + 8 * hourMs;
  await w.pool.query('update monitors set reset_at = $2 where id = $1', [reset, new Date(resetMs)]);
  await w.foldUntil(noonMs + 12 * hourMs + settledMs);
  await w.pack();
  const merged = async (monitor: number) =>
    (await w.pool.query<{ results: number }>('select results from result_days where monitor_id = $1', [monitor])).rows;
  const since = (monitor: number, ms: number) =>
    w.count(`check_results where monitor_id = ${monitor} and e >= '${new Date(ms).toISOString()}'`);
  t.ok((await w.count(`result_hours where monitor_id = ${reset} and hour < ${hourOf(resetMs)}`)) > 0);
  t.same(await merged(reset), [{ results: await since(reset, resetMs) }]);
  t.same(await merged(kept), [{ results: await since(kept, noonMs) }]);
});

t.test('a reset or a deletion while an hour is being packed leaves nothing of before', async (t) => {
  const w = await packingWorld(t, { atMs: noonMs, count: 2 });
  const [reset = 0, deleted = 0] = w.monitors;
  await w.store(rowsOf(w, noonMs, noonMs + hourMs));
  await w.foldUntil(noonMs + hourMs + settledMs);
  const pool = new pg.Pool({ connectionString: w.urls.worker, max: 1 });
  t.teardown(() => pool.end());
  const client = await pool.connect();
  const query = client.query.bind(client) as (...given: unknown[]) => unknown;
  // Between reading the rows and writing the chunks.
  const between = (...given: unknown[]): unknown => {
    if (typeof given[0] !== 'string' || !given[0].includes('delete from result_hours')) return query(...given);
    return w.pool
      .query('update monitors set reset_at = $2 where id = $1', [reset, new Date()])
      .then(() => w.pool.query('update monitors set deleted_at = now() where id = $1', [deleted]))
      .then(() => query(...given));
  };
  client.query = between as typeof client.query;
  client.release();
  await w.pack({ pool });
  t.equal(await w.count('packing_jobs'), 0);
  t.equal(await w.count('result_hours'), 0);
});

t.test('more results of an hour than a chunk holds do not keep the others from being packed', async (t) => {
  const w = await packingWorld(t, { atMs: noonMs, count: 2, probeCount: 1 });
  await w.store(rowsOf(w, noonMs, noonMs + hourMs));
  await w.pool.query(
    `insert into check_results (e, received_at, monitor_id, probe_id, probe_revision, flags, fresh_s, total_us, error)
     select $1::timestamptz + n * interval '20 milliseconds', $1::timestamptz + interval '1 hour', $2, $3, 1, 2, 160, 1, 0
     from generate_series(1, ${maxChunkRows}) n`,
    [new Date(noonMs), w.monitor, w.probes[0]?.id],
  );
  await w.foldUntil(noonMs + hourMs + settledMs);
  const packed = await w.pack();
  t.ok(packed.leftOut > 50 && packed.leftOut < 70, `${packed.leftOut} left out`);
  t.equal(await w.count('result_hours'), 2);
  t.equal(w.lines.filter((line) => String(line['msg']).includes('more results in an hour')).length, 1);
});

t.test('a damaged summary does not keep a day from being merged', async (t) => {
  const w = await packingWorld(t, { atMs: noonMs });
  await w.store(rowsOf(w, noonMs, noonMs + 2 * hourMs));
  await w.foldUntil(noonMs + 3 * hourMs);
  await w.pack();
  await w.pool.query(`update result_hours set summary = '\\x0102' where monitor_id = $1 and hour = $2`, [
    w.monitor,
    hourOf(noonMs),
  ]);
  await w.pool.query(`update result_hours set summary = '\\x', chunk = '\\x01' where monitor_id = $1 and hour = $2`, [
    w.monitors[1],
    hourOf(noonMs),
  ]);
  await w.foldUntil(noonMs + 13 * hourMs);
  await w.pack();
  t.equal(await w.count('result_days'), 6);
  const days = await w.pool.query<{ monitor_id: number; summary: Buffer }>(
    'select monitor_id, summary from result_days',
  );
  const results = new Map(days.rows.map((row) => [row.monitor_id, decodeSummary(row.summary).counts.results]));
  t.equal(results.get(w.monitor), 120, 'from its chunk');
  t.equal(results.get(w.monitors[1] ?? 0), 60, 'without what is lost');
  t.equal(w.lines.filter((line) => String(line['msg']).includes('summary of a packed hour is damaged')).length, 4);
  t.equal(w.lines.filter((line) => String(line['msg']).includes('is damaged too')).length, 2);
});
