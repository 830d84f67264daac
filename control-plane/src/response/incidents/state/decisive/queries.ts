import { incidentResolutions } from '@parallax/api-contract';
import { z } from 'zod';
import { sql } from '../../../../platform/database/pools.ts';
import type { Transaction } from '../../../../platform/database/pools.ts';
import { noneUnlisted } from '../../folding/incident-state.ts';
import type { IncidentState } from '../../folding/incident-state.ts';
import type { Subject } from '../../subject.ts';

/** An outage that begins, whom it is of, and of which cause. */
export type Onset = {
  readonly workspaceId: number;
  readonly key: string;
  readonly of: Subject;
  readonly startedMs: number;
  readonly windowMs: number;
};

/** Which members are read: all, those that decide about the incident alone, or also those that decide whether outages belong to it. */
export type Wanted = 'all' | 'decisive' | readonly Onset[];

export type Members = Pick<IncidentState, 'members' | 'unlisted'>;

const memberRow = z.object({
  incident_id: z.number(),
  subject: z.string(),
  title: z.string(),
  started_at: z.number(),
  ended_at: z.number().nullable(),
  resolution: z.enum(incidentResolutions).exclude(['folded']).nullable(),
  window_seconds: z.number(),
});
const countRow = z.object({ incident_id: z.number(), outages: z.number(), subjects: z.number() });

type Fragment = ReturnType<typeof sql.fragment>;

const subject = sql.fragment`(u.subject_type || ':' || u.subject_id) collate "C"`;
const oneOf = (rest: Fragment) =>
  sql.fragment`(select u.id from incident_members u where u.incident_id = i.id ${rest} limit 1)`;

/** Numbers of the members by which `settle` decides: the first, one that lasts, the last to end, and the last whose outage was one. */
const deciding = [
  oneOf(sql.fragment`order by u.started_at, ${subject}`),
  oneOf(sql.fragment`and u.ended_at is null`),
  oneOf(sql.fragment`and u.ended_at is not null order by u.ended_at desc`),
  oneOf(sql.fragment`and u.ended_at is not null and u.resolution <> 'corrected' order by u.ended_at desc`),
];

/**
 * Numbers of the members by which `fold` decides beside those: for each outage of the cause of an incident one whose onset is near, and one of the
 * same subject, which counts once in a title.
 */
function about(onsets: readonly Onset[], incidentIds: ReturnType<typeof sql.array>): Fragment {
  const rows = onsets.map(({ workspaceId, key, of, startedMs, windowMs }) => [
    workspaceId,
    key,
    of.type,
    of.id,
    new Date(startedMs).toISOString(),
    windowMs / 1_000,
  ]);
  const types = ['int4', 'text', 'text', 'int4', 'timestamptz', 'float8'];
  return sql.fragment`
    select unnest(array[
      ${oneOf(sql.fragment`and abs(extract(epoch from u.started_at - o.started_at)) <= greatest(u.window_seconds, o.window_seconds)`)},
      ${oneOf(sql.fragment`and u.subject_type = o.subject_type and u.subject_id = o.subject_id`)}])
    from ${sql.unnest(rows, types)} as o (workspace_id, key, subject_type, subject_id, started_at, window_seconds)
      join incidents i on i.id = any(${incidentIds}) and i.workspace_id = o.workspace_id and i.fold_key = o.key`;
}

/** Members of locked incidents. A flood of one cause costs each outage the same when only those that decide are read. */
export async function membersOf(
  transaction: Transaction,
  incidentIds: readonly number[],
  wanted: Wanted,
): Promise<ReadonlyMap<number, Members>> {
  const ids = sql.array(incidentIds, 'int4');
  const alone = sql.fragment`
    select unnest(array[${sql.join(deciding, sql.fragment`, `)}]) from incidents i where i.id = any(${ids})`;
  const these =
    wanted === 'all'
      ? sql.fragment`u.incident_id = any(${ids})`
      : wanted === 'decisive'
        ? sql.fragment`u.id in (${alone})`
        : sql.fragment`u.id in (${alone} union ${about(wanted, ids)})`;
  const rows = await transaction.any(sql.type(memberRow)`
    select u.incident_id, ${subject} as subject, u.title, u.started_at, u.ended_at, u.resolution, u.window_seconds
    from incident_members u where ${these}`);
  const counts = wanted === 'all' ? [] : await countsOf(transaction, incidentIds);
  const listed = Map.groupBy(rows, (row) => row.incident_id);
  return new Map(
    incidentIds.map((id) => {
      const own = listed.get(id) ?? [];
      const count = counts.find((one) => one.incident_id === id);
      const named = new Set(own.map((row) => row.subject)).size;
      return [
        id,
        {
          members: own.map((row) => ({
            subject: row.subject,
            title: row.title,
            startedMs: row.started_at,
            endedMs: row.ended_at,
            resolution: row.resolution,
            windowMs: row.window_seconds * 1_000,
          })),
          unlisted:
            count === undefined
              ? noneUnlisted
              : { outages: count.outages - own.length, subjects: count.subjects - named },
        },
      ];
    }),
  );
}

/** How many outages of how many subjects incidents have. */
async function countsOf(transaction: Transaction, incidentIds: readonly number[]) {
  return transaction.any(sql.type(countRow)`
    select u.incident_id, count(*)::integer as outages, count(distinct (u.subject_type, u.subject_id))::integer as subjects
    from incident_members u where u.incident_id = any(${sql.array(incidentIds, 'int4')}) group by u.incident_id`);
}
