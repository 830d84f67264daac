import type pg from 'pg';
import {
  insertMonitors,
  insertWorkspace,
} from '../../../control-plane/src/monitoring/check-results/ingest/testing/fixture.ts';
import {
  decodeSummary,
  encodeSummary,
  mergeSummaries,
  RunningSummary,
} from '../../../control-plane/src/monitoring/check-results/packed/summary.ts';
import { seededRandom } from '../../../control-plane/src/monitoring/check-results/packed/testing/made-results.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

type FillPlan = {
  readonly monitors: number;
  readonly days: number;
  readonly incidentsADay: number;
  readonly pages: number;
  readonly nowMs: number;
};

export type FilledPage = { readonly pageId: number; readonly workspaceId: number; readonly slug: string };

const plainMonitors = 32;
const groups = 4;
const ofGroup = 5;
const others = 2;

/**
 * A workspace with monitors that fail now and then, and pages that show the same 40 components of it: 32 monitors, four groups of five, two heartbeats
 * and two webhook checks. All show uptime, and the single monitors response times.
 */
export async function fillPages(pool: pg.Pool, plan: FillPlan): Promise<readonly FilledPage[]> {
  const { nowMs, days } = plan;
  const owner = await insertWorkspace(pool);
  const createdMs = nowMs - (days + 1) * dayMs;
  const monitors = await insertMonitors(pool, owner, { count: plan.monitors, probes: [], createdMs });
  await fillRanges(pool, plan);
  const heartbeats = await idsOf(
    pool,
    `insert into heartbeats (workspace_id, name, slug, schedule_type, timezone, expected_interval_seconds, grace_period_seconds, failures_before_alert,
       require_secret, resume_on_ping, methods, uuid_hash, sealed_uuid, secret_hash, status, created_at)
     select $1, 'job ' || n, 'job-' || n, 'period', 'UTC', 60, 60, 1, false, true, 'any', int4send(n), '', '', 'up', $2
     from generate_series(1, $3::integer) n returning id`,
    [owner.workspaceId, new Date(createdMs), others],
  );
  const checks = await idsOf(
    pool,
    `insert into webhook_checks (workspace_id, name, slug_hash, sealed_slug, signature, grace_period_seconds, status, created_at)
     select $1, 'check ' || n, int4send(n), '', 'none', 60, 'up', $2 from generate_series(1, $3::integer) n returning id`,
    [owner.workspaceId, new Date(createdMs), others],
  );
  for (const [table, column, ids] of [
    ['heartbeat_ranges', 'heartbeat_id', heartbeats],
    ['webhook_check_ranges', 'check_id', checks],
  ] as const) {
    await pool.query(
      `insert into ${table} (${column}, workspace_id, started_at, status) select id, $1, $2, 'up' from unnest($3::integer[]) id`,
      [owner.workspaceId, new Date(createdMs), ids],
    );
  }
  const shown = monitors.slice(0, plainMonitors + groups * ofGroup);
  await fillResponseTimes(pool, shown, plan);
  await fillIncidents(pool, owner.workspaceId, plan);
  await fillMaintenance(pool, owner, shown, plan);
  return insertPages(pool, owner.workspaceId, { shown, heartbeats, checks, count: plan.pages });
}

/** Monitors that are up; each fails for some minutes about every ten days. */
async function fillRanges(pool: pg.Pool, { days, nowMs }: FillPlan): Promise<void> {
  await pool.query(
    `with failed as (
       select m.id, x.at, x.at + (1 + m.id % 9) * interval '1 minute' as over from monitors m cross join lateral (
         select $1::timestamptz - ((m.id * 37 % 14400) + part * 14400 + 200) * interval '1 minute' as at
         from generate_series(0, $2::integer) as part) x
       where x.at > m.created_at + interval '1 hour'),
     starts as (
       select id, created_at as at, 'UP' as status from monitors
       union all select id, at, case id % 2 when 0 then 'DOWN' else 'TIMEOUT' end from failed
       union all select id, over, 'UP' from failed),
     ranges as (select id, at, lead(at) over (partition by id order by at) as until, status from starts)
     insert into status_ranges (monitor_id, started_at, ended_at, status)
     select id, at, until, status from ranges where until is null or until > at`,
    [new Date(nowMs), Math.floor(days / 10)],
  );
  await pool.query(`update monitors set status = 'UP', status_since = created_at`);
  await pool.query('update shards set folded_until = $1', [new Date(nowMs - 2_000)]);
}

const probes = 3;
/** Of so many days hours lie beside the days. */
const hourDays = 2;

/** Sums of response times of each day from three places, and of the hours of the last days. */
async function fillResponseTimes(pool: pg.Pool, monitors: readonly number[], { days, nowMs }: FillPlan): Promise<void> {
  const random = seededRandom(7);
  const today = Math.floor(nowMs / dayMs);
  const lastHour = Math.floor(nowMs / hourMs) - 1;
  for (let day = today - days; day <= today; day += 12) {
    await pool.query('select ensure_packed_partitions($1, $2)', [day * 24, Math.min(day + 12, today + 1) * 24]);
  }
  const sums = (results: number) =>
    Array.from({ length: 20 }, (_, place) => {
      const summary = new RunningSummary();
      for (let n = 0; n < results; n += 1)
        summary.addRow(0, Math.round(80_000 * (1 + place / 20) * Math.exp(random() - 0.5)));
      return encodeSummary(summary);
    });
  const ofDays = sums(1_440);
  await pool.query(
    `insert into result_days (monitor_id, day, probe_id, results, summary, median_us)
     select m, day, probe, 1440, ($5::bytea[])[1 + (m * 7 + day * 3 + probe) % 20], case when probe = 1 then ($6::integer[])[1 + (m * 7 + day * 3) % 20] end
     from unnest($1::integer[]) m, generate_series($2::integer, $3::integer) day, generate_series(1, $4::integer) probe order by day, m, probe`,
    [monitors, today - days, today - 1, probes, ofDays, mediansOf(ofDays)],
  );
  await pool.query(
    `insert into result_hours (monitor_id, hour, probe_id, results, summary, chunk)
     select m, hour, probe, 60, ($5::bytea[])[1 + (m * 7 + hour * 3 + probe) % 20], ''
     from unnest($1::integer[]) m, generate_series($2::integer, $3::integer) hour, generate_series(1, $4::integer) probe order by hour, m, probe`,
    [monitors, (today - hourDays) * 24, lastHour, probes, sums(60)],
  );
}

/** Of the sums that the probes of a day have, by the place of the first. */
function mediansOf(sums: readonly Buffer[]): number[] {
  return sums.map((_, place) => {
    const own = [1, 2, 3].map((probe) => decodeSummary(sums[(place + probe) % sums.length] ?? Buffer.alloc(0)));
    return Math.round(mergeSummaries(own).latency.timed().quantile(0.5) ?? 0);
  });
}

/** Incidents of single monitors; one in ten is told by people, and few last. */
async function fillIncidents(pool: pg.Pool, workspaceId: number, plan: FillPlan): Promise<void> {
  const now = new Date(plan.nowMs);
  await pool.query(
    `insert into incidents (workspace_id, title, public_title, status, severity, resolution, started_at, created_at, resolved_at)
     select $1, 'incident ' || n, case when n % 10 = 0 then 'Payments are slow ' || n end, case when n % 397 = 0 then 'open' else 'resolved' end, 'major',
       case when n % 397 = 0 then null else 'auto' end, at, at + interval '20 seconds', case when n % 397 = 0 then null else at + interval '9 minutes' end
     from generate_series(1, $2::integer) as n cross join lateral (select $3::timestamptz - n * interval '1 day' / $4::integer as at) x`,
    [workspaceId, plan.incidentsADay * plan.days, now, plan.incidentsADay],
  );
  await pool.query(
    `insert into incident_members (workspace_id, incident_id, subject_type, subject_id, name, title, started_at, ended_at, resolution, is_manual)
     select i.workspace_id, i.id, 'monitor', (select min(id) from monitors) + i.id % $1, 'x', 'x', i.started_at, i.resolved_at, i.resolution, false
     from incidents i on conflict do nothing`,
    [plan.monitors],
  );
  await pool.query(
    `insert into incident_updates (workspace_id, incident_id, kind, body, is_public, created_at)
     select i.workspace_id, i.id, kind, 'We look at **it** and say more soon.', true, i.started_at + place * interval '3 minutes'
     from incidents i cross join unnest(array['investigating', 'identified', 'monitoring']) with ordinality as k (kind, place)
     where i.public_title is not null order by i.id, place`,
  );
}

/** Maintenance of an hour each week, and one that is planned. */
async function fillMaintenance(
  pool: pg.Pool,
  { workspaceId }: { readonly workspaceId: number },
  shown: readonly number[],
  { days, nowMs }: FillPlan,
): Promise<void> {
  const [id] = await idsOf(
    pool,
    `insert into maintenance (workspace_id, name, public_title, public_text, starts_at, duration_seconds, rrule, status, next_starts_at, next_ends_at)
     values ($1, 'weekly', 'Weekly maintenance', 'We change **disks**.', $2, 3600, 'FREQ=WEEKLY', 'scheduled', $3, $4) returning id`,
    [workspaceId, new Date(nowMs - days * dayMs), new Date(nowMs + dayMs), new Date(nowMs + dayMs + hourMs)],
  );
  await pool.query(
    `insert into maintenance_monitors (workspace_id, maintenance_id, monitor_id) select $1, $2, unnest($3::integer[])`,
    [workspaceId, id, shown.slice(0, 4)],
  );
  await pool.query(
    `with made as (
       insert into maintenance_occurrences (workspace_id, maintenance_id, starts_at, ends_at, ended_at, end_reason, released_at)
       select $1, $2, at, at + interval '1 hour', at + interval '1 hour', 'elapsed', at + interval '1 hour'
       from generate_series($3::timestamptz - interval '70 days', $3::timestamptz - interval '1 day', interval '7 days') at
       returning id, starts_at, ended_at)
     insert into maintenance_subjects (workspace_id, occurrence_id, subject_type, subject_id, started_at, ended_at)
     select $1, made.id, 'monitor', m, starts_at, ended_at from made, unnest($4::integer[]) m`,
    [workspaceId, id, new Date(nowMs), shown.slice(0, 4)],
  );
}

type Shown = {
  readonly shown: readonly number[];
  readonly heartbeats: readonly number[];
  readonly checks: readonly number[];
  readonly count: number;
};

async function insertPages(pool: pg.Pool, workspaceId: number, plan: Shown): Promise<readonly FilledPage[]> {
  const groupIds = await idsOf(
    pool,
    `insert into monitor_groups (workspace_id, name) select $1, 'group ' || n from generate_series(1, $2::integer) n returning id`,
    [workspaceId, groups],
  );
  const grouped = plan.shown.slice(plainMonitors);
  await pool.query(
    `insert into monitor_group_members (workspace_id, group_id, monitor_id)
     select $1, ($2::integer[])[1 + (place - 1) / $4], id from unnest($3::integer[]) with ordinality as m (id, place)`,
    [workspaceId, groupIds, grouped, Math.ceil(grouped.length / groups)],
  );
  const { rows } = await pool.query<{ id: number; slug: string }>(
    `insert into status_pages (workspace_id, name, description, slug, is_published, timezone, days)
     select $1, 'Shop status', 'How the shop is.', 'shop-' || n, true, 'Europe/Berlin', 90 from generate_series(1, $2::integer) n returning id, slug`,
    [workspaceId, plan.count],
  );
  await pool.query(
    `insert into status_page_items (workspace_id, page_id, monitor_id, group_id, heartbeat_id, webhook_check_id, display_name, section, position,
       show_uptime, show_response_times)
     select $1, p, m, g, h, c, 'Component ' || place, 'Section ' || place / 8, place, true, m is not null
     from unnest($2::integer[]) p, (
       select row_number() over () as place, * from (
         select id as m, null::integer as g, null::integer as h, null::integer as c from unnest($3::integer[]) id
         union all select null, id, null, null from unnest($4::integer[]) id
         union all select null, null, id, null from unnest($5::integer[]) id
         union all select null, null, null, id from unnest($6::integer[]) id) i) i`,
    [workspaceId, rows.map(({ id }) => id), plan.shown.slice(0, plainMonitors), groupIds, plan.heartbeats, plan.checks],
  );
  return rows.map(({ id, slug }) => ({ pageId: id, workspaceId, slug }));
}

async function idsOf(pool: pg.Pool, text: string, values: readonly unknown[]): Promise<readonly number[]> {
  const { rows } = await pool.query<{ id: number }>(text, [...values]);
  return rows.map(({ id }) => id);
}

/** An incident by hand that lasts and is public. */
export async function insertLasting(pool: pg.Pool, workspaceId: number): Promise<number> {
  const [id = 0] = await idsOf(
    pool,
    `insert into incidents (workspace_id, title, public_title, visibility, is_manual, status, severity, started_at)
     values ($1, 'slow', 'Checkout is slow', 'public', true, 'open', 'minor', now()) returning id`,
    [workspaceId],
  );
  return id;
}

/** Something is said of an incident: an update, and its event as the maker of events notes it. */
export async function change(
  pool: pg.Pool,
  {
    workspaceId,
    incidentId,
    text,
  }: { readonly workspaceId: number; readonly incidentId: number; readonly text: string },
): Promise<void> {
  await pool.query(
    `with said as (
       insert into incident_updates (workspace_id, incident_id, kind, body, is_public) values ($1, $2, 'note', $3, true) returning id)
     insert into events (event_id, workspace_id, type, subject_type, subject_id, sequence, body)
     select 'evt_bench_' || id, $1, 'incident.updated', 'incident', $2, id, '{}' from said`,
    [workspaceId, incidentId, text],
  );
}
