import type pg from 'pg';
import {
  insertMonitors,
  insertProbe,
  insertWorkspace,
} from '../../control-plane/src/monitoring/check-results/ingest/testing/fixture.ts';
import { isoOfUs } from '../../control-plane/src/monitoring/check-results/reading/time.ts';
import type { Transaction } from '../../control-plane/src/platform/database/pools.ts';
import { inScope } from '../../control-plane/src/platform/database/scope.ts';
import { readAvailabilitySeries } from '../../control-plane/src/reporting/analytics/availability.gateway.ts';
import { readWorst } from '../../control-plane/src/reporting/analytics/worst.gateway.ts';
import { refreshDays } from '../../control-plane/src/reporting/day-sums/refresh.job.ts';
import { readSeries } from '../../control-plane/src/reporting/statistics/latency-series.gateway.ts';
import { startDatabase } from './database.ts';
import { fillSubject } from './query/fill.ts';
import type { Bench, Figures } from './report.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const sizes = {
  full: { monitors: 10_000, days: 90, rounds: 15, changed: 500 },
  brief: { monitors: 200, days: 90, rounds: 2, changed: 20 },
} as const;

/** What questions about many monitors cost, from their sums of days. */
export const analyticsBench: Bench = {
  name: 'analytics',
  summary: 'availability of 10,000 monitors over 30 and 90 days, response times of one, and what the sums of days cost',
  run: async (say, options) => {
    const undo: (() => unknown)[] = [];
    try {
      return await measure(say, options?.brief === true ? 'brief' : 'full', (step) => void undo.unshift(step));
    } finally {
      for (const step of undo) await step();
    }
  },
};

async function measure(say: (line: string) => void, size: keyof typeof sizes, teardown: (step: () => unknown) => void) {
  const { monitors: count, days, rounds, changed } = sizes[size];
  const database = await startDatabase(say, teardown);
  const { worker } = database;
  say(`${count} monitors, ${days} days`);
  const nowMs = Math.floor(Date.now() / hourMs) * hourMs + 37 * 60_000;
  const owner = await insertWorkspace(worker);
  const probes = await Promise.all(['a', 'b', 'c'].map((name) => insertProbe(worker, name)));
  const monitors = await insertMonitors(worker, owner, { count, probes, createdMs: nowMs - (days + 1) * dayMs });
  await worker.query('update shards set folded_until = $1', [new Date(nowMs - 2_000)]);
  await fillDays(worker, monitors, { days, today: Math.floor(nowMs / dayMs), workspaceId: owner.workspaceId });
  const subject = monitors[Math.floor(count / 2)] ?? 0;
  await fillResults(worker, monitors, { subject, probes: probes.map(({ id }) => id), nowMs });
  await database.owner.query('vacuum analyze');

  const scope = { userId: owner.userId, workspaceIds: [owner.workspaceId] };
  const read = (work: (tx: Transaction) => Promise<unknown>) =>
    medianMs(rounds, () => inScope(database.requests, scope, work));
  const availability = (window: number, by: 'workspace' | 'monitor', timezone = 'UTC') =>
    read((tx) =>
      readAvailabilitySeries(
        scope,
        tx,
        {
          from: new Date(nowMs - window * dayMs).toISOString(),
          bucket: 'day',
          timezone,
          week_starts: 1,
          by,
          compare: false,
          limit: 100,
        },
        nowMs,
      ),
    );
  say('questions');
  const figures = {
    analytics_30d_ms: await availability(30, 'workspace'),
    analytics_90d_ms: await availability(90, 'workspace'),
    analytics_30d_zone_ms: await availability(30, 'workspace', 'Asia/Kolkata'),
    analytics_30d_monitors_ms: await availability(30, 'monitor'),
    worst_30d_ms: await read((tx) =>
      readWorst(scope, tx, { from: new Date(nowMs - 30 * dayMs).toISOString(), metric: 'uptime', limit: 10 }, nowMs),
    ),
    latency_ms: await read((tx) => latencyOf(tx, subject, nowMs)),
    // A place for `combined_ms`, the whole of a dashboard.
    ...(await summing(worker, monitors, changed, { readers: database.readers, nowMs })),
  } satisfies Figures;
  return { figures, table: tableOf(figures, { count, changed }) };
}

/** Response times of thirty days of one monitor, as `GET /monitors/{id}/latency` reads them. */
function latencyOf(tx: Transaction, monitorId: number, nowMs: number): Promise<unknown> {
  const fromMs = nowMs - 30 * dayMs;
  const window = {
    hours: 720,
    period: null,
    timezone: 'UTC',
    requestedFromMs: fromMs,
    requestedToMs: nowMs,
    fromMs,
    toMs: nowMs,
    clampedBy: null,
    openUntilMs: nowMs,
  };
  return readSeries(tx, monitorId, window, { by: 'monitor', points: 200, timezone: 'UTC', week_starts: 1 });
}

/** Days of which every thirtieth has an outage of ten minutes, and the present one, which is live. */
async function fillDays(
  pool: pg.Pool,
  monitors: readonly number[],
  { days, today, workspaceId }: { readonly days: number; readonly today: number; readonly workspaceId: number },
): Promise<void> {
  for (let day = today - days; day < today; day += 1) {
    await pool.query(
      `insert into subject_days (subject_type, subject_id, workspace_id, day, up_ms, down_ms, until_ms, outages, repairs, repair_ms, spans)
       select 'monitor', id, $2, $3, 86400000 - down, down, 86400000, sign(down), sign(down), down,
         case when down > 0 then array[0, 36000000 * 8 + 2, 36600000 * 8] end
       from (select id, case when (id + $3) % 30 = 0 then 600000 else 0 end as down from unnest($1::integer[]) as id) m`,
      [monitors, workspaceId, day],
    );
  }
  await pool.query(
    `insert into subject_days (subject_type, subject_id, workspace_id, day, until_ms, tail)
     select 'monitor', id, $2, $3, 0, 0 from unnest($1::integer[]) as id`,
    [monitors, workspaceId, today],
  );
  await pool.query(
    `insert into status_ranges (monitor_id, started_at, status)
     select id, to_timestamp($2::float8), 'UP' from unnest($1::integer[]) as id`,
    [monitors, (today - days) * 86_400],
  );
  await pool.query('delete from subject_day_marks');
}

/** Packed results of thirty days of one monitor, every 60 s from three probes. */
async function fillResults(
  pool: pg.Pool,
  monitors: readonly number[],
  { subject, probes, nowMs }: { readonly subject: number; readonly probes: readonly number[]; readonly nowMs: number },
): Promise<void> {
  const days = 30;
  for (let hour = Math.floor(nowMs / hourMs) - days * 24 - 24; hour < nowMs / hourMs + 24; hour += 50 * 24) {
    await pool.query('select ensure_packed_partitions($1, $2)', [hour, hour + 50 * 24]);
  }
  const plan = { monitors, days, nowUs: nowMs * 1_000 };
  await fillSubject(pool, { monitorId: subject, probes, intervalS: 60, seed: 1 }, plan);
  const hotFromMs = (Math.floor(nowMs / dayMs) - 2) * dayMs;
  await pool.query('update result_storage set hot_from = $1', [isoOfUs(hotFromMs * 1_000)]);
}

/** What a round of the sums costs when nothing has changed, and when some monitors went down. */
async function summing(
  pool: pg.Pool,
  monitors: readonly number[],
  changed: number,
  world: { readonly readers: Parameters<typeof refreshDays>[0]['database']['worker']; readonly nowMs: number },
) {
  const work = { now: () => world.nowMs, database: { worker: world.readers } };
  await refreshDays(work);
  const rest = await medianMs(20, () => refreshDays(work));
  const failing = monitors.slice(0, changed);
  await pool.query(
    `update status_ranges set ended_at = to_timestamp($2) where monitor_id = any($1) and ended_at is null`,
    [failing, world.nowMs / 1_000 - 60],
  );
  const started = performance.now();
  const days = await refreshDays(work);
  if (days !== failing.length) throw new Error(`${days} days were summed, and ${failing.length} monitors changed`);
  return {
    sums_rest_ms: rest,
    sums_changed_us: Math.round(((performance.now() - started) * 1_000) / failing.length),
  };
}

async function medianMs(rounds: number, work: () => Promise<unknown>): Promise<number> {
  await work();
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const started = performance.now();
    await work();
    times.push(performance.now() - started);
  }
  return Math.round((times.toSorted((one, other) => one - other)[Math.floor(rounds / 2)] ?? 0) * 10) / 10;
}

function tableOf(
  figures: Figures,
  { count, changed }: { readonly count: number; readonly changed: number },
): (readonly [string, string])[] {
  const ms = (key: string): string => `${figures[key]} ms`;
  return [
    [`availability of ${count} monitors, 30 days`, `${ms('analytics_30d_ms')} (goal ≤ 400)`],
    ['the same, 90 days', `${ms('analytics_90d_ms')} (goal ≤ 1,000)`],
    ['30 days of a zone that is half an hour off', ms('analytics_30d_zone_ms')],
    ['30 days, the worst 100 monitors in series', ms('analytics_30d_monitors_ms')],
    ['the worst 10 monitors of 30 days', ms('worst_30d_ms')],
    ['response times of one monitor, 30 days', `${ms('latency_ms')} (goal ≤ 30)`],
    ['a round of the sums in which nothing changed', ms('sums_rest_ms')],
    [`summing a monitor that changed, of ${changed}`, `${figures['sums_changed_us']} µs`],
  ];
}
