import { groupProtocol, incidentResolutions, incidentSchema } from '@parallax/api-contract';
import type { Incident, IncidentResolution } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { groupMonitorsOf, liveMembers } from '../../monitoring/groups/check/index.ts';
import type { Amendment, KnownIncident } from './revision.ts';
import type { Decision, EndedIncident, MonitorState, OpenIncident } from './transition.ts';

const iso = (column: ReturnType<typeof sql.fragment>) =>
  sql.fragment`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const json = sql.fragment`jsonb_build_object(
  'id', i.id, 'workspace_id', i.workspace_id, 'monitor_id', i.monitor_id, 'title', i.title, 'status', i.status,
  'severity', i.severity, 'resolution', i.resolution, 'started_at', ${iso(sql.fragment`i.started_at`)},
  'acknowledged_at', ${iso(sql.fragment`i.acknowledged_at`)}, 'resolved_at', ${iso(sql.fragment`i.resolved_at`)},
  'detected_late', i.detected_late, 'cause', i.cause,
  'members', jsonb_build_array(jsonb_build_object(
    'type', 'monitor', 'id', i.monitor_id, 'name', coalesce(m.name, ''), 'started_at', ${iso(sql.fragment`i.started_at`)},
    'ended_at', ${iso(sql.fragment`i.resolved_at`)}, 'cause', i.cause
  )),
  'created_at', ${iso(sql.fragment`i.created_at`)}, 'updated_at', ${iso(sql.fragment`i.updated_at`)}, 'version', i.version
)`;

export type IncidentFilter = {
  readonly page: number;
  readonly page_size: number;
  readonly workspace_id?: number | undefined;
  readonly status?: 'open' | 'acknowledged' | 'resolved' | undefined;
  readonly monitor_id?: number | undefined;
};

/** A page of the scope's incidents, newest onset first, and how many match. */
export async function incidentsPage(
  connection: CommonQueryMethods,
  scope: Scope,
  filter: IncidentFilter,
): Promise<{ readonly incidentsJson: string; readonly total: number }> {
  const workspaces = filter.workspace_id === undefined ? scope.workspaceIds : [filter.workspace_id];
  const conditions = sql.join(
    [
      sql.fragment`i.workspace_id = any(${sql.array(workspaces, 'int4')})`,
      ...(filter.status === undefined ? [] : [sql.fragment`i.status = ${filter.status}`]),
      ...(filter.monitor_id === undefined ? [] : [sql.fragment`i.monitor_id = ${filter.monitor_id}`]),
    ],
    sql.fragment` and `,
  );
  const found = await connection.one(sql.type(z.object({ incidents: z.string(), total: z.number() }))`
    select (select count(*)::integer from incidents i where ${conditions}) as total, coalesce((
      select jsonb_agg(page.incident order by page.started_at desc, page.id desc) from (
        select i.id, i.started_at, ${json} as incident
        from incidents i left join monitors m on m.id = i.monitor_id
        where ${conditions}
        order by i.started_at desc, i.id desc
        limit ${filter.page_size} offset ${(filter.page - 1) * filter.page_size}
      ) page
    ), '[]')::text as incidents`);
  return { incidentsJson: found.incidents, total: found.total };
}

/** One incident of the scope, or null. */
export async function readIncident(
  connection: CommonQueryMethods,
  scope: Scope,
  incidentId: number,
): Promise<Incident | null> {
  return connection.maybeOneFirst(sql.type(z.object({ incident: incidentSchema }))`
    select ${json} as incident from incidents i left join monitors m on m.id = i.monitor_id
    where i.id = ${incidentId} and i.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})`);
}

const stateRow = z.object({
  name: z.string(),
  is_paused: z.boolean(),
  is_deleted: z.boolean(),
  open_started_at: z.number().nullable(),
  ended_id: z.number().nullable(),
  ended_started_at: z.number().nullable(),
  ended_resolved_at: z.number().nullable(),
  reset_at: z.number().nullable(),
});

/**
 * A monitor and its open incident as a transition finds them; null when there is no such monitor. The row is locked against being
 * paused or deleted until the incident is written (those lock it for update), and not against the ingest, which writes its status.
 */
export async function lockState(
  transaction: Transaction,
  monitorId: number,
): Promise<{
  readonly monitor: MonitorState;
  readonly open: OpenIncident | undefined;
  readonly ended: EndedIncident | undefined;
  /** The last reset of its statistics, milliseconds; null for none. */
  readonly resetMs: number | null;
} | null> {
  await transaction.query(sql.unsafe`select from monitors where id = ${monitorId} for key share`);
  const row = await transaction.maybeOne(sql.type(stateRow)`
    select m.name, m.deleted_at is not null as is_deleted, m.reset_at,
      not m.is_active or exists (select from pauses p where p.monitor_id = m.id and p.ended_at is null) as is_paused,
      (select i.started_at from incidents i where i.monitor_id = m.id and i.status <> 'resolved') as open_started_at,
      ended.id as ended_id, ended.started_at as ended_started_at, ended.resolved_at as ended_resolved_at
    from monitors m left join lateral (
      select i.id, i.started_at, i.resolved_at from incidents i
      where i.monitor_id = m.id and i.status = 'resolved' and i.resolution = 'auto' order by i.resolved_at desc limit 1
    ) ended on true
    where m.id = ${monitorId}`);
  if (row === null) return null;
  return {
    monitor: { name: row.name, isPaused: row.is_paused, isDeleted: row.is_deleted },
    open: row.open_started_at === null ? undefined : { startedMs: row.open_started_at },
    ended:
      row.ended_id === null || row.ended_started_at === null || row.ended_resolved_at === null
        ? undefined
        : { id: row.ended_id, startedMs: row.ended_started_at, resolvedMs: row.ended_resolved_at },
    resetMs: row.reset_at,
  };
}

/** The workspace of a monitor as it is now: since the change was written it may have been moved. */
const workspaceNow = (monitorId: number) =>
  sql.fragment`(select m.workspace_id from monitors m where m.id = ${monitorId})`;

/** Opens an incident unless one is open: the unique index settles a race. */
export async function openIncident(
  transaction: Transaction,
  monitorId: number,
  opening: Extract<Decision, { kind: 'open' }>,
): Promise<void> {
  await transaction.query(sql.unsafe`
    insert into incidents (workspace_id, monitor_id, title, started_at, cause)
    values (${workspaceNow(monitorId)}, ${monitorId}, ${opening.title}, ${sql.timestamp(new Date(opening.startedMs))},
      ${JSON.stringify(opening.cause)}::jsonb)
    on conflict (monitor_id) where status <> 'resolved' do nothing`);
}

/**
 * Has the open incident of a group monitor name those of its members: called when one of a monitor was opened, it brings up to date that of the
 * monitor itself and those of the group monitors that contain it. So neither has to be the first. Repeating it changes nothing.
 */
export async function nameMemberIncidents(transaction: Transaction, monitorId: number): Promise<void> {
  const concerned = [monitorId, ...(await groupMonitorsOf(transaction, monitorId))];
  await transaction.query(sql.unsafe`
    update incidents i set cause = i.cause || jsonb_build_object('incidents', found.incidents), version = i.version + 1,
      updated_at = clock_timestamp()
    from (
      select own.id, jsonb_agg(jsonb_build_object('incident_id', member.id, 'monitor_id', m.id, 'name', m.name) order by member.id) as incidents
      from incidents own
        join monitors g on g.id = own.monitor_id and g.protocol = ${groupProtocol}
        join monitors m on ${liveMembers}
        join incidents member on member.monitor_id = m.id
          and (member.resolved_at is null or member.resolved_at > own.started_at)
      where own.monitor_id = any(${sql.array(concerned, 'int4')}) and own.status <> 'resolved'
      group by own.id
    ) found
    where i.id = found.id and i.cause -> 'incidents' is distinct from found.incidents`);
}

/** Opens an incident again that had not ended, unless another one is open. */
export async function reopenIncident(
  transaction: Transaction,
  { incidentId, startedMs }: Extract<Decision, { kind: 'reopen' }>,
): Promise<void> {
  await transaction.query(sql.unsafe`
    update incidents i set status = case when acknowledged_at is null then 'open' else 'acknowledged' end, resolution = null,
      resolved_at = null, detected_late = false, started_at = ${sql.timestamp(new Date(startedMs))},
      version = version + 1, updated_at = clock_timestamp()
    where id = ${incidentId} and not exists (
      select from incidents other where other.monitor_id = i.monitor_id and other.status <> 'resolved')`);
}

/** Dates the open incident of a monitor back; never forward. */
export async function moveOnset(transaction: Transaction, monitorId: number, startedMs: number): Promise<void> {
  const at = sql.timestamp(new Date(startedMs));
  await transaction.query(sql.unsafe`
    update incidents set started_at = ${at}, version = version + 1, updated_at = clock_timestamp()
    where monitor_id = ${monitorId} and status <> 'resolved' and started_at > ${at}`);
}

/** Ends the open incident of a monitor, if there is one; not before it began. `atMs` undefined: now. */
export async function resolveIncident(
  transaction: Transaction,
  monitorId: number,
  resolution: IncidentResolution,
  atMs: number | undefined,
): Promise<void> {
  const at = atMs === undefined ? sql.fragment`clock_timestamp()` : sql.timestamp(new Date(atMs));
  await transaction.query(sql.unsafe`
    update incidents set status = 'resolved', resolution = ${resolution}, resolved_at = greatest(${at}, started_at),
      version = version + 1, updated_at = clock_timestamp()
    where monitor_id = ${monitorId} and status <> 'resolved'`);
}

const knownRow = z.object({
  id: z.number(),
  started_at: z.number(),
  resolved_at: z.number().nullable(),
  resolution: z.enum(incidentResolutions).nullable(),
});

/** The incidents of a monitor that last still or ended at a time or later, oldest first. */
export async function incidentsSince(
  transaction: Transaction,
  monitorId: number,
  sinceMs: number,
): Promise<KnownIncident[]> {
  const rows = await transaction.any(sql.type(knownRow)`
    select id, started_at, resolved_at, resolution from incidents
    where monitor_id = ${monitorId} and (resolved_at is null or resolved_at >= ${sql.timestamp(new Date(sinceMs))})
    order by started_at, id`);
  return rows.map((row) => ({
    id: row.id,
    startedMs: row.started_at,
    resolvedMs: row.resolved_at,
    resolution: row.resolution,
  }));
}

/** Writes an outage of the past as an incident: resolved when it is over, else open, unless another one is. */
export async function recordIncident(
  transaction: Transaction,
  monitorId: number,
  found: Extract<Amendment, { kind: 'record' }>,
): Promise<void> {
  await transaction.query(sql.unsafe`
    insert into incidents (workspace_id, monitor_id, title, status, resolution, started_at, resolved_at, cause, detected_late)
    values (${workspaceNow(monitorId)}, ${monitorId}, ${found.title}, ${found.resolvedMs === null ? 'open' : 'resolved'},
      ${found.resolvedMs === null ? null : 'auto'}, ${sql.timestamp(new Date(found.startedMs))},
      ${found.resolvedMs === null ? null : sql.timestamp(new Date(found.resolvedMs))}, ${JSON.stringify(found.cause)}::jsonb, ${found.detectedLate})
    on conflict (monitor_id) where status <> 'resolved' do nothing`);
}

/** Takes an incident back, or moves it to when its outage was. */
export async function amendIncident(
  transaction: Transaction,
  amendment: Exclude<Amendment, { kind: 'record' }>,
): Promise<void> {
  const change =
    amendment.kind === 'correct'
      ? sql.fragment`status = 'resolved', resolution = 'corrected',
          resolved_at = greatest(${sql.timestamp(new Date(amendment.atMs))}, started_at)`
      : sql.fragment`started_at = ${sql.timestamp(new Date(amendment.startedMs))},
          resolved_at = ${amendment.resolvedMs === null ? null : sql.timestamp(new Date(amendment.resolvedMs))}`;
  await transaction.query(sql.unsafe`
    update incidents set ${change}, version = version + 1, updated_at = clock_timestamp() where id = ${amendment.incidentId}`);
}

/** Removes all incidents of a monitor. @returns how many */
export async function removeIncidents(transaction: Transaction, monitorId: number): Promise<number> {
  const { rowCount } = await transaction.query(sql.unsafe`delete from incidents where monitor_id = ${monitorId}`);
  return rowCount;
}
