import { quietLog } from '@parallax/testkit';
import type pg from 'pg';
import {
  insertMonitors,
  insertWorkspace,
} from '../../control-plane/src/monitoring/check-results/ingest/testing/fixture.ts';
import type { Context } from '../../control-plane/src/context.ts';
import { openDatabase } from '../../control-plane/src/platform/database/pools.ts';
import type { Database } from '../../control-plane/src/platform/database/pools.ts';
import type { Caller } from '../../control-plane/src/platform/http/caller.ts';
import { readAll } from '../../control-plane/src/reporting/dashboard/combined.gateway.ts';
import { dashboardReader } from '../../control-plane/src/reporting/dashboard/reader.gateway.ts';
import { refreshDays } from '../../control-plane/src/reporting/day-sums/refresh.job.ts';
import { testContext } from '../../control-plane/src/identity/testing.ts';
import { startDatabase } from './database.ts';
import type { Bench, Figures } from './report.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

const sizes = {
  full: { monitors: 10_000, days: 90, messagesADay: 2_000, incidentsADay: 200, rounds: 20 },
  brief: { monitors: 50, days: 3, messagesADay: 20, incidentsADay: 5, rounds: 3 },
} as const;

/** What the dashboard of a large installation costs to read. */
export const dashboardBench: Bench = {
  name: 'dashboard',
  summary: 'the parts of the dashboard at 10,000 monitors with ninety days of history, one by one and together',
  run: async (say, options) => {
    const undo: (() => unknown)[] = [];
    try {
      return await measure(say, options?.brief === true ? 'brief' : 'full', (step) => void undo.unshift(step));
    } finally {
      for (const step of undo) await step();
    }
  },
};

type Owner = { readonly userId: number; readonly workspaceId: number };

async function measure(say: (line: string) => void, size: keyof typeof sizes, teardown: (step: () => unknown) => void) {
  const { monitors: count, days, rounds } = sizes[size];
  const started = await startDatabase(say, teardown);
  const database = await openDatabase(started.urls, { api: 16, worker: 4 });
  teardown(() => database.close());
  const nowMs = Math.floor(Date.now() / minuteMs) * minuteMs;
  const owner = await insertWorkspace(started.worker);
  say(`${count} monitors, ${days} days`);
  const createdMs = nowMs - (days + 1) * dayMs;
  await insertMonitors(started.worker, owner, { count, probes: [], createdMs });
  await fillRanges(started.worker, days, nowMs);
  say('sums of days');
  const startedMs = performance.now();
  await refreshDays({ database, now: () => nowMs });
  const sumsSeconds = (performance.now() - startedMs) / 1_000;
  say('messages and incidents');
  await fillDashboard(started.worker, owner, { ...sizes[size], nowMs });
  await started.owner.query('vacuum analyze');
  const figures = {
    ...(await dashboardFigures(database, owner, { nowMs, rounds, say })),
    sums_seconds: round(sumsSeconds),
  };
  const table = Object.entries(figures).map(
    ([name, value]) => [name, `${value} ${name.endsWith('_ms') ? 'ms' : 's'}`] as const,
  );
  return { figures, table };
}

/** Monitors that are up; each had an outage of some minutes once a month, and one in twenty in the last day. */
async function fillRanges(worker: pg.Pool, days: number, nowMs: number): Promise<void> {
  const onsets = `
    select m.id, m.created_at, x.at, x.at + (1 + m.id % 9) * interval '1 minute' as over from monitors m cross join lateral (
      select $1::timestamptz - ((m.id * 37 % 43200) + month * 43200 + 2000) * interval '1 minute' as at
      from generate_series(0, ${Math.max(0, Math.floor(days / 30) - 1)}) as month
      union all select $1::timestamptz - (30 + m.id % 1200) * interval '1 minute' where m.id % 20 = 0) x
    where x.at > m.created_at + interval '1 hour'`;
  await worker.query(
    `with failed as (${onsets}), starts as (
       select id, created_at as at, 'UP' as status from monitors
       union all select id, at, case id % 2 when 0 then 'DOWN' else 'TIMEOUT' end from failed
       union all select id, over, 'UP' from failed),
     ranges as (select id, at, lead(at) over (partition by id order by at) as until, status from starts)
     insert into status_ranges (monitor_id, started_at, ended_at, status)
     select id, at, until, status from ranges where until is null or until > at`,
    [new Date(nowMs).toISOString()],
  );
  await worker.query(
    `insert into shards (shard, folded_until) select distinct shard, $1::timestamptz from monitors
     on conflict (shard) do update set folded_until = excluded.folded_until`,
    [new Date(nowMs - 3_000).toISOString()],
  );
}

/** Messages and incidents as alerts of a large installation leave them in a month. */
export async function fillDashboard(
  worker: pg.Pool,
  { userId, workspaceId }: Owner,
  size: { readonly nowMs: number; readonly messagesADay: number; readonly incidentsADay: number },
): Promise<void> {
  const now = new Date(size.nowMs).toISOString();
  await worker.query(
    `insert into incidents (workspace_id, title, status, severity, resolution, started_at, created_at, acknowledged_at, resolved_at)
     select $1, 'incident ' || n, case when n % 97 = 0 then 'open' else 'resolved' end, 'major', case when n % 97 = 0 then null else 'auto' end,
       at, at + interval '20 seconds', case when n % 3 = 0 then at + interval '2 minutes' end,
       case when n % 97 = 0 then null else at + interval '9 minutes' end
     from generate_series(1, $2::integer) as n cross join lateral (select $3::timestamptz - n * interval '1 day' / $4::integer as at) x`,
    [workspaceId, size.incidentsADay * 30, now, size.incidentsADay],
  );
  await worker.query(
    `with occasions as (
       insert into alert_occasions (workspace_id, key, event, title, severity, is_lasting, started_at, opened_at, seq, problem_seq, created_at)
       select $1, 'bench ' || n, 'monitor.down', 'x', 'major', true, at, at, 1, 1, at
       from generate_series(1, $2::integer) as n cross join lateral (select $3::timestamptz - n * interval '1 day' / $4::integer as at) x
       returning id, created_at)
     insert into notifications (workspace_id, occasion_id, alert_name, event, kind, seq, title, target_key, owner_id, channel, target_masked, status,
       created_at, done_at)
     select $1, id, 'a', 'monitor.down', case id % 2 when 0 then 'opened' else 'recovered' end, 1, 'x', 'k', $5,
       (array['email', 'slack', 'webhook'])[1 + id % 3], '…', case when id % 10 = 0 then 'deduplicated' else 'sent' end, created_at,
       case when id % 10 = 0 then null else created_at + (id % 5000) * interval '1 millisecond' end
     from occasions`,
    [workspaceId, size.messagesADay * 30, now, size.messagesADay, userId],
  );
}

/**
 * Times of the dashboard of a workspace, in milliseconds that pass until the answer is there: the median of the rounds, none of which finds anything
 * kept. What HTTP costs is left out.
 */
export async function dashboardFigures(
  database: Database,
  { userId, workspaceId }: Owner,
  { nowMs, rounds, say }: { readonly nowMs: number; readonly rounds: number; readonly say: (line: string) => void },
): Promise<Figures> {
  // The clock goes back and forth, so that nothing is kept and the evaluation is never behind.
  let step = 0;
  const context: Context = testContext(database, { log: quietLog, now: () => nowMs + step });
  const read = dashboardReader(context);
  const caller: Caller = {
    kind: 'user',
    userId,
    isAdministrator: false,
    workspaces: new Map([[workspaceId, 'owner']]),
    plan: 'self_hosted',
    readOnly: false,
    isLimited: false,
  };
  const query = { hours: 24, limit: 20 } as const;
  const medianMs = async (name: string, work: () => Promise<unknown>): Promise<number> => {
    const times: number[] = [];
    for (let number = 0; number < rounds + 3; number += 1) {
      step = 10_001 - step;
      const startedMs = performance.now();
      await work();
      times.push(performance.now() - startedMs);
    }
    const measured = times.slice(3).toSorted((a, b) => a - b);
    say(`${name}: ${measured.map(round).join(', ')}`);
    return round(measured[Math.floor(measured.length / 2)] ?? 0);
  };
  const all = await readAll(context, read, caller, query);
  if (all.errors.length > 0) throw new Error(`parts failed: ${JSON.stringify(all.errors)}`);
  return {
    stats_ms: await medianMs('stats', () => read.stats(caller, {})),
    uptime_summary_ms: await medianMs('uptime', () => read.uptime_summary(caller, query)),
    uptime_summary_30d_ms: await medianMs('uptime of 30 days', () => read.uptime_summary(caller, { hours: 720 })),
    uptime_summary_90d_ms: await medianMs('uptime of 90 days', () => read.uptime_summary(caller, { hours: 2_160 })),
    alerts_summary_ms: await medianMs('alerts', () => read.alerts_summary(caller, query)),
    incidents_ms: await medianMs('incidents', () => read.incidents(caller, query)),
    combined_ms: await medianMs('combined', () => readAll(context, read, caller, query)),
  };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
