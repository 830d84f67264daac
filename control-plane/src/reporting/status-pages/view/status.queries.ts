import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { subjectTypes } from '../../day-sums/index.ts';
import type { SubjectIds, SubjectType } from '../../day-sums/index.ts';
import { subjectStatuses, wordOf } from './component-status.ts';
import type { SubjectState, SubjectStatus } from './component-status.ts';
import type { PageSubject } from './page.queries.ts';
import type { ComponentStatus } from './page-view.ts';

const status = z.enum(subjectStatuses);
const presentRow = z.object({
  type: z.enum(subjectTypes),
  id: z.number(),
  status,
  since: z.number().nullable(),
  maintenance_since: z.number().nullable(),
  failing_since: z.number().nullable(),
});
const earlierRow = z.object({
  type: z.enum(subjectTypes),
  id: z.number(),
  last_status: status.nullable(),
  last_since: z.number().nullable(),
  calm_status: status.nullable(),
  calm_since: z.number().nullable(),
});

/** A monitor that is paused tells nothing, nor does a host on a blacklist: that is no outage. */
const monitors = sql.fragment`
  select 'monitor'::text as type, m.id, m.workspace_id, m.reset_at,
    case when not m.is_active or exists (select from pauses p where p.monitor_id = m.id and p.ended_at is null) then 'PAUSED'
      when m.protocol = 'dnsbl' and m.status <> 'UP' then 'UNKNOWN' else m.status end as status,
    m.status_since as since
  from monitors m where m.deleted_at is null`;

/** Being late is no outage, so no clock is asked. */
const subjectsOf = {
  monitor: monitors,
  heartbeat: sql.fragment`
    select 'heartbeat'::text, h.id, h.workspace_id, null::timestamptz, upper(h.status), h.status_since from heartbeats h where h.deleted_at is null`,
  webhook_check: sql.fragment`
    select 'webhook_check'::text, c.id, c.workspace_id, null::timestamptz, upper(c.status), c.status_since from webhook_checks c
    where c.deleted_at is null`,
} as const satisfies Record<SubjectType, unknown>;

const ranges = {
  monitor: { table: sql.fragment`status_ranges`, id: sql.fragment`r.monitor_id` },
  heartbeat: { table: sql.fragment`heartbeat_ranges`, id: sql.fragment`r.heartbeat_id` },
  webhook_check: { table: sql.fragment`webhook_check_ranges`, id: sql.fragment`r.check_id` },
} as const satisfies Record<SubjectType, unknown>;

/** Those that say nothing of the subject, or that a page may keep back: what was before them matters. */
const needsEarlier: ReadonlySet<SubjectStatus> = new Set(['UNKNOWN', 'PAUSED', 'DOWN', 'TIMEOUT']);

/** What subjects of the scope are now, by type and number, `monitor 7`: one statement, and one for what was before where that matters. */
export async function statesOf(
  scope: Scope,
  connection: CommonQueryMethods,
  ids: SubjectIds,
): Promise<ReadonlyMap<string, SubjectState>> {
  const present = await presentStates(scope, connection, ids);
  const wanting = present.filter((each) => needsEarlier.has(each.status));
  const earlier = wanting.length === 0 ? new Map<string, never>() : await earlierStates(scope, connection, wanting);
  return new Map(
    present.map((each): [string, SubjectState] => {
      const key = `${each.type} ${each.id}`;
      const { last = null, calm = null } = earlier.get(key) ?? {};
      return [
        key,
        {
          status: each.status,
          sinceMs: whole(each.since),
          maintenanceSinceMs: whole(each.maintenance_since),
          failingSinceMs: whole(each.failing_since),
          last,
          calm,
        },
      ];
    }),
  );
}

type Present = z.output<typeof presentRow>;

async function presentStates(
  scope: Scope,
  connection: CommonQueryMethods,
  ids: SubjectIds,
): Promise<readonly Present[]> {
  const ofType = (type: SubjectType) => sql.fragment`
    select s.type, s.id, s.status, s.since,
      (select min(u.started_at) from maintenance_subjects u
        where u.subject_type = ${type} and u.subject_id = s.id and u.ended_at is null) as maintenance_since,
      (select u.started_at from incident_members u
        where u.subject_type = ${type} and u.subject_id = s.id and u.ended_at is null and not u.is_manual) as failing_since
    from (${subjectsOf[type]}) s (type, id, workspace_id, reset_at, status, since) where ${isOneOf(scope, ids[type])}`;
  return connection.any(
    sql.prepared('page-states', presentRow)`${sql.join(subjectTypes.map(ofType), sql.fragment` union all `)}`,
  );
}

const isOneOf = (scope: Scope, ids: readonly number[]) => sql.fragment`
  s.id = any(${sql.array([...ids], 'int4')}) and s.workspace_id = any(${sql.array([...scope.workspaceIds], 'int4')})`;

/** The last range of each, and the last that was no outage where the status or that range is one. */
async function earlierStates(
  scope: Scope,
  connection: CommonQueryMethods,
  present: readonly Present[],
): Promise<ReadonlyMap<string, Pick<SubjectState, 'last' | 'calm'>>> {
  const ofType = (type: SubjectType) => {
    const own = present.filter((one) => one.type === type);
    const { table, id } = ranges[type];
    const range = (more: ReturnType<typeof sql.fragment>) => sql.fragment`
      select upper(r.status) as status, r.started_at from ${table} r
      where ${id} = s.id and r.started_at >= coalesce(s.reset_at, '-infinity') and ${more} order by r.started_at desc limit 1`;
    return sql.fragment`
      select s.type, s.id, last.status as last_status, last.started_at as last_since, calm.status as calm_status, calm.started_at as calm_since
      from (${subjectsOf[type]}) s (type, id, workspace_id, reset_at, status, since)
        left join lateral (${range(sql.fragment`true`)}) last on s.status in ('UNKNOWN', 'PAUSED')
        left join lateral (${range(sql.fragment`upper(r.status) not in ('DOWN', 'TIMEOUT')`)}) calm
          on s.status in ('DOWN', 'TIMEOUT') or last.status in ('DOWN', 'TIMEOUT')
      where ${isOneOf(
        scope,
        own.map((one) => one.id),
      )}`;
  };
  const rows = await connection.any(
    sql.prepared('page-earlier-states', earlierRow)`${sql.join(subjectTypes.map(ofType), sql.fragment` union all `)}`,
  );
  return new Map(
    rows.map((each) => [
      `${each.type} ${each.id}`,
      {
        last: each.last_status === null ? null : { status: each.last_status, sinceMs: whole(each.last_since) },
        calm: each.calm_status === null ? null : { status: each.calm_status, sinceMs: whole(each.calm_since) },
      },
    ]),
  );
}

const whole = (ms: number | null): number | null => (ms === null ? null : Math.floor(ms));

const nobody: SubjectIds = { monitor: [], heartbeat: [], webhook_check: [] };

/** The word of one subject now, without any delay. @returns null: the scope has no such subject */
export async function subjectStatus(
  scope: Scope,
  connection: CommonQueryMethods,
  { type, id }: PageSubject,
  nowMs: number,
): Promise<ComponentStatus | null> {
  const state = (await statesOf(scope, connection, { ...nobody, [type]: [id] })).get(`${type} ${id}`);
  return state === undefined ? null : wordOf(state, { nowMs, delayMs: 0 }).status;
}
