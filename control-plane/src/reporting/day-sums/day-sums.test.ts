import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { z } from 'zod';
import type { Test } from 'tap';
import { insertMonitors, insertWorkspace } from '../../monitoring/check-results/ingest/testing/fixture.ts';
import { sql } from '../../platform/database/pools.ts';
import type { Database } from '../../platform/database/pools.ts';
import { testDatabase } from '../../platform/database/testing.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { readAvailability } from '../statistics/index.ts';
import type { ReportRange, TimeByStatus, TimeInterval } from '../statistics/index.ts';
import { timelines } from '../statistics/test-timelines.ts';
import { dayMs, dayOf } from './day-row.ts';
import { readSums } from './read.queries.ts';
import type { SummedTime } from './read.queries.ts';
import { removeOldDays } from './store.queries.ts';
import { refreshDays } from './refresh.job.ts';
import type { AtOnce } from './refresh.job.ts';

const hourMs = 3_600_000;
const startMs = Date.parse('2026-03-01T00:00:00.000Z');

type World = {
  readonly database: Database;
  readonly scope: Scope;
  readonly ids: readonly number[];
  readonly createdMs: number;
  /** The time that it is, and up to which results are evaluated. */
  nowMs: number;
  foldedMs: number;
};

async function worldOf(t: Test, count: number, createdMs = startMs + 5 * hourMs + 123): Promise<World> {
  const { database } = await testDatabase(t);
  const owner = await insertWorkspace(database.raw);
  const ids = await insertMonitors(database.raw, owner, { count, probes: [], createdMs });
  const scope = { userId: owner.userId, workspaceIds: [owner.workspaceId] };
  return { database, scope, ids, createdMs, nowMs: createdMs, foldedMs: createdMs };
}

async function goTo(world: World, nowMs: number, lagMs: number): Promise<void> {
  world.nowMs = nowMs;
  world.foldedMs = nowMs - lagMs;
  await world.database.worker.query(sql.unsafe`update shards set folded_until = ${at(world.foldedMs)}`);
}

const at = (ms: number) => sql.timestamp(new Date(ms));
const atOrNull = (ms: number | null) => (ms === null ? sql.fragment`null` : sql.fragment`${at(ms)}`);

const refresh = (world: World, atOnce?: AtOnce) =>
  refreshDays({ database: world.database, now: () => world.nowMs }, undefined, atOnce);

const sumsOf = (world: World, edgesMs: readonly number[], by: 'subject' | 'all' = 'subject'): Promise<SummedTime[]> =>
  world.database.worker.transaction((tx) => readSums(world.scope, tx, { type: 'monitor', by }, edgesMs, world.nowMs));

/** What the statistics of monitors say of the same times. */
async function expectedOf(t: Test, world: World, edgesMs: readonly number[]): Promise<SummedTime[]> {
  const openUntilMs = Math.min(world.nowMs, world.foldedMs);
  const knownMs = world.nowMs - openUntilMs <= 60_000 ? openUntilMs : world.nowMs;
  const expected: SummedTime[] = [];
  for (const id of world.ids) {
    for (const [bucket, edge] of edgesMs.slice(0, -1).entries()) {
      const toMs = Math.min(edgesMs[bucket + 1] ?? edge, knownMs);
      const fromMs = Math.max(edge, world.createdMs);
      if (toMs <= fromMs) continue;
      const window = { fromMs, toMs, openUntilMs };
      const report = await readAvailability(world.database.worker, id, window, { listedOutages: 0 });
      expected.push({ key: String(id), bucket, time: timeOf(report.measured) });
      if (edge % dayMs !== 0 || (edgesMs[bucket + 1] ?? 0) - edge !== dayMs) continue;
      const stored = await storedOutages(world, id, edge / dayMs);
      const { repairs, repairMs } = report;
      t.same(stored, { outages: report.days[0]?.outages ?? 0, repairs, repair_ms: repairMs }, `outages of ${id}`);
    }
  }
  return expected;
}

/** Outages that began on a day, and that ended on it, and how long the latter had lasted. */
async function storedOutages({ database }: World, id: number, day: number) {
  const stored = await database.worker.maybeOne(sql.type(
    z.object({ outages: z.number(), repairs: z.number(), repair_ms: z.number() }),
  )`
    select outages, repairs, repair_ms::float8 from subject_days where subject_type = 'monitor' and subject_id = ${id} and day = ${day}`);
  return stored ?? { outages: 0, repairs: 0, repair_ms: 0 };
}

function timeOf(time: TimeByStatus): TimeByStatus {
  const { upMs, degradedMs, downMs, timeoutMs, unknownMs, maintenanceMs, pausedMs, excludedMs } = time;
  return { upMs, degradedMs, downMs, timeoutMs, unknownMs, maintenanceMs, pausedMs, excludedMs };
}

async function compare(t: Test, world: World, edgesMs: readonly number[], what: string): Promise<void> {
  const order = (list: readonly SummedTime[]) =>
    list
      .filter(({ time }) => Object.values(time).some((ms) => ms !== 0))
      .toSorted((one, other) => Number(one.key) - Number(other.key) || one.bucket - other.bucket);
  const expected = await expectedOf(t, world, edgesMs);
  t.same(order(await sumsOf(world, edgesMs)), order(expected), what);
  const all = new Map<number, TimeByStatus>();
  for (const { bucket, time } of expected) all.set(bucket, plus(all.get(bucket), time));
  const together = [...all].map(([bucket, time]) => ({ key: '', bucket, time }));
  t.same(order(await sumsOf(world, edgesMs, 'all')), order(together), `${what}, all monitors together`);
}

function plus(sum: TimeByStatus | undefined, time: TimeByStatus): TimeByStatus {
  if (sum === undefined) return time;
  const names = Object.keys(time) as (keyof TimeByStatus)[];
  return Object.fromEntries(names.map((name) => [name, sum[name] + time[name]])) as TimeByStatus;
}

type History = {
  readonly ranges: readonly ReportRange[];
  readonly pauses: readonly TimeInterval[];
  readonly maintenance: readonly TimeInterval[];
};

/** Writes what is known of a history at an instant over what was known before. */
async function writeHistory(world: World, id: number, history: History): Promise<void> {
  const { worker } = world.database;
  const until = world.foldedMs;
  const known = (endMs: number | null) => (endMs === null || endMs > until ? null : endMs);
  for (const { startedMs, endedMs, status } of history.ranges) {
    if (startedMs < world.createdMs || startedMs > until) continue;
    await worker.query(sql.unsafe`
      insert into status_ranges (monitor_id, started_at, ended_at, status, evidence)
      values (${id}, ${at(startedMs)}, ${atOrNull(known(endedMs))}, ${status}, '{}')
      on conflict (monitor_id, started_at) do update set ended_at = excluded.ended_at where status_ranges.ended_at is distinct from excluded.ended_at`);
  }
  for (const [place, { fromMs, toMs }] of history.pauses.entries()) {
    if (fromMs < world.createdMs || fromMs > until) continue;
    await worker.query(sql.unsafe`
      insert into pauses (id, monitor_id, started_at, ended_at) overriding system value
      values (${id * 100 + place}, ${id}, ${at(fromMs)}, ${atOrNull(known(toMs))})
      on conflict (id) do update set ended_at = excluded.ended_at`);
  }
  for (const [place, { fromMs, toMs }] of history.maintenance.entries()) {
    if (fromMs < world.createdMs || fromMs > until) continue;
    await worker.query(sql.unsafe`
      insert into maintenance_subjects (id, workspace_id, occurrence_id, subject_type, subject_id, started_at, ended_at) overriding system value
      values (${id * 100 + place}, ${world.scope.workspaceIds[0] ?? 0}, ${id * 100 + place}, 'monitor', ${id}, ${at(fromMs)}, ${atOrNull(known(toMs))})
      on conflict (id) do update set ended_at = excluded.ended_at`);
  }
}

const wholeDays = (world: World): number[] => {
  const days = dayOf(world.nowMs) - dayOf(startMs) + 1;
  return Array.from({ length: days + 1 }, (_, day) => startMs + day * dayMs);
};

void t.test('sums say what the statistics of each monitor say, while time goes on and its past changes', async (t) => {
  const world = await worldOf(t, 12);
  // The last two monitors have the histories of the first two: alike days are read as one.
  const histories = fc.sample(timelines, { numRuns: world.ids.length - 2, seed: 7 });
  histories.push(...histories.slice(0, 2));
  const steps = [6, 9, 23.9, 24.01, 30, 47, 55, 71, 100, 130].map((hours) => startMs + hours * hourMs + 1_234);
  for (const [step, nowMs] of steps.entries()) {
    // The evaluation stands still over midnight, and again later.
    const isBehind = step === 3 || step === 6;
    await goTo(world, nowMs, isBehind ? nowMs - world.foldedMs : 2_000);
    for (const [place, id] of world.ids.entries()) {
      const history = histories[place];
      if (history !== undefined) await writeHistory(world, id, history);
    }
    await refresh(world, { subjects: 5, ranges: 50 });
    await compare(t, world, wholeDays(world), `whole days after ${step} steps`);
    const some = fc.sample(fc.integer({ min: startMs, max: nowMs + hourMs }), { numRuns: 12, seed: step });
    const edges = [...new Set([...some, startMs + dayMs, startMs + 2 * dayMs])].toSorted((a, b) => a - b);
    await compare(t, world, edges, `buckets after ${step} steps`);
    // Few days are read by another statement than many.
    const ends = [nowMs - 50 * hourMs, nowMs - 24 * hourMs, nowMs - hourMs].filter((ms) => ms > startMs);
    const midnights = wholeDays(world).filter((ms) => ms > (ends[0] ?? startMs));
    await compare(
      t,
      world,
      [...ends, ...midnights].toSorted((a, b) => a - b),
      `few days after ${step} steps`,
    );
    await compare(t, world, ends, `parts of few days after ${step} steps`);
    // The day of the clock, also where evaluation stands still on the day before.
    await compare(t, world, wholeDays(world).slice(-2), `the last day after ${step} steps`);
  }
  // Late results: ranges are given up, moved and cut, as a revision does.
  await world.database.worker.query(sql.unsafe`
    delete from status_ranges where id in (select id from status_ranges where ended_at is not null and id % 5 = 0)`);
  await world.database.worker.query(sql.unsafe`
    update status_ranges set ended_at = started_at + (ended_at - started_at) / 2 where ended_at is not null and id % 3 = 0`);
  await world.database.worker.query(sql.unsafe`
    update status_ranges set status = 'DEGRADED' where id % 7 = 0`);
  await refresh(world);
  await compare(t, world, wholeDays(world), 'after a revision');
});

const count = (world: World, where: ReturnType<typeof sql.fragment>) =>
  world.database.worker.oneFirst(
    sql.type(z.object({ n: z.number() }))`select count(*)::integer as n from subject_days where ${where}`,
  );

void t.test('sums go on by themselves, and follow a subject that moves, is reset and goes', async (t) => {
  const world = await worldOf(t, 3, startMs);
  const { worker, raw } = world.database;
  const [first = 0, second = 0, third = 0] = world.ids;
  await goTo(world, startMs + 10 * hourMs, 1_000);
  for (const id of world.ids)
    await writeHistory(world, id, { ranges: [open(startMs + hourMs)], pauses: [], maintenance: [] });
  t.equal(await refresh(world), 3);
  await compare(t, world, wholeDays(world), 'a first day');
  await goTo(world, startMs + 5 * dayMs + 2 * hourMs, 1_000);
  t.equal(await refresh(world), 0, 'nothing changed, so nothing is summed');
  t.equal(await count(world, sql.fragment`true`), 3 * 6, 'but each day has its row');
  await compare(t, world, wholeDays(world), 'days in which nothing changed');

  const other = await raw.query<{ id: number }>(
    `insert into workspaces (owner_id, name, ping_key) values ($1, 'other', 'other') returning id`,
    [world.scope.userId],
  );
  const otherId = other.rows[0]?.id ?? 0;
  await worker.query(sql.unsafe`update monitors set workspace_id = ${otherId} where id = ${first}`);
  t.equal((await sumsOf(world, wholeDays(world))).filter(({ key }) => key === String(first)).length, 0, 'at once');
  await refresh(world);
  t.equal(await count(world, sql.fragment`workspace_id = ${otherId}`), 6, 'a move takes the days along');

  const resetMs = startMs + 4 * dayMs + 7 * hourMs;
  await worker.query(sql.unsafe`update monitors set reset_at = ${at(resetMs)} where id = ${second}`);
  t.equal(
    (await sumsOf(world, wholeDays(world))).filter(({ key }) => key === String(second)).length,
    2,
    'days of before a reset are void at once',
  );
  await refresh(world);
  t.equal(await count(world, sql.fragment`subject_id = ${second}`), 2);
  const ofReset = await sumsOf(world, [startMs, startMs + 6 * dayMs]);
  t.equal(
    Object.values(ofReset.find(({ key }) => key === String(second))?.time ?? {}).reduce((sum, ms) => sum + ms, 0),
    world.foldedMs - resetMs,
    'and that of the reset begins with it',
  );

  await worker.query(sql.unsafe`update monitors set deleted_at = now() where id = ${third}`);
  t.equal((await sumsOf(world, wholeDays(world))).filter(({ key }) => key === String(third)).length, 0);
  await refresh(world);
  t.equal(await count(world, sql.fragment`subject_id = ${third}`), 0);
});

void t.test('a long history is summed in pieces, and days are kept for two years', async (t) => {
  const nowMs = Math.floor(Date.now() / dayMs) * dayMs + 3 * hourMs;
  const world = await worldOf(t, 2, nowMs - 800 * dayMs);
  await goTo(world, nowMs, 0);
  const [first = 0] = world.ids;
  await writeHistory(world, first, {
    ranges: [open(nowMs - 790 * dayMs)],
    pauses: [{ fromMs: nowMs - 40.5 * dayMs, toMs: nowMs - 33.5 * dayMs }],
    maintenance: [],
  });
  t.equal(await refresh(world, { subjects: 2, ranges: 3 }), 2 * 731);
  const [only] = await sumsOf(world, [nowMs - 60 * dayMs, nowMs]).then((all) =>
    all.filter(({ key }) => key === String(first)),
  );
  t.match(only?.time, { upMs: 53 * dayMs, pausedMs: 7 * dayMs, unknownMs: 0 });
  await goTo(world, nowMs + dayMs, 0);
  await refresh(world);
  t.equal(await removeOldDays(world.database.worker, world.nowMs), 2);
  t.equal(await removeOldDays(world.database.worker, world.nowMs), 0);
});

function open(startedMs: number): ReportRange {
  return { startedMs, endedMs: null, status: 'UP', isRevised: false, votes: [] };
}

void t.test('two that sum at the same time leave each other alone', async (t) => {
  const world = await worldOf(t, 40, startMs);
  await goTo(world, startMs + 3 * dayMs, 0);
  await Promise.all([refresh(world, { subjects: 3, ranges: 10 }), refresh(world), refresh(world)]);
  await refresh(world);
  await compare(t, world, wholeDays(world), 'all days');
});
