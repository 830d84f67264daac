import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import {
  coveredSubjects,
  scheduleColumns,
  scheduleOf,
  scheduleRow,
  storedOf,
  windowsOf,
} from '../../../response/maintenance/index.ts';
import { subjectTypes } from '../../day-sums/index.ts';
import type { SubjectIds, SubjectType } from '../../day-sums/index.ts';
import { maintenanceReachMs, mostMaintenance } from './public-maintenance.ts';
import type { StoredOccurrence } from './public-maintenance.ts';

type ComponentsOf = (type: SubjectType, id: number) => readonly string[];

const hourMs = 3_600_000;
const at = (ms: number) => sql.timestamp(new Date(ms));
const ms = (column: ReturnType<typeof sql.fragment>) =>
  sql.fragment`floor(extract(epoch from ${column}) * 1000)::float8`;

const publicColumns = sql.fragment`x.public_id, x.is_public, case when x.is_public then x.public_title end as public_title,
  case when x.is_public then x.public_text end as public_text, ${ms(sql.fragment`x.updated_at`)} as changed_at,
  x.rrule is not null as is_recurring, x.remind_hours, x.notify`;
const publicFields = {
  public_id: z.string(),
  is_public: z.boolean(),
  public_title: z.string().nullable(),
  public_text: z.string().nullable(),
  changed_at: z.number(),
  is_recurring: z.boolean(),
  remind_hours: z.number().nullable(),
  notify: z.boolean(),
  subjects: z.array(z.object({ type: z.enum(subjectTypes), id: z.number() })),
};

const startedRow = z.object({
  ...publicFields,
  starts_at: z.number(),
  ends_at: z.number(),
  ended_at: z.number().nullable(),
  is_cancelled: z.boolean(),
});

const oneOf = (ids: SubjectIds, type: ReturnType<typeof sql.fragment>, id: ReturnType<typeof sql.fragment>) =>
  sql.join(
    subjectTypes.map((each) => sql.fragment`(${type} = ${each} and ${id} = any(${sql.array([...ids[each]], 'int4')}))`),
    sql.fragment` or `,
  );

/** Occurrences that cover subjects of a page, or did so in the last days. */
export async function startedOccurrences(
  scope: Scope,
  connection: CommonQueryMethods,
  ids: SubjectIds,
  componentsOf: ComponentsOf,
  nowMs: number,
): Promise<readonly StoredOccurrence[]> {
  const rows = await connection.any(sql.prepared('page-started-maintenance', startedRow)`
    with covered as (
      select u.occurrence_id, jsonb_agg(distinct jsonb_build_object('type', u.subject_type, 'id', u.subject_id)) as subjects
      from maintenance_subjects u
      where (${oneOf(ids, sql.fragment`u.subject_type`, sql.fragment`u.subject_id`)})
        and (u.ended_at is null or u.ended_at > ${at(nowMs - maintenanceReachMs)})
      group by u.occurrence_id)
    select ${publicColumns}, ${ms(sql.fragment`o.starts_at`)} as starts_at, ${ms(sql.fragment`o.ends_at`)} as ends_at,
      ${ms(sql.fragment`o.ended_at`)} as ended_at, o.end_reason is not distinct from 'cancelled' as is_cancelled, covered.subjects
    from covered join maintenance_occurrences o on o.id = covered.occurrence_id join maintenance x on x.id = o.maintenance_id
    where x.workspace_id = any(${sql.array([...scope.workspaceIds], 'int4')}) and x.deleted_at is null
      and (o.ended_at is null or o.ended_at > ${at(nowMs - maintenanceReachMs)})
    order by o.ended_at is null desc, o.starts_at desc, o.id limit ${4 * mostMaintenance}`);
  return rows.map((row) => ({
    ...publicOf(row, componentsOf),
    startsMs: row.starts_at,
    endsMs: row.ends_at,
    endedMs: row.ended_at,
    isCancelled: row.is_cancelled,
    hasStarted: true,
  }));
}

const plannedRow = scheduleRow.extend({ ...publicFields, next_starts_at: z.number(), next_ends_at: z.number() });

/** Occurrences that will cover subjects of a page in the next days. What is not public is not told before it begins. */
export async function plannedOccurrences(
  scope: Scope,
  connection: CommonQueryMethods,
  ids: SubjectIds,
  componentsOf: ComponentsOf,
  nowMs: number,
): Promise<readonly StoredOccurrence[]> {
  const rows = await connection.any(sql.prepared('page-planned-maintenance', plannedRow)`
    select ${publicColumns}, ${ms(sql.fragment`x.next_starts_at`)} as next_starts_at, ${ms(sql.fragment`x.next_ends_at`)} as next_ends_at,
      ${scheduleColumns}, covered.subjects
    from maintenance x cross join lateral (
      select jsonb_agg(jsonb_build_object('type', s.type, 'id', s.id)) as subjects from ${coveredSubjects} s
      where ${oneOf(ids, sql.fragment`s.type`, sql.fragment`s.id`)}) covered
    where x.workspace_id = any(${sql.array([...scope.workspaceIds], 'int4')}) and x.deleted_at is null and x.is_public
      and x.status in ('scheduled', 'active') and x.next_starts_at <= ${at(nowMs + maintenanceReachMs)} and covered.subjects is not null
    order by x.next_starts_at, x.id limit ${mostMaintenance}`);
  return rows.flatMap((row) => {
    const known = publicOf(row, componentsOf);
    return timesOf(row, nowMs).map((time) => ({ ...known, ...time, endedMs: null, hasStarted: false }));
  });
}

/** The next time is stored; the ones behind it follow from the schedule. */
function timesOf(row: z.output<typeof plannedRow>, nowMs: number): { startsMs: number; endsMs: number }[] {
  const times = [{ startsMs: row.next_starts_at, endsMs: row.next_ends_at }];
  if (row.rrule === null) return times;
  for (const { startsMs, endsMs } of windowsOf(scheduleOf(storedOf(row)), row.next_ends_at)) {
    if (startsMs > nowMs + maintenanceReachMs || times.length >= mostMaintenance) break;
    if (startsMs >= row.next_ends_at) times.push({ startsMs, endsMs });
  }
  return times;
}

function publicOf(
  row: Pick<z.output<typeof startedRow>, keyof typeof publicFields>,
  componentsOf: ComponentsOf,
): Omit<StoredOccurrence, 'startsMs' | 'endsMs' | 'endedMs' | 'hasStarted'> {
  return {
    publicId: row.public_id,
    isPublic: row.is_public,
    publicTitle: row.public_title,
    publicText: row.public_text,
    changedMs: row.changed_at,
    componentIds: [...new Set(row.subjects.flatMap(({ type, id }) => componentsOf(type, id)))],
    isRecurring: row.is_recurring,
    isQuiet: !row.notify,
    remindMs: row.remind_hours === null ? null : row.remind_hours * hourMs,
  };
}
