import type { LatencyAnalytics, WorstMonitors } from '@parallax/api-contract';
import { keptLog } from '@parallax/testkit';
import t from 'tap';
import type { Test } from 'tap';
import { z } from 'zod';
import { RunningSummary } from '../../monitoring/check-results/index.ts';
import { dayUs, madeHistory, storeHistory } from '../../monitoring/check-results/reading/testing/stored-history.ts';
import type { HistoryRow } from '../../monitoring/check-results/reading/testing/stored-history.ts';
import { addProbe } from '../../monitoring/testing.ts';
import { sql } from '../../platform/database/pools.ts';
import { milliseconds } from '../statistics/index.ts';
import { dayMs, hourMs, iso, reportingApi } from '../testing.ts';
import { analyticsCapability } from './index.ts';
import { mergeLatencyDays } from './latency-days.job.ts';

/* Response times of many monitors: what their results come to when they are taken one by one. */

const api = await reportingApi(t, { more: [analyticsCapability] });
const { nowMs, database } = api;
const { worker } = database;
const { log } = keptLog();
const [one, two] = [await addProbe(database, 'one', 'eu'), await addProbe(database, 'two', 'us')];
const firstDay = Math.floor(nowMs / dayMs) - 8;
const closedHour = Math.floor(nowMs / hourMs) - 1;
const rows = new Map<number, readonly HistoryRow[]>();
for (const [seed, tags] of [
  [3, ['web']],
  [4, ['web', 'paid']],
  [5, []],
] as const) {
  const id = await api.oldMonitor(40 * dayMs, { tags, name: `monitor ${seed}` });
  const history = madeHistory({ seed, fromUs: firstDay * dayUs, days: 9, probes: [0, one, two], intervalS: 600 });
  const own = history.filter(({ eUs }) => eUs < closedHour * hourMs * 1_000);
  rows.set(id, own);
  const storage = { packedUntilHour: closedHour, mergedUntilDay: firstDay + 8, hotFromUs: null };
  await storeHistory(database.raw, id, own, storage);
}
const [first = 0, second = 0, third = 0] = rows.keys();
await worker.query(sql.unsafe`
  insert into shards (shard, closed_until) values (0, ${sql.timestamp(new Date(closedHour * hourMs))})
  on conflict (shard) do update set closed_until = excluded.closed_until`);
const merged = [
  await mergeLatencyDays({ database }, log, undefined, 0),
  await mergeLatencyDays({ database }, log, undefined, 0),
];

const latency = async (query: string) =>
  (await api.get(`/api/v1/analytics/latency?${query}`)) as unknown as LatencyAnalytics;

/** What rows of some monitors and probes between two instants come to. */
function expected(ids: readonly number[], fromMs: number, toMs: number, probes: readonly number[] = [0, one, two]) {
  const sum = new RunningSummary();
  for (const id of ids) {
    for (const row of rows.get(id) ?? []) {
      if (row.eUs < fromMs * 1_000 || row.eUs >= toMs * 1_000 || !probes.includes(row.probeId)) continue;
      sum.addRow(row.flags, row.totalUs);
    }
  }
  const sketch = sum.latency.timed();
  return [sketch.count, milliseconds(sketch.quantile(0.5)), milliseconds(sketch.quantile(0.95))];
}

function compare(
  t: Test,
  answer: LatencyAnalytics,
  key: string,
  of: (fromMs: number, toMs: number) => unknown,
  what: string,
): void {
  const series = answer.series.find((each) => each.key === key);
  for (const [place, { start_time: start, end_time: end }] of answer.buckets.entries()) {
    const shown = [series?.count[place], series?.p50[place], series?.p95[place]];
    t.same(shown, of(Date.parse(start), Date.parse(end)), `${what}, bucket ${place}`);
  }
  const whole = series?.total;
  t.same([whole?.count, whole?.p50_ms, whole?.p95_ms], of(Date.parse(answer.from), Date.parse(answer.to)), what);
}

const fromMs = (firstDay + 1) * dayMs;

void t.test('series say what their results come to, in UTC and in other zones', async (t) => {
  t.same(merged, [8, 0], 'a day of the workspace for each merged day');
  const all = [first, second, third];
  for (const [zone, bucket] of [
    ['UTC', 'day'],
    ['Europe/Berlin', 'day'],
    ['America/New_York', 'week'],
    ['UTC', 'hour'],
  ] as const) {
    const start = bucket === 'hour' ? (closedHour - 40) * hourMs : fromMs + 5 * hourMs;
    const query = `from=${iso(start)}&timezone=${zone}&bucket=${bucket}`;
    const byWorkspace = await latency(`${query}&by=workspace`);
    compare(
      t,
      byWorkspace,
      String(api.workspaceId),
      (from, to) => expected(all, from, to),
      `workspace ${zone} ${bucket}`,
    );
    t.equal(byWorkspace.complete_until, iso(closedHour * hourMs));
    const byProbe = await latency(`${query}&by=probe`);
    compare(t, byProbe, String(one), (from, to) => expected(all, from, to, [one]), `probe ${zone} ${bucket}`);
    compare(t, byProbe, '0', (from, to) => expected(all, from, to, [0]), `control plane ${zone} ${bucket}`);
    compare(
      t,
      await latency(`${query}&by=region`),
      'us',
      (from, to) => expected(all, from, to, [two]),
      `region ${zone}`,
    );
    const byMonitor = await latency(`${query}&by=monitor`);
    compare(t, byMonitor, String(second), (from, to) => expected([second], from, to), `monitor ${zone} ${bucket}`);
    compare(
      t,
      await latency(`${query}&by=tag`),
      'web',
      (from, to) => expected([first, second], from, to),
      `tag ${zone}`,
    );
    t.same(
      (await latency(`${query}&by=tag&ids=paid`)).series.map(({ name }) => name),
      ['paid'],
    );
  }
});

void t.test('the time before is compared, and the slowest stand first', async (t) => {
  const answer = await latency(`from=${iso(fromMs + 4 * dayMs)}&to=${iso(fromMs + 6 * dayMs)}&by=monitor&compare=true`);
  const slowest = answer.series.map(({ total }) => total.p95_ms ?? 0);
  t.same(
    slowest,
    slowest.toSorted((a, b) => b - a),
  );
  for (const { key, previous } of answer.series) {
    t.same(
      [previous?.count, previous?.p50_ms, previous?.p95_ms],
      expected([Number(key)], fromMs + 2 * dayMs, fromMs + 4 * dayMs),
    );
  }
  const worst = (await api.get(
    `/api/v1/analytics/worst?metric=p95&from=${iso(fromMs)}&limit=2`,
  )) as unknown as WorstMonitors;
  t.same(
    worst.monitors.map(({ monitor_id: id, p95_ms: p95 }) => [id, p95]),
    [first, second, third]
      .map((id) => [id, Number(expected([id], fromMs, nowMs)[2])] as const)
      .toSorted((a, b) => b[1] - a[1] || a[0] - b[0])
      .slice(0, 2),
  );
});

void t.test('days of a workspace follow its monitors', async (t) => {
  let asked = 0;
  const total = async (workspaceId = api.workspaceId) => {
    // Another question each time: answers are kept.
    asked += 1;
    const { series } = await latency(
      `from=${iso(fromMs)}&to=${iso(fromMs + dayMs * 3)}&by=workspace&bucket=month&limit=${50 + asked}`,
    );
    return series.find(({ key }) => key === String(workspaceId))?.total.count ?? 0;
  };
  const of = (ids: readonly number[]) => Number(expected(ids, fromMs, fromMs + 3 * dayMs)[0]);
  t.equal(await total(), of([first, second, third]));
  const made = await api.call('POST', '/api/v1/workspaces', { token: api.token, body: { name: 'other' } });
  const { id: otherId } = z.object({ id: z.number() }).parse(made.body);
  await worker.query(sql.unsafe`update monitors set workspace_id = ${otherId} where id = ${first}`);
  await mergeLatencyDays({ database }, log, undefined, 0);
  t.equal(await total(), of([second, third]), 'a monitor that moved took its response times along');
  t.equal(await total(otherId), of([first]));
  await worker.query(sql.unsafe`update monitors set deleted_at = now() where id = ${second}`);
  await mergeLatencyDays({ database }, log, undefined, 0);
  t.equal(await total(), of([third]), 'and one that was deleted');
});
