import { keptLog } from '@parallax/testkit';
import t from 'tap';
import type { Test } from 'tap';
import { moveAndDrop, packAll } from '../../monitoring/check-results/packing/job.ts';
import { createPackedPartitions } from '../../monitoring/check-results/packing/queries.ts';
import { addProbe, addResults } from '../../monitoring/testing.ts';
import { sql } from '../../platform/database/pools.ts';
import { dayMs, hourMs, iso, minuteMs, reportingApi } from '../testing.ts';
import type { ReportingApi } from '../testing.ts';

/** Packs everything and drops the days that are packed, as time does. */
async function packAndDrop(api: ReportingApi): Promise<void> {
  const { database, nowMs } = api;
  const { log } = keptLog();
  const pool = database.raw;
  await pool.query(
    `insert into shards (shard, folded_until) values (0, $1) on conflict (shard) do update set folded_until = excluded.folded_until`,
    [new Date(nowMs)],
  );
  const partitions = createPackedPartitions(pool);
  await packAll({ pool, partitions, shards: 1, now: () => nowMs, log, isStopped: () => false, settledSeconds: 0 });
  for (const _ of [1, 2]) {
    await moveAndDrop({ database, now: () => nowMs }, log, () => false);
    await pool.query(`update result_storage set moved_at = moved_at - interval '2 minutes'`);
  }
}

type Shown = { readonly last_checked_at: string | null; readonly last_response_time_ms: number | null };

/** What the list says of a monitor, after a look whether the monitor's own page and its statistics say the same. */
async function shown(t: Test, api: ReportingApi, id: number, query = ''): Promise<Shown> {
  const list = (await api.get(`/api/v1/monitors?page_size=100${query}`)) as { monitors: (Shown & { id: number })[] };
  const found = list.monitors.find((monitor) => monitor.id === id);
  if (found === undefined) throw new Error(`monitor ${id} is not in the list`);
  const { last_checked_at, last_response_time_ms } = found;
  const own = await api.get(`/api/v1/monitors/${id}`);
  t.match(own, { last_checked_at, last_response_time_ms }, 'the monitor itself');
  t.match(await api.get(`/api/v1/monitors/${id}/stats`), { last_checked_at }, 'its statistics');
  return { last_checked_at, last_response_time_ms };
}

t.test('a monitor that is silent for days still shows its last check, until a reset', async (t) => {
  const api = await reportingApi(t);
  const { database, nowMs } = api;
  const probes = [await addProbe(database, 'a', 'eu'), await addProbe(database, 'b', 'us')] as const;
  const make = () => api.oldMonitor(10 * dayMs);
  const silent = await make();
  const failed = await make();
  const back = await make();
  const fallback = await make();
  const never = await make();
  const lastMs = Math.floor((nowMs - 5 * dayMs) / hourMs) * hourMs + 30 * minuteMs;
  await addResults(database, [
    { monitorId: silent, probeId: probes[0], atMs: lastMs - 3 * hourMs, totalUs: 1_000 },
    { monitorId: silent, probeId: probes[0], atMs: lastMs - minuteMs, totalUs: 2_000 },
    { monitorId: silent, probeId: probes[1], atMs: lastMs - 2 * minuteMs, totalUs: 3_000 },
    { monitorId: silent, probeId: probes[1], atMs: lastMs, kind: 'manual', totalUs: 4_000 },
    { monitorId: silent, probeId: probes[1], atMs: lastMs + 2 * hourMs, kind: 'manual', totalUs: 5_000 },
    { monitorId: failed, probeId: probes[0], atMs: lastMs - minuteMs, totalUs: 6_000 },
    { monitorId: failed, probeId: probes[1], atMs: lastMs - minuteMs, outcome: 'fail', totalUs: 7_000 },
    { monitorId: back, probeId: probes[0], atMs: lastMs, totalUs: 8_000 },
    { monitorId: back, probeId: probes[0], atMs: nowMs - minuteMs, totalUs: 9_000 },
    { monitorId: fallback, probeId: 0, fallback: true, atMs: lastMs, totalUs: 10_000 },
  ]);
  const expected: readonly (readonly [string, number, Shown])[] = [
    ['silent', silent, { last_checked_at: iso(lastMs - minuteMs), last_response_time_ms: 2 }],
    ['failed', failed, { last_checked_at: iso(lastMs - minuteMs), last_response_time_ms: null }],
    ['checked again', back, { last_checked_at: iso(nowMs - minuteMs), last_response_time_ms: 9 }],
    ['fallback', fallback, { last_checked_at: iso(lastMs), last_response_time_ms: null }],
    ['never checked', never, { last_checked_at: null, last_response_time_ms: null }],
  ];
  for (const [name, id, said] of expected) t.same(await shown(t, api, id), said, `${name}, as rows`);
  await packAndDrop(api);
  const old = sql.timestamp(new Date(nowMs - 3 * dayMs));
  t.equal(
    await database.worker.oneFirst(sql.unsafe`select count(*)::integer from check_results where e < ${old}`),
    0,
    'the rows are gone',
  );
  for (const [name, id, said] of expected) t.same(await shown(t, api, id), said, `${name}, packed`);
  const sorted = (await api.get('/api/v1/monitors?sort=response')) as { monitors: { id: number }[] };
  t.same(
    sorted.monitors.slice(0, 2).map(({ id }) => id),
    [silent, back],
    'and they are sorted by it',
  );
  t.same(
    ((await api.get('/api/v1/monitors?status_filter=transient')) as typeof sorted).monitors.map(({ id }) => id),
    [failed],
    'and found by it',
  );

  const resetAt = (ms: number) =>
    database.worker.query(
      sql.unsafe`update monitors set reset_at = ${sql.timestamp(new Date(ms))} where id = ${silent}`,
    );
  await resetAt(lastMs - minuteMs);
  t.same(await shown(t, api, silent), expected[0]?.[2], 'a reset at that instant');
  await resetAt(lastMs - minuteMs + 1);
  t.same(await shown(t, api, silent), { last_checked_at: null, last_response_time_ms: null }, 'one after it');
});
