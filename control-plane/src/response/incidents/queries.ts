import { incidentReportSchema, incidentSchema, listedMembers } from '@parallax/api-contract';
import type { Incident, IncidentReport, SubjectType } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { probesNamed } from '../../monitoring/monitors/index.ts';
import { sql } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { contains } from '../../platform/database/text-search.ts';
import { probesOfCauses, withReadableCauses } from './readable-causes.ts';

type Fragment = ReturnType<typeof sql.fragment>;

const iso = (column: Fragment) => sql.fragment`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const person = (column: Fragment) =>
  sql.fragment`(select jsonb_build_object('id', p.user_id, 'display_name', p.display_name)
    from identity_public_profile(${column}) p where p.user_id is not null)`;

/** Who left the workspace, or deleted their account, is assigned nothing any more. */
const assignee = sql.fragment`case when i.assignee_id is not null and exists (
  select from identity_members(i.workspace_id) m where m.user_id = i.assignee_id) then ${person(sql.fragment`i.assignee_id`)} end`;

/** A member as it is answered; of a monitor with the range in which its outage began, as far as one is there. */
const memberJson = sql.fragment`jsonb_build_object(
  'type', u.subject_type, 'id', u.subject_id, 'name', coalesce(m.name, u.name), 'started_at', ${iso(sql.fragment`u.started_at`)},
  'ended_at', ${iso(sql.fragment`u.ended_at`)}, 'resolution', u.resolution, 'is_manual', u.is_manual,
  'range_id', case when u.subject_type = 'monitor' and not u.is_manual then (
    select r.id from status_ranges r
    where r.monitor_id = u.subject_id and r.started_at >= u.started_at - interval '1 millisecond' and r.status in ('DOWN', 'TIMEOUT')
      and (u.ended_at is null or r.started_at <= u.ended_at)
    order by r.started_at limit 1) end,
  'cause', u.causes -> 0, 'causes', u.causes
)`;

const membersOf = (most: number | null) => sql.fragment`coalesce((
  select jsonb_agg(shown.member order by shown.started_at, shown.id)
  from (
    select u.id, u.started_at, ${memberJson} as member
    from incident_members u left join monitors m on u.subject_type = 'monitor' and m.id = u.subject_id and m.deleted_at is null
    where u.incident_id = i.id order by u.started_at, u.id limit ${most}
  ) shown), '[]')`;

const incidentJson = (members: Fragment) => sql.fragment`(jsonb_build_object(
  'id', i.id, 'workspace_id', i.workspace_id, 'monitor_id', first.monitor_id, 'title', i.title, 'description', i.description,
  'status', i.status, 'severity', i.severity, 'resolution', i.resolution, 'is_manual', i.is_manual,
  'started_at', ${iso(sql.fragment`i.started_at`)}, 'acknowledged_at', ${iso(sql.fragment`i.acknowledged_at`)},
  'acknowledged_by', ${person(sql.fragment`i.acknowledged_by`)}, 'resolved_at', ${iso(sql.fragment`i.resolved_at`)},
  'resolved_by', ${person(sql.fragment`i.resolved_by`)}, 'assignee', ${assignee},
  'detected_late', i.detected_late, 'is_held', i.held_at is not null, 'shared_cause', i.fold_key, 'folded_into', i.folded_into,
  'cause', first.cause, 'member_count', first.count
) || jsonb_build_object(
  'members', ${members}, 'postmortem', i.postmortem, 'public_id', i.public_id, 'visibility', i.visibility,
  'public_title', i.public_title, 'postmortem_public', i.postmortem_public, 'postmortem_notify', i.postmortem_notify,
  'created_at', ${iso(sql.fragment`i.created_at`)}, 'updated_at', ${iso(sql.fragment`i.updated_at`)}, 'version', i.version
))`;

const firstMember = sql.fragment`cross join lateral (
  select count(*)::integer as count,
    (array_agg(u.causes -> 0 order by u.started_at, u.id))[1] as cause,
    (array_agg(u.subject_id order by u.started_at, u.id) filter (where u.subject_type = 'monitor'))[1] as monitor_id
  from incident_members u where u.incident_id = i.id) first`;

export type IncidentFilter = {
  readonly page: number;
  readonly page_size: number;
  readonly workspace_id?: number | undefined;
  readonly status?: 'open' | 'acknowledged' | 'resolved' | undefined;
  readonly is_ongoing?: boolean | undefined;
  readonly severity?: string | undefined;
  readonly is_manual?: boolean | undefined;
  readonly monitor_id?: number | undefined;
  readonly subject_type?: SubjectType | undefined;
  readonly subject_id?: number | undefined;
  readonly assignee_id?: number | undefined;
  readonly search?: string | undefined;
  readonly start_time?: string | undefined;
  readonly end_time?: string | undefined;
};

const ofScope = (scope: Scope) =>
  sql.fragment`i.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and i.deleted_at is null`;

const withMember = (condition: Fragment) =>
  sql.fragment`exists (select from incident_members u where u.incident_id = i.id and ${condition})`;

function conditionsOf(scope: Scope, filter: Omit<IncidentFilter, 'page' | 'page_size'>) {
  const at = (text: string) => sql.timestamp(new Date(text));
  const given: (Fragment | undefined)[] = [
    ofScope(scope),
    filter.workspace_id === undefined ? undefined : sql.fragment`i.workspace_id = ${filter.workspace_id}`,
    filter.status === undefined ? undefined : sql.fragment`i.status = ${filter.status}`,
    filter.is_ongoing === undefined ? undefined : sql.fragment`(i.status <> 'resolved') = ${filter.is_ongoing}`,
    filter.severity === undefined ? undefined : sql.fragment`i.severity = ${filter.severity}`,
    filter.is_manual === undefined ? undefined : sql.fragment`i.is_manual = ${filter.is_manual}`,
    filter.monitor_id === undefined
      ? undefined
      : withMember(sql.fragment`u.subject_type = 'monitor' and u.subject_id = ${filter.monitor_id}`),
    filter.subject_type === undefined
      ? undefined
      : withMember(sql.fragment`u.subject_type = ${filter.subject_type}
          and (${filter.subject_id ?? null}::integer is null or u.subject_id = ${filter.subject_id ?? null})`),
    filter.assignee_id === undefined ? undefined : sql.fragment`i.assignee_id = ${filter.assignee_id}`,
    contains(filter.search, sql.fragment`i.title`, sql.fragment`i.description`),
    filter.start_time === undefined
      ? undefined
      : sql.fragment`(i.resolved_at is null or i.resolved_at >= ${at(filter.start_time)})`,
    filter.end_time === undefined ? undefined : sql.fragment`i.started_at <= ${at(filter.end_time)}`,
  ];
  return sql.join(
    given.filter((one) => one !== undefined),
    sql.fragment` and `,
  );
}

/** A page of the scope's incidents, newest onset first, and how many match. */
export async function incidentsPage(
  connection: CommonQueryMethods,
  scope: Scope,
  { page, page_size: size, ...filter }: IncidentFilter,
): Promise<{ readonly incidents: readonly Incident[]; readonly total: number }> {
  const conditions = conditionsOf(scope, filter);
  const found = await connection.one(sql.type(z.object({ incidents: z.array(incidentSchema), total: z.number() }))`
    select (select count(*)::integer from incidents i where ${conditions}) as total, coalesce((
      select jsonb_agg(${incidentJson(membersOf(listedMembers))} order by i.started_at desc, i.id desc)
      from (
        select i.* from incidents i where ${conditions}
        order by i.started_at desc, i.id desc limit ${size} offset ${(page - 1) * size}
      ) i ${firstMember}
    ), '[]') as incidents`);
  const probes = await probesNamed(connection, probesOfCauses(found.incidents));
  return { incidents: found.incidents.map((one) => withReadableCauses(one, probes)), total: found.total };
}

/** One incident of the scope with all that was said of it, or null. */
export async function readIncident(
  connection: CommonQueryMethods,
  scope: Scope,
  incidentId: number,
): Promise<IncidentReport | null> {
  const found = await connection.maybeOneFirst(sql.type(z.object({ incident: incidentReportSchema }))`
    select ${incidentJson(membersOf(null))} || jsonb_build_object('updates', coalesce((
      select jsonb_agg(jsonb_build_object('id', n.id, 'kind', n.kind, 'body', n.body, 'is_public', n.is_public,
        'notify', n.notify, 'impacts', n.impacts, 'display_at', ${iso(sql.fragment`n.display_at`)},
        'author', ${person(sql.fragment`n.author_id`)}, 'created_at', ${iso(sql.fragment`n.created_at`)}) order by n.id)
      from incident_updates n where n.incident_id = i.id), '[]')) as incident
    from incidents i ${firstMember}
    where i.id = ${incidentId} and ${ofScope(scope)}`);
  return found === null ? null : withReadableCauses(found, await probesNamed(connection, probesOfCauses([found])));
}

const statsRow = z.object({
  ongoing: z.number(),
  resolved: z.number(),
  mttr_seconds: z.number().nullable(),
});

/**
 * Incidents of the scope that lasted in a window: still, or until some time in it. What was no outage, or part of another incident, does not
 * count. Times in milliseconds since the epoch.
 */
export async function incidentStats(
  connection: CommonQueryMethods,
  scope: Scope,
  window: { readonly fromMs: number; readonly toMs: number; readonly workspaceId: number | undefined },
): Promise<z.output<typeof statsRow>> {
  return connection.one(sql.type(statsRow)`
    select count(*) filter (where i.resolved_at is null)::integer as ongoing,
      count(*) filter (where i.resolved_at is not null)::integer as resolved,
      avg(extract(epoch from i.resolved_at - i.started_at)) filter (where i.resolution in ('auto', 'manual'))::float8 as mttr_seconds
    from incidents i
    where ${conditionsOf(scope, { workspace_id: window.workspaceId })}
      and coalesce(i.resolution, '') not in ('corrected', 'folded')
      and i.started_at <= ${sql.timestamp(new Date(window.toMs))}
      and (i.resolved_at is null or i.resolved_at >= ${sql.timestamp(new Date(window.fromMs))})`);
}
