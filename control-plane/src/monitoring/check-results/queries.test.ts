import t from 'tap';
import type { Transaction } from '../../platform/database/pools.ts';
import { sql } from '../../platform/database/pools.ts';
import { z } from 'zod';
import { inScope } from '../../platform/database/scope.ts';
import { testDatabase } from '../../platform/database/testing.ts';
import { foldedUntil, rangesOfProbes, statusRanges, statusRangesPage } from '../status-ranges/index.ts';
import { latestResultJoin, resultsPage } from './index.ts';
import type { ResultsFilter } from './index.ts';
import { insertMonitors, insertProbe, insertWorkspace } from './ingest/testing/fixture.ts';

const { database } = await testDatabase(t);
const pool = database.raw;
const owner = await insertWorkspace(pool);
const probes = [await insertProbe(pool, 'a'), await insertProbe(pool, 'b')];
const baseMs = Math.floor(Date.now() / 1_000) * 1_000 - 3_600_000;
const [monitor = 0, other = 0] = await insertMonitors(pool, owner, { count: 2, probes, createdMs: baseMs });
const [one = 0, two = 0] = probes.map((probe) => probe.id);
const inTenant = <Result>(work: (tx: Transaction) => Promise<Result>) =>
  inScope(database.api, { userId: owner.userId, workspaceIds: [owner.workspaceId] }, work);

const manual = 2;
const fail = 3 << 2;
const fallback = 256 | 1_024;
await pool.query('select ensure_result_partitions($1, $2)', [
  new Date(baseMs - 86_400_000),
  new Date(baseMs + 86_400_000),
]);
await pool.query(
  `insert into check_results (e, received_at, monitor_id, probe_id, probe_revision, flags, fresh_s, total_us, dns_us, error)
   select $1::timestamptz + second * interval '1 second', now(), $2, probe, 1, flags, 160, 1000 + second, null, 0
   from (values (1, $3::integer, 0), (2, $4, 0), (3, $3, ${manual}), (4, $3, ${fail}), (5, 0, ${fallback}), (6, $4, 0)) as r (second, probe, flags)`,
  [new Date(baseMs), monitor, one, two],
);
await pool.query(
  `insert into result_evidence (e, monitor_id, probe_id, message, evidence)
   values ($1::timestamptz + interval '4 seconds', $2, $3, 'refused', '{"port":80}')`,
  [new Date(baseMs), monitor, one],
);

const seconds = async (filter: Partial<ResultsFilter>) => {
  const found = await inTenant((tx) => resultsPage(tx, monitor, { page: 1, pageSize: 10, withTotal: true, ...filter }));
  return { seconds: found.items.map((item) => (item.effectiveMs - baseMs) / 1_000), total: found.total };
};

const hoursAgo = (hours: number) => new Date(baseMs - hours * 3_600_000);
const started = (items: readonly { startedMs: number }[]) => items.map((item) => (baseMs - item.startedMs) / 3_600_000);

t.test('results come newest first, page by page, with the number of all', async (t) => {
  t.same(await seconds({}), { seconds: [6, 5, 4, 3, 2, 1], total: 6 });
  t.same(await seconds({ page: 2, pageSize: 4 }), { seconds: [2, 1], total: 6 });
  t.same(await seconds({ page: 3, pageSize: 4, withTotal: false }), { seconds: [], total: undefined });
});

t.test('bounds are inclusive on both sides; probe and kind narrow the list', async (t) => {
  t.same(await seconds({ startMs: baseMs + 2_000, endMs: baseMs + 4_000 }), { seconds: [4, 3, 2], total: 3 });
  t.same(await seconds({ probeId: one }), { seconds: [4, 3, 1], total: 3 });
  t.same(await seconds({ probeId: one, includeManual: false }), { seconds: [4, 1], total: 2 });
  t.same(await seconds({ includeManual: false }), { seconds: [6, 4, 2, 1], total: 4 });
  t.same(await seconds({ probeId: 0 }), { seconds: [5], total: 1 });
  t.same(await seconds({ probeId: 0, includeManual: false }), { seconds: [], total: 0 });
});

t.test('a result says what it is', async (t) => {
  const { items } = await inTenant((tx) => resultsPage(tx, monitor, { page: 1, pageSize: 10, withTotal: false }));
  t.match(items[2], {
    probeId: one,
    outcome: 'fail',
    kind: 'scheduled',
    central: false,
    fallback: false,
    totalUs: 1_004,
    dnsUs: null,
    message: 'refused',
    evidence: { port: 80 },
  });
  t.match(items[1], { probeId: 0, central: true, fallback: true, message: null, evidence: null });
  t.match(items[3], { kind: 'manual' });
});

t.test('the latest result that counts is joined to a list of monitors', async (t) => {
  const rows = await inTenant((tx) =>
    tx.any(sql.type(z.object({ id: z.number(), total_us: z.number().nullable() }))`
      select m.id, latest.total_us from monitors m ${latestResultJoin} order by m.id`),
  );
  t.same(rows, [
    { id: monitor, total_us: 1_006 },
    { id: other, total_us: null },
  ]);
});

t.test('packed hours are asked only for monitors that have no row', async (t) => {
  const plan = await pool.query<{ 'QUERY PLAN': string }>(
    `explain (analyze, timing off) select m.id, latest.e from monitors m ${latestResultJoin.sql}`,
  );
  const call = plan.rows.map((row) => row['QUERY PLAN']).find((line) => line.includes('last_packed_result'));
  t.match(call, /actual rows=0(\.00)? loops=1\)/, plan.rows.map((row) => row['QUERY PLAN']).join('\n'));
});

t.test(
  'ranges: newest first, whole where they overlap the last hours, an open one ends at null and counts to the fold',
  async (t) => {
    for (const [from, to, status] of [
      [50, 30, 'UP'],
      [30, 20, 'DOWN'],
      [20, null, 'UP'],
    ] as const) {
      const ended = to === null ? null : hoursAgo(to);
      await pool.query('insert into status_ranges (monitor_id, started_at, ended_at, status) values ($1, $2, $3, $4)', [
        monitor,
        hoursAgo(from),
        ended,
        status,
      ]);
      await pool.query(
        'insert into probe_ranges (monitor_id, probe_id, started_at, ended_at, status) values ($1, $2, $3, $4, $5)',
        [monitor, one, hoursAgo(from), ended, status],
      );
    }
    await pool.query('update shards set folded_until = $1', [hoursAgo(1)]);
    const page = (filter: { page: number; pageSize: number; hours?: number }) =>
      inTenant((tx) => statusRangesPage(tx, monitor, filter));
    const all = await page({ page: 1, pageSize: 2 });
    t.equal(all.total, 3);
    t.same(
      all.items.map((item) => item.status),
      ['UP', 'DOWN'],
    );
    t.same(all.items[0]?.endedMs, null);
    t.equal(all.items[0]?.countedUntilMs, hoursAgo(1).getTime());
    t.equal(all.items[1]?.countedUntilMs, hoursAgo(20).getTime());
    const recent = await page({ page: 1, pageSize: 10, hours: 25 });
    t.same(
      recent.items.map((item) => item.startedMs),
      [hoursAgo(20).getTime(), hoursAgo(30).getTime()],
    );
    t.equal(recent.total, 2);
    t.same(
      (await page({ page: 2, pageSize: 2 })).items.map((item) => item.startedMs),
      [hoursAgo(50).getTime()],
    );

    const between = (from: number, to: number) => [hoursAgo(from).getTime(), hoursAgo(to).getTime()] as const;
    t.same(
      started(await inTenant((tx) => statusRanges(tx, monitor, ...between(30, 20)))),
      [30],
      'half-open on both sides',
    );
    const ofProbes = await inTenant((tx) => rangesOfProbes(tx, monitor, [one, two], ...between(31, 19)));
    t.same(started(ofProbes.get(one) ?? []), [50, 30, 20]);
    t.notOk(ofProbes.has(two));
    t.equal(await inTenant((tx) => foldedUntil(tx, 0)), hoursAgo(1).getTime());
    const nobody = await inScope(database.api, { userId: null, workspaceIds: [] }, (tx) =>
      statusRanges(tx, monitor, ...between(50, 0)),
    );
    t.same(nobody, [], 'a foreign tenant sees no ranges');
  },
);
