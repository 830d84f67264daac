import { setTimeout as sleep } from 'node:timers/promises';
import { quietLog } from '@parallax/testkit';
import t from 'tap';
import type { Test } from 'tap';
import { z } from 'zod';
import { ranges, timeline } from '../../control-plane/src/monitoring/consensus/index.ts';
import { readMonitors } from '../../control-plane/src/monitoring/check-results/ingest/queries.ts';
import { fallbackFlag, lateFlag } from '../../control-plane/src/monitoring/check-results/flags.ts';
import { healMonitor, lookAtMonitor, tellLook } from '../../control-plane/src/monitoring/check-results/index.ts';
import { analyticsCapability } from '../../control-plane/src/reporting/analytics/index.ts';
import { dashboardCapability } from '../../control-plane/src/reporting/dashboard/index.ts';
import { refreshDays } from '../../control-plane/src/reporting/day-sums/refresh.job.ts';
import { reportingApi } from '../../control-plane/src/reporting/testing.ts';
import { differences } from './month/differences.ts';
import { endpoints, pathOf } from './month/judges.ts';
import type { Judge, Lived } from './month/judges.ts';
import { livedMonth } from './month/lived-month.ts';
import {
  hourMs,
  isPaused,
  iso,
  latestOf,
  presentOf,
  statsOf,
  subjectOf,
  uptimeOfDay,
} from './month/reference-figures.ts';
import type { Subject } from './month/reference-figures.ts';

/*
 * A month of sixty monitors goes through the fold, the stores and the packing; then every endpoint that tells of it must say what a slow and
 * obvious reference makes of the raw rows. PARALLAX_MONTH_MONITORS, _DAYS, _SEED and _THOROUGH make it larger, other, or ask everything of all.
 */
const days = Number(process.env['PARALLAX_MONTH_DAYS'] ?? 31);
const count = Number(process.env['PARALLAX_MONTH_MONITORS'] ?? 60);
const seed = Number(process.env['PARALLAX_MONTH_SEED'] ?? 1);
/** Of those that are wrong, of each endpoint. */
const shownAnswers = 5;
const isThorough = process.env['PARALLAX_MONTH_THOROUGH'] !== undefined;

void t.test('every statistics endpoint agrees with a slow reference over a month', { timeout: 600_000 }, async (t) => {
  const api = await reportingApi(t, { aheadMs: 0, more: [dashboardCapability, analyticsCapability] });
  const month = await livedMonth(t, api, { seed, monitors: count, days });
  const subjects = month.monitors.map((monitor) => subjectOf(monitor, month));
  const lived = { api, month, subjects };
  t.same(month.complaints(), []);
  await t.test('the month has what is hard', (t) => requireHard(t, lived));
  await t.test('the reference says what the definition of consensus says', (t) => judgeReference(t, lived));
  await judgeAll(t, lived, endpoints, (index) => isThorough || index === 0 || index % 12 === 1);
  await t.test('GET /monitors', (t) => judgeList(t, lived));
  await t.test('dashboard and analytics', (t) => judgeTogether(t, lived));
  await t.test('what is corrupted is told and healed, of one monitor alone', (t) => corrupt(t, lived));
  await t.test('a reset and a deletion take from one monitor alone', (t) => forget(t, lived));
});

async function judgeAll(
  t: Test,
  lived: Lived,
  judges: Readonly<Record<string, Judge>>,
  isDeep: (index: number) => boolean,
): Promise<void> {
  for (const [name, judge] of Object.entries(judges)) {
    await t.test(name, async (t) => {
      let asked = 0;
      const wrong: { readonly name: string; readonly differs: string[] }[] = [];
      for (const subject of lived.subjects) {
        for (const { path, differs } of await judge(lived, subject, isDeep(subject.made.index))) {
          asked += 1;
          if (differs.length > 0) wrong.push({ name: `monitor ${subject.made.index}: ${path}`, differs });
        }
      }
      for (const { name, differs } of wrong.slice(0, shownAnswers)) {
        t.fail(name, { seed, nowMs: lived.api.nowMs, differs: differs.slice(0, 8) });
      }
      t.equal(wrong.length, 0, `${asked} answers`);
    });
  }
}

/** What is told of all monitors together, from their sums of days. */
async function judgeTogether(t: Test, lived: Lived): Promise<void> {
  const { api, subjects } = lived;
  await refreshDays({ database: api.database, now: () => api.nowMs });
  for (const hours of [24, 168, 720]) {
    const each = subjects.map((subject) => statsOf(subject, hours).seconds);
    const path = `/api/v1/dashboard/uptime-summary?hours=${hours}`;
    t.same(differences(await api.get(path), { monitors: subjects.length, seconds: sumOf(each) }), [], path);
  }
  const fromMs = (subjects[0]?.foldedMs ?? 0) - 500 * hourMs;
  for (const [bucket, timezone] of [
    ['day', 'Asia/Kolkata'],
    ['week', 'America/New_York'],
  ] as const) {
    const path = `/api/v1/analytics/availability?from=${iso(fromMs)}&bucket=${bucket}&timezone=${timezone}&by=monitor&limit=100`;
    const { series } = seriesShape.parse(await api.get(path));
    const found = new Map(series.map(({ key, seconds }) => [key, seconds]));
    for (const subject of subjects) {
      const { seconds } = statsOf(subject, 500);
      t.same(differences(found.get(String(subject.id)), seconds), [], `${path}, monitor ${subject.made.index}`);
    }
  }
}

const seriesShape = z.looseObject({
  series: z.array(z.object({ key: z.string(), seconds: z.record(z.string(), z.number()) })),
});

function sumOf(each: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const seconds of each) {
    for (const [name, value] of Object.entries(seconds)) {
      // In whole milliseconds, so that nothing is lost by adding up.
      sum[name] = Math.round(((sum[name] ?? 0) + value) * 1_000) / 1_000;
    }
  }
  return sum;
}

/** Changes what is stored of a monitor behind the product's back. $1 is the monitor. */
const corruptions = [
  `update status_ranges set status = 'DOWN', ended_at = ended_at - (ended_at - started_at) / 2
   where id = (select id from status_ranges where monitor_id = $1 and ended_at is not null order by ended_at - started_at desc limit 1)`,
  `delete from probe_ranges where id = (select max(id) from probe_ranges where monitor_id = $1 and ended_at is not null)`,
  `update result_hours h set results = h.results + 1, summary = o.summary from result_hours o
   where h.monitor_id = $1 and o.monitor_id = $1 and h.hour % 5 = 0 and o.hour = h.hour + 1 and o.probe_id = h.probe_id`,
  'update result_days set results = results + 7 where monitor_id = $1',
] as const;

async function corrupt(t: Test, lived: Lived): Promise<void> {
  const { api, month, subjects } = lived;
  const pool = api.database.raw;
  const victim = subjects.find(
    ({ made, rows }) => made.intervalS <= 900 && made.resetUs === null && made.index > 0 && rows.length > 1_000,
  );
  if (victim === undefined) throw new Error('no monitor has enough results: make more');
  const look = () => lookAtMonitor(pool, { monitorId: victim.id, patienceMs: 20 });
  t.same(tellLook(await look()).slice(0, -1), [], 'nothing is wrong before');
  for (const text of corruptions) t.ok(((await pool.query(text, [victim.id])).rowCount ?? 0) > 0, text);
  const damaged = await look();
  t.ok(damaged.ranges.length > 0 && damaged.packed.length > 0, 'the damage is told');
  const wrong = await Promise.all([
    endpoints['GET /stats'](lived, victim, true),
    endpoints['GET /status-ranges'](lived, victim, true),
  ]);
  t.ok(
    wrong.flat().some(({ differs }) => differs.length > 0),
    'it shows',
  );
  await judgeOthers(t, lived, victim);
  const healing = healMonitor(pool, damaged, { monitorId: victim.id, patienceMs: 90_000 }, quietLog);
  for (let healed: Awaited<typeof healing> | undefined; healed === undefined; ) {
    await month.round([victim.id]);
    healed = await Promise.race([healing, sleep(50, undefined)]);
  }
  t.equal((await healing).ranges, 'healed');
  await judgeAll(t, { ...lived, subjects: [victim] }, endpoints, () => true);
  await judgeOthers(t, lived, victim);
}

async function forget(t: Test, lived: Lived): Promise<void> {
  const { api, month, subjects } = lived;
  const [reset, deleted] = subjects
    .filter(({ made, rows }) => made.resetUs === null && rows.length > 100 && made.pauses.length === 0)
    .slice(-2);
  if (reset === undefined || deleted === undefined) throw new Error('no two monitors have enough results: make more');
  const answer = await api.call('POST', `/api/v1/monitors/${reset.id}/reset-stats`, {
    token: api.token,
    body: { confirm: true },
  });
  t.match(answer, { status: 200, body: { reset_at: iso(api.nowMs) } });
  t.equal((await api.call('DELETE', `/api/v1/monitors/${deleted.id}`, { token: api.token })).status, 204);
  await month.round([reset.id, deleted.id]);
  for (const hours of [24, 720]) {
    t.match(await api.get(pathOf(reset, `stats?hours=${hours}`)), {
      status: 'UNKNOWN',
      clamped_by: 'reset',
      uptime_percent: null,
      last_checked_at: null,
      checks: { total: 0, manual: 0 },
      response_time: { count: 0, p99_ms: null },
    });
    t.match(await api.get(pathOf(reset, `sla?hours=${hours}&slo_target=99`)), {
      incidents: 0,
      outages: [],
      measured_seconds: 0,
      error_budget: { is_met: null, burn_rate: null },
    });
  }
  for (const list of ['results', 'status-ranges']) t.match(await api.get(pathOf(reset, list)), { total: 0 });
  for (const path of [
    'stats',
    'results',
    'status-ranges',
    'timeline',
    'response-time-distribution',
    'sla',
    'sla/export/csv',
    'sla/ledger',
  ]) {
    t.equal((await api.call('GET', pathOf(deleted, path), { token: api.token })).status, 404, path);
  }
  const rest = subjects.filter((subject) => subject !== reset && subject !== deleted);
  await judgeOthers(t, { ...lived, subjects: rest }, undefined);
  await judgeList(t, { ...lived, subjects: rest }, 1);
}

/** The answers about some of the others are what they were. */
async function judgeOthers(t: Test, lived: Lived, but: Subject | undefined): Promise<void> {
  const others = lived.subjects.filter((subject) => subject !== but && subject.made.index % 7 === 3);
  const { 'GET /stats': stats, 'GET /status-ranges': listed, 'GET /sla': sla } = endpoints;
  await judgeAll(t, { ...lived, subjects: others }, { stats, listed, sla }, () => false);
}

/** Of everything that readers and the fold may get wrong there is something, or the rest would show nothing. */
async function requireHard(t: Test, { api, subjects }: Lived): Promise<void> {
  const rows = subjects.flatMap((subject) => subject.rows);
  const statuses = subjects.flatMap(({ timeline: own }) => own.segments.map(({ status }) => status));
  const made = subjects.map((subject) => subject.made);
  const { rows: stored } = await api.database.raw.query<Record<string, number>>(`
    select (select count(*) from status_ranges where revised_at is not null)::integer as revised,
      (select count(*) from stale_hours)::integer as stale, (select count(*) from result_days)::integer as days,
      (select count(*) from check_results)::integer as hot,
      (select count(*) from result_hours h, result_storage s where (h.hour + 1) * 3600.0 <= extract(epoch from s.hot_from))::integer as gone`);
  const counts = {
    ...stored[0],
    ...Object.fromEntries(
      ['UP', 'DOWN', 'TIMEOUT', 'DEGRADED', 'PARTIAL', 'WARNING', 'UNKNOWN'].map((status) => [
        status,
        statuses.filter((one) => one === status).length,
      ]),
    ),
    late: rows.filter(({ flags }) => (flags & lateFlag) !== 0).length,
    fallbacks: rows.filter(({ flags }) => (flags & fallbackFlag) !== 0).length,
    byHand: rows.filter(({ kind }) => kind === 'manual').length,
    rechecks: rows.filter(({ kind }) => kind === 'recheck').length,
    central: made.filter(({ seats }) => seats.length === 0).length,
    supplements: made.flatMap(({ seats }) => seats.filter(({ supplement }) => supplement)).length,
    moved: made.flatMap(({ seats }) => seats.filter(({ supplement, toUs }) => !supplement && toUs !== null)).length,
    paused: made.filter(({ pauses }) => pauses.length > 0).length,
    resets: made.filter(({ resetUs }) => resetUs !== null).length,
    edits: made.filter(({ rules }) => rules.length > 1).length,
  };
  for (const [what, number] of Object.entries(counts)) t.ok(number > 0, `${what}: ${number}`);
}

/** The batch form takes time that grows with the cube of the rows, so it is asked about monitors that have few. */
async function judgeReference(t: Test, { api, month, subjects }: Lived): Promise<void> {
  const untilUs = month.foldedUs + 1;
  const known = await readMonitors(api.database.raw, 0, undefined, 0);
  const show = (
    list: readonly { readonly fromUs: number; readonly toUs: number; readonly status: string }[],
  ): string[] => list.map(({ fromUs, toUs, status }) => `${status} ${fromUs} ${toUs}`);
  const few = subjects.filter(({ rows }) => rows.length < 150);
  for (const { id, rows, made, timeline: own } of few) {
    const { inputs } = known.get(id) ?? {};
    if (inputs === undefined) throw new Error(`monitor ${id} is not there`);
    const whole = timeline(inputs, rows, Math.max(inputs.createdUs, inputs.resetUs ?? 0), untilUs);
    t.same(show(own.segments), show(whole.segments), `monitor ${made.index}`);
    for (const [voter, list] of own.ownRanges)
      t.same(show(list), show(ranges(whole.perVoter.get(voter) ?? [])), `monitor ${made.index}, voter ${voter}`);
  }
  t.ok(few.length >= subjects.length / 4, `${few.length} monitors`);
}

/** @param besides monitors that are listed and not looked at */
async function judgeList(t: Test, { api, subjects }: Lived, besides = 0): Promise<void> {
  const listed: Record<string, unknown>[] = [];
  const beforeMs = Date.now() - 1_000;
  const total = subjects.length + besides;
  for (let page = 1; listed.length < total && page <= 1 + total / 30; page += 1) {
    const body = await api.get(`/api/v1/monitors?sort=uptime&page=${page}&page_size=30`);
    t.equal(body['total'], total);
    listed.push(...(body['monitors'] as Record<string, unknown>[]));
  }
  const afterMs = Date.now() + 1_000;
  t.equal(new Set(listed.map(({ id }) => id)).size, total);
  for (const subject of subjects) {
    const found = listed.find(({ id }) => id === subject.id) ?? {};
    const status = isPaused(subject) ? 'UNKNOWN' : (presentOf(subject)?.status ?? 'UNKNOWN');
    t.same(differences(found, { status, ...latestOf(subject) }), [], `monitor ${subject.made.index}`);
    const [before, after] = [uptimeOfDay(subject, beforeMs), uptimeOfDay(subject, afterMs)];
    // Its day ends at the database's now, which is somewhere between the two.
    const slack = 0.001 + (100 * (afterMs - beforeMs)) / Math.max(1, Math.min(before.measuredMs, after.measuredMs));
    const uptime = (found['uptime_24h'] as number | null) ?? -1;
    const isNear = [before, after].some(({ percent }) => Math.abs(uptime - (percent ?? -1)) <= slack);
    t.ok(isNear, `monitor ${subject.made.index}: uptime_24h ${uptime}, expected ${before.percent} to ${after.percent}`);
  }
  const order = listed.map(({ uptime_24h }) => (uptime_24h as number | null) ?? Number.POSITIVE_INFINITY);
  t.same(
    order,
    order.toSorted((one, other) => one - other),
    'the worst first, those without a figure last',
  );
}
