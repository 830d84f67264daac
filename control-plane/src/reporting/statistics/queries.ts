import { monitorStatuses } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { latestResultJoin } from '../../monitoring/check-results/index.ts';
import { sql } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import type { ProbeTime } from './probes.ts';
import type { ReportWindow } from './window.ts';

const subjectRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  workspace_name: z.string(),
  name: z.string(),
  url: z.string(),
  protocol: z.string(),
  interval_seconds: z.number(),
  status: z.enum(monitorStatuses),
  is_paused: z.boolean(),
  created_at: z.number(),
  reset_at: z.number().nullable(),
  sla_chain: z.number(),
  folded_until: z.number().nullable(),
});
/** The monitor that is reported on. Times in milliseconds since the epoch. */
export type Subject = z.infer<typeof subjectRow>;

const selectSubjects = sql.fragment`
  select m.id, m.workspace_id, w.name as workspace_name, m.name, m.url, m.protocol, m.interval_seconds, m.status,
    not m.is_active or exists (select from pauses p where p.monitor_id = m.id and p.ended_at is null) as is_paused,
    m.created_at, m.reset_at, m.sla_chain, s.folded_until
  from monitors m join workspaces w on w.id = m.workspace_id left join shards s on s.shard = m.shard`;

const ofScope = (scope: Scope) =>
  sql.fragment`m.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and m.deleted_at is null`;

/** A monitor of the scope, or null: none, deleted, or another's. */
export async function findSubject(
  connection: CommonQueryMethods,
  scope: Scope,
  monitorId: number,
): Promise<Subject | null> {
  return connection.maybeOne(sql.type(subjectRow)`
    ${selectSubjects} where m.id = ${monitorId} and ${ofScope(scope)}`);
}

/** Monitors of the scope among those, in one statement. */
export async function findSubjects(
  connection: CommonQueryMethods,
  scope: Scope,
  monitorIds: readonly number[],
): Promise<readonly Subject[]> {
  return connection.any(sql.type(subjectRow)`
    ${selectSubjects} where m.id = any(${sql.array([...monitorIds], 'int4')}) and ${ofScope(scope)}`);
}

/** Start of the monitor's last scheduled check or recheck, in milliseconds; null when there is none since the reset. */
export async function lastCheckedMs(connection: CommonQueryMethods, monitorId: number): Promise<number | null> {
  return connection.oneFirst(sql.type(z.object({ e: z.number().nullable() }))`
    select case when latest.e >= coalesce(m.reset_at, '-infinity') then latest.e end as e
    from monitors m ${latestResultJoin} where m.id = ${monitorId}`);
}

const probeTimeRow = z.object({
  probe_id: z.number(),
  status: z.enum(['UP', 'DOWN', 'TIMEOUT', 'DEGRADED']),
  ms: z.number(),
});

/** How long each of the probes voted what, within the window. */
export async function probeTimes(
  connection: CommonQueryMethods,
  monitorId: number,
  probeIds: readonly number[],
  window: Pick<ReportWindow, 'fromMs' | 'toMs' | 'openUntilMs'>,
): Promise<ProbeTime[]> {
  const from = at(window.fromMs);
  const to = at(window.toMs);
  const rows = await connection.any(sql.type(probeTimeRow)`
    select v.probe_id, r.status, sum(extract(epoch from
      least(date_trunc('milliseconds', coalesce(r.ended_at, ${at(window.openUntilMs)})), ${to})
      - greatest(date_trunc('milliseconds', r.started_at), ${from})) * 1000)::float8 as ms
    from unnest(${sql.array([...new Set(probeIds)], 'int4')}) as v (probe_id)
    cross join lateral (
      select r.started_at, r.ended_at, r.status from probe_ranges r
      where r.monitor_id = ${monitorId} and r.probe_id = v.probe_id and r.started_at < ${to}
        and coalesce(r.ended_at, ${at(window.openUntilMs)}) > greatest(r.started_at, ${from})
        and r.started_at >= (
          select greatest(m.reset_at, (
            select max(b.started_at) from probe_ranges b
            where b.monitor_id = ${monitorId} and b.probe_id = v.probe_id and b.started_at <= ${from}
          ), '-infinity') from monitors m where m.id = ${monitorId})
    ) r
    group by v.probe_id, r.status`);
  return rows.map((row) => ({ probeId: row.probe_id, status: row.status, ms: Math.max(0, row.ms) }));
}

const probeRow = z.object({ probe_id: z.number(), name: z.string().nullable(), region: z.string().nullable() });

/** The probes that were assigned within the window, and those named beside, by identifier; nulls for one that is gone. */
export async function probesOf(
  connection: CommonQueryMethods,
  monitorId: number,
  window: Pick<ReportWindow, 'fromMs' | 'toMs'>,
  named: readonly number[],
): Promise<{ readonly probeId: number; readonly name: string | null; readonly region: string | null }[]> {
  const rows = await connection.any(sql.type(probeRow)`
    select v.probe_id, p.name, coalesce(p.region, v.region) as region
    from (
      select distinct on (u.probe_id) u.probe_id, u.region from (
        select a.probe_id, a.region, a.started_at from assignments a
        where a.monitor_id = ${monitorId} and a.started_at < ${at(window.toMs)}
          and (a.ended_at is null or a.ended_at > ${at(window.fromMs)})
        union all
        select n.probe_id, null, '-infinity' from unnest(${sql.array([...new Set(named)], 'int4')}) as n (probe_id)
      ) u order by u.probe_id, u.started_at desc
    ) v left join probes p on p.id = v.probe_id
    order by v.probe_id`);
  return rows.map((row) => ({ probeId: row.probe_id, name: row.name, region: row.region }));
}

function at(ms: number) {
  return sql.timestamp(new Date(ms));
}
