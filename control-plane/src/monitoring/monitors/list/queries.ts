import { monitorSchema } from '@parallax/api-contract';
import type { Monitor, MonitorSort, StatusFilter } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { latestResultJoin } from '../../check-results/index.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { contains, folded } from '../../../platform/database/text-search.ts';
import { presentSettings } from '../../groups/check/index.ts';

/*
 * Monitors as the API answers them are built as JSON by the database, a page in one statement: half the cost of rows that become
 * objects and then JSON. Aliases: m monitors, state the effective pause and category, latest the last result, day the last 24 hours.
 */

const iso = (column: ReturnType<typeof sql.fragment>) =>
  sql.fragment`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Joins `state`. @param isPaused SQL: whether an open pause holds the monitor */
const categoryJoin = (isPaused: ReturnType<typeof sql.fragment>) => sql.fragment`
  cross join lateral (
    select case
      when not m.is_active or ${isPaused} then 'paused'
      when m.status = 'UP' then 'up'
      when m.protocol <> 'dnsbl' and m.status in ('DOWN', 'TIMEOUT') then 'down'
      when m.protocol <> 'dnsbl' and m.status in ('DEGRADED', 'PARTIAL', 'WARNING') then 'degraded'
      else 'unknown'
    end as category
  ) state`;

// A pause is the monitor's own switch or that of a group it belongs to.
export const stateJoin = sql.fragment`
  left join lateral (
    select p.paused_by, p.started_at from pauses p
    where p.monitor_id = m.id and p.ended_at is null order by p.paused_by desc limit 1
  ) pause on true
  ${categoryJoin(sql.fragment`pause.paused_by is not null`)}`;

// The category alone, of many monitors: the planner may read all open pauses once instead of looking for each monitor's.
const stateOfManyJoin = categoryJoin(
  sql.fragment`exists (select from pauses p where p.monitor_id = m.id and p.ended_at is null)`,
);

// Outcome is in bits 2–5 of the flags; an answer is ok, slow or warn (0 to 2). Bit 10 is the fallback of the control plane: what the control plane measured beside probes is no latency of theirs. 0 is what measures no time, such as a look at the members of a group.
const latestMs = sql.fragment`(case
  when ((latest.flags >> 2) & 15) <= 2 and (latest.flags & 1024) = 0 then nullif(latest.total_us, 0) / 1000.0 end)`;

// Seconds of ranges within the last 24 hours, without those under maintenance. An open range counts to where its shard was folded: a
// stopped control plane earns nothing. Ranges do not overlap, so only the last one that began before the window can reach into it. Those
// of before a reset are void.
const dayJoin = sql.fragment`
  left join lateral (
    select range_agg(tstzrange(mm.started_at, mm.ended_at)) as times from maintenance_subjects mm
    where mm.subject_type = 'monitor' and mm.subject_id = m.id and (mm.ended_at is null or mm.ended_at > now() - interval '24 hours')
  ) maintained on true
  left join lateral (
    select
      sum(part.seconds) filter (where part.status in ('UP', 'DEGRADED')) as good,
      sum(part.seconds) as measured
    from (
      select r.status, extract(epoch from case
        when span.ends_at <= span.starts_at then interval '0'
        when maintained.times is null then span.ends_at - span.starts_at
        else span.ends_at - span.starts_at - coalesce((
          select sum(upper(held.time) - lower(held.time))
          from unnest(maintained.times * tstzmultirange(tstzrange(span.starts_at, span.ends_at))) as held (time)
        ), interval '0') end) as seconds
      from status_ranges r left join shards s on s.shard = m.shard
        cross join lateral (select greatest(r.started_at, now() - interval '24 hours') as starts_at,
          least(coalesce(r.ended_at, s.folded_until, r.started_at), now()) as ends_at) span
      where r.monitor_id = m.id and (r.ended_at is null or r.ended_at > now() - interval '24 hours')
        and r.started_at >= greatest(m.reset_at, (
          select max(b.started_at) from status_ranges b
          where b.monitor_id = m.id and b.started_at <= now() - interval '24 hours'
        ), '-infinity')
    ) part
  ) day on true`;

const uptime = sql.fragment`trunc(100 * coalesce(day.good, 0) / nullif(day.measured, 0), 4)`;

const json = sql.fragment`jsonb_build_object(
  'id', m.id, 'workspace_id', m.workspace_id, 'name', m.name, 'description', m.description, 'url', m.url,
  'protocol', m.protocol, 'interval_seconds', m.interval_seconds, 'timeout_seconds', m.timeout_seconds,
  'confirmations', m.confirmations, 'consensus_policy', m.consensus_policy,
  'degraded_threshold_ms', m.degraded_threshold_ms,
  'settings', ${presentSettings} || coalesce((
    select jsonb_object_agg('has_' || secret.name, true) from unnest(m.secret_fields) as secret (name)
  ), '{}'),
  'tags', to_jsonb(m.tags),
  'probe_ids', coalesce(to_jsonb(m.wanted_probe_ids), '[]'), 'regions', coalesce(to_jsonb(m.wanted_regions), '[]'),
  'assigned_probes', coalesce((
    select jsonb_agg(jsonb_build_object(
      'probe_id', a.probe_id, 'name', coalesce(p.name, ''), 'region', a.region, 'supplement', a.supplement
    ) order by a.probe_id)
    from assignments a left join probes p on p.id = a.probe_id
    where a.monitor_id = m.id and a.ended_at is null
  ), '[]'),
  'dnsbl_servers', to_jsonb(m.dnsbl_servers),
  'certificate_thresholds_days', to_jsonb(m.certificate_thresholds_days),
  'domain_thresholds_days', to_jsonb(m.domain_thresholds_days),
  'certificate_expires_at', ${iso(sql.fragment`monitor_expiry(m.id, 'certificate', m.probe_revision)`)},
  'domain_expires_at', ${iso(sql.fragment`monitor_expiry(m.id, 'domain', m.probe_revision)`)},
  'is_active', m.is_active,
  'paused_by', case when not m.is_active then 'self' else pause.paused_by end,
  'position', m.position,
  'status', case when state.category = 'paused' then 'UNKNOWN' else m.status end,
  'status_since', ${iso(sql.fragment`(case when state.category = 'paused' then pause.started_at else m.status_since end)`)},
  'last_checked_at', ${iso(sql.fragment`latest.e`)},
  'last_response_time_ms', ${latestMs},
  'uptime_24h', ${uptime},
  'created_at', ${iso(sql.fragment`m.created_at`)}, 'updated_at', ${iso(sql.fragment`m.updated_at`)},
  'version', m.version, 'probe_revision', m.probe_revision
)`;

/** One monitor of the scope as the API answers it, or null. */
export async function readMonitorJson(
  connection: CommonQueryMethods,
  scope: Scope,
  monitorId: number,
): Promise<Monitor | null> {
  const found = await connection.maybeOneFirst(sql.prepared('monitor-read', z.object({ monitor: monitorSchema }))`
    select ${json} as monitor from monitors m ${stateJoin} ${latestResultJoin} ${dayJoin}
    where m.id = ${monitorId} and m.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and m.deleted_at is null`);
  return found;
}

export type MonitorFilter = {
  readonly page: number;
  readonly page_size: number;
  readonly status_filter?: StatusFilter | undefined;
  readonly is_active?: boolean | undefined;
  readonly workspace_id?: number | undefined;
  readonly protocol?: string | undefined;
  readonly group_id?: number | undefined;
  /** All of them. */
  readonly tags: readonly string[];
  readonly search?: string | undefined;
  readonly sort: MonitorSort;
  readonly order: 'asc' | 'desc';
};

/** A page of the scope's monitors as JSON text, and how many match. */
export async function monitorsPage(
  connection: CommonQueryMethods,
  scope: Scope,
  filter: MonitorFilter,
): Promise<{ readonly monitorsJson: string; readonly total: number }> {
  const joins = [
    stateOfManyJoin,
    ...(filter.sort === 'response' || isLastOutcome(filter.status_filter) ? [latestResultJoin] : []),
    ...(filter.sort === 'uptime' ? [dayJoin] : []),
  ];
  const page = z.object({ monitors: z.string(), total: z.number() });
  const found = await connection.one(sql.type(page)`
    with matching as (
      select m.id, ${sortKeys(filter.sort)}
      from monitors m ${sql.join(joins, sql.fragment` `)}
      where ${sql.join(conditions(scope, filter), sql.fragment` and `)}
    ), page as (
      select id, row_number() over (order by ${ordering(filter.sort, filter.order)}) as place from matching
      order by place limit ${filter.page_size} offset ${(filter.page - 1) * filter.page_size}
    )
    select (select count(*)::integer from matching) as total, coalesce((
      select jsonb_agg(${json} order by page.place)
      from page join monitors m on m.id = page.id ${stateJoin} ${latestResultJoin} ${dayJoin}
    ), '[]')::text as monitors`);
  return { monitorsJson: found.monitors, total: found.total };
}

function conditions(scope: Scope, filter: MonitorFilter) {
  const workspaces = filter.workspace_id === undefined ? scope.workspaceIds : [filter.workspace_id];
  return [
    sql.fragment`m.deleted_at is null and m.workspace_id = any(${sql.array(workspaces, 'int4')})`,
    ...(filter.is_active === undefined ? [] : [sql.fragment`m.is_active = ${filter.is_active}`]),
    ...(filter.protocol === undefined ? [] : [sql.fragment`m.protocol = ${filter.protocol}`]),
    ...(filter.group_id === undefined ? [] : [isInGroup(filter.group_id)]),
    ...(filter.tags.length === 0 ? [] : [sql.fragment`m.tags @> ${sql.array(filter.tags, 'text')}`]),
    ...(filter.search === undefined || filter.search === ''
      ? []
      : [contains(filter.search, sql.fragment`m.name`, sql.fragment`m.url`)]),
    ...(filter.status_filter === undefined ? [] : [hasStatus(filter.status_filter)]),
  ];
}

function isInGroup(groupId: number) {
  return sql.fragment`exists (select from monitor_group_members gm where gm.group_id = ${groupId} and gm.monitor_id = m.id)`;
}

function isLastOutcome(filter: StatusFilter | undefined): boolean {
  return filter === 'transient' || filter === 'skipped';
}

function hasStatus(filter: StatusFilter) {
  switch (filter) {
    case 'up':
    case 'down':
    case 'degraded':
    case 'unknown':
    case 'paused':
      return sql.fragment`state.category = ${filter}`;
    case 'partial':
    case 'timeout':
    case 'warning':
      return sql.fragment`(state.category <> 'paused' and m.status = ${filter.toUpperCase()})`;
    case 'skipped':
      return sql.fragment`((latest.flags >> 2) & 15) = 5`;
    case 'transient':
      // Failed, and the probe's own timeline does not say so (yet): the same as the status of the row.
      return sql.fragment`(((latest.flags >> 2) & 15) in (3, 4) and not exists (
        select from probe_ranges v
        where v.monitor_id = m.id and v.probe_id = latest.probe_id and v.status in ('DOWN', 'TIMEOUT')
          and v.started_at <= latest.e and (v.ended_at is null or v.ended_at > latest.e)
      ))`;
  }
}

const rank = sql.fragment`array_position(array['down', 'degraded', 'unknown', 'up', 'paused'], state.category)`;

function sortKeys(sort: MonitorSort) {
  switch (sort) {
    case 'status':
      return sql.fragment`${rank} as first, null as second`;
    case 'name':
      return sql.fragment`${folded(sql.fragment`m.name`)} as first, null as second`;
    case 'uptime':
      return sql.fragment`${uptime} as first, null as second`;
    case 'response':
      return sql.fragment`${latestMs} as first, null as second`;
    case 'manual':
      return sql.fragment`m.position as first, ${rank} as second`;
  }
}

/** Missing values, and paused monitors where the status sorts, come last in both orders; ties by identifier. */
function ordering(sort: MonitorSort, order: 'asc' | 'desc') {
  const direction = order === 'asc' ? sql.fragment`asc` : sql.fragment`desc`;
  switch (sort) {
    case 'status':
      return sql.fragment`first = 5, first ${direction}, id`;
    case 'name':
      return sql.fragment`first collate "und-x-icu" ${direction}, id`;
    case 'manual':
      return sql.fragment`first ${direction} nulls last, second = 5, second ${direction}, id`;
    case 'uptime':
    case 'response':
      return sql.fragment`first ${direction} nulls last, id`;
  }
}

const categoryRow = z.object({
  total: z.number(),
  up: z.number(),
  down: z.number(),
  degraded: z.number(),
  unknown: z.number(),
  paused: z.number(),
});

/** How many monitors of the scope are of each category of the list. */
export async function countMonitorsByCategory(
  connection: CommonQueryMethods,
  scope: Scope,
): Promise<z.output<typeof categoryRow>> {
  const counts = (['up', 'down', 'degraded', 'unknown', 'paused'] as const).map(
    (category) =>
      sql.fragment`(count(*) filter (where state.category = ${category}))::integer as ${sql.identifier([category])}`,
  );
  return connection.one(sql.type(categoryRow)`
    select count(*)::integer as total, ${sql.join(counts, sql.fragment`, `)}
    from monitors m ${stateOfManyJoin}
    where m.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and m.deleted_at is null`);
}
