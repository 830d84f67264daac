import { incidentResolutions, incidentSeverities, incidentUpdateKinds } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { subjectTypes } from '../../day-sums/index.ts';
import type { SubjectIds, SubjectType } from '../../day-sums/index.ts';
import { componentStatuses } from './page-view.ts';
import { mostIncidents } from './public-incidents.ts';
import type { StoredIncident } from './public-incidents.ts';

const impact = z.object({ component_id: z.string(), status: z.enum(componentStatuses) });

const row = z.object({
  public_id: z.string(),
  visibility: z.enum(['auto', 'public', 'hidden']),
  public_title: z.string().nullable(),
  severity: z.enum(incidentSeverities),
  resolution: z.enum(incidentResolutions).nullable(),
  is_manual: z.boolean(),
  is_held: z.boolean(),
  is_folded: z.boolean(),
  detected_late: z.boolean(),
  started_at: z.number(),
  resolved_at: z.number().nullable(),
  created_at: z.number(),
  postmortem: z.string().nullable(),
  postmortem_news_at: z.number().nullable(),
  has_members: z.boolean(),
  members: z.array(z.object({ type: z.enum(subjectTypes), id: z.number() })),
  updates: z.array(
    z.object({
      kind: z.enum(incidentUpdateKinds),
      body: z.string(),
      created_ms: z.number(),
      display_ms: z.number().nullable(),
      // One that is damaged is none: it must not take the page away.
      impacts: z.array(impact).catch([]),
      notify: z.boolean(),
    }),
  ),
});

const dayMs = 86_400_000;
/** Older ones that are over are not looked for. */
const reachMs = 366 * dayMs;
const ms = (column: ReturnType<typeof sql.fragment>) =>
  sql.fragment`floor(extract(epoch from ${column}) * 1000)::float8`;

/**
 * Incidents of the scope that a page may tell, with their public updates alone: one statement. It leaves out what `isTold` refuses by the incident
 * itself or since it is not of the page, so that neither short outages nor incidents of others take the place of those; that decides again.
 * @param subjects those of the page
 * @param componentsOf the components of the page that a subject belongs to, in the order of the page
 */
export async function incidentsOfPage(
  scope: Scope,
  connection: CommonQueryMethods,
  subjects: SubjectIds,
  componentsOf: (type: SubjectType, id: number) => readonly string[],
  rules: { readonly nowMs: number; readonly automaticIncidents: boolean; readonly delayMs: number },
): Promise<readonly StoredIncident[]> {
  const now = sql.timestamp(new Date(rules.nowMs));
  const ofPage = sql.join(
    subjectTypes.map(
      (type) =>
        sql.fragment`(u.subject_type = ${type} and u.subject_id = any(${sql.array([...subjects[type]], 'int4')}))`,
    ),
    sql.fragment` or `,
  );
  const workspaces = sql.array([...scope.workspaceIds], 'int4');
  // Whether it has a public update is asked last, with a limit: as `exists` PostgreSQL reads the updates of the whole workspace for it.
  const rows = await connection.any(sql.prepared('page-incidents', row)`
    select i.public_id, i.visibility, i.public_title, i.severity, i.resolution, i.is_manual, i.held_at is not null as is_held,
      i.folded_into is not null as is_folded, i.detected_late, ${ms(sql.fragment`i.started_at`)} as started_at,
      ${ms(sql.fragment`i.resolved_at`)} as resolved_at, ${ms(sql.fragment`i.created_at`)} as created_at,
      case when i.postmortem_public then i.postmortem end as postmortem,
      case when i.postmortem_public and i.postmortem_notify then ${ms(sql.fragment`i.postmortem_public_at`)} end as postmortem_news_at,
      m.has_members, m.members,
      coalesce((select json_agg(json_build_object('kind', n.kind, 'body', n.body, 'created_ms', (extract(epoch from n.created_at) * 1000)::float8,
          'display_ms', ${ms(sql.fragment`n.display_at`)}, 'impacts', n.impacts,
          'notify', n.notify) order by n.id)
        from incident_updates n where n.incident_id = i.id and n.is_public), '[]') as updates
    from (
      select i.* from (
        select u.incident_id as id from incident_members u where ${ofPage}
        union select m.id from incidents m where m.is_manual and m.deleted_at is null and m.workspace_id = any(${workspaces})
        union select n.incident_id from incident_updates n where n.is_public and n.workspace_id = any(${workspaces}) and n.impacts <> '[]') found
        join incidents i on i.id = found.id
      where i.workspace_id = any(${workspaces}) and i.deleted_at is null and i.visibility <> 'hidden'
        and i.folded_into is null and i.started_at > ${now} - interval '1 millisecond' * ${reachMs}
        and (i.visibility = 'public' or (
          not i.is_manual and ${rules.automaticIncidents} and i.held_at is null and not i.detected_late
          and i.resolution is distinct from 'corrected'
          and coalesce(i.resolved_at, ${now}) - i.started_at >= interval '1 millisecond' * ${rules.delayMs})
          or coalesce((select true from incident_updates n where n.incident_id = i.id and n.is_public limit 1), false))
      order by i.resolved_at is null desc, i.started_at desc, i.id desc limit ${4 * mostIncidents}
    ) i cross join lateral (
      select count(*) > 0 as has_members,
        coalesce(json_agg(json_build_object('type', u.subject_type, 'id', u.subject_id)) filter (where ${ofPage}), '[]') as members
      from incident_members u where u.incident_id = i.id) m`);
  return rows.map((each) => ({
    publicId: each.public_id,
    visibility: each.visibility,
    publicTitle: each.public_title,
    severity: each.severity,
    resolution: each.resolution,
    isManual: each.is_manual,
    isHeld: each.is_held,
    isFolded: each.is_folded,
    isDetectedLate: each.detected_late,
    startedMs: each.started_at,
    resolvedMs: each.resolved_at,
    createdMs: each.created_at,
    postmortem: each.postmortem,
    postmortemNewsMs: each.postmortem_news_at,
    hasMembers: each.has_members,
    componentIds: [...new Set(each.members.flatMap(({ type, id }) => componentsOf(type, id)))],
    updates: each.updates.map((update) => ({
      kind: update.kind,
      body: update.body,
      createdMs: update.created_ms,
      displayMs: update.display_ms,
      impacts: update.impacts.map(({ component_id: componentId, status }) => ({ componentId, status })),
      isQuiet: !update.notify,
    })),
  }));
}
