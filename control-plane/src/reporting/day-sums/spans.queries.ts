import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { dayKinds, dayOf, spanFactor } from './day-row.ts';
import { subjectTable } from './inputs.queries.ts';
import { storedSpans } from './stored-spans.ts';
import type { MixedDay, StoredSpan } from './stored-spans.ts';
import { subjectTypes } from './subject-type.ts';
import type { SubjectType } from './subject-type.ts';

/** Subjects by their types. */
export type SubjectIds = Readonly<Record<SubjectType, readonly number[]>>;

const row = z.object({
  type: z.enum(subjectTypes),
  id: z.number(),
  folded: z.number().nullable(),
  plain: z.array(z.number()).nullable(),
  day: z.number().nullable(),
  until_ms: z.number().nullable(),
  tail: z.number().nullable(),
  spans: z.array(z.number()).nullable(),
});

/** The kind of a day of one kind. */
const kindOfDay = sql.fragment`case ${sql.join(
  dayKinds.map(
    (kind, place) => sql.fragment`when d.${sql.identifier([`${kind.toLowerCase()}_ms`])} > 0 then ${place}::integer`,
  ),
  sql.fragment` `,
)} end`;

/**
 * The time of subjects of the scope, as measured, in whole UTC days that touch a window: one statement, with a row for each subject and one for
 * each of its days on which something changed.
 * @returns by type and number, `monitor 7`; a subject without any time is left out
 */
export async function readSpans(
  scope: Scope,
  tx: Transaction,
  ids: SubjectIds,
  window: { readonly fromMs: number; readonly toMs: number },
  nowMs: number,
): Promise<ReadonlyMap<string, readonly StoredSpan[]>> {
  const workspaces = sql.array([...scope.workspaceIds], 'int4');
  const ofType = (type: SubjectType) => {
    const [since, folded, shards] =
      type === 'monitor'
        ? [
            sql.fragment`greatest(s.created_at, s.reset_at)`,
            sql.fragment`floor(extract(epoch from h.folded_until) * 1000)::float8`,
            sql.fragment`left join shards h using (shard)`,
          ]
        : [sql.fragment`s.created_at`, sql.fragment`null::float8`, sql.fragment``];
    return sql.fragment`
      select ${type}::text as type, s.id, s.workspace_id, ${folded} as folded, (${since} at time zone 'UTC')::date - date '1970-01-01' as first_day
      from ${subjectTable[type]} s ${shards}
      where s.id = any(${sql.array([...ids[type]], 'int4')}) and s.deleted_at is null and s.workspace_id = any(${workspaces})`;
  };
  const rows = await tx.any(sql.type(row)`
    with days as (
      select s.type, s.id, s.folded, d.day, d.until_ms, d.tail, d.spans, ${kindOfDay} as kind
      from (${sql.join(subjectTypes.map(ofType), sql.fragment` union all `)}) s
        join subject_days d on d.subject_type = s.type and d.subject_id = s.id and d.workspace_id = s.workspace_id
          and d.day between greatest(s.first_day, ${dayOf(window.fromMs)}) and ${dayOf(window.toMs)})
    select type, id, null::float8 as folded, array_agg(day * ${spanFactor}::integer + kind order by day) as plain,
      null::integer as day, null::integer as until_ms, null::smallint as tail, null::integer[] as spans
    from days where spans is null and tail is null and kind is not null group by type, id
    union all
    select type, id, folded, null, day, until_ms, tail, spans from days where spans is not null or tail is not null`);
  const subjects = Map.groupBy(rows, ({ type, id }) => `${type} ${id}`);
  return new Map(
    [...subjects].map(([key, own]) => {
      const mixed = own.flatMap(mixedDay).toSorted((one, other) => one.day - other.day);
      const plain = own.flatMap((each) => each.plain ?? []);
      const foldedMs = own.find(({ tail }) => tail !== null)?.folded ?? null;
      return [key, storedSpans({ plain, mixed, foldedMs }, Math.floor(nowMs))];
    }),
  );
}

function mixedDay({ day, until_ms: untilMs, tail, spans }: z.output<typeof row>): MixedDay[] {
  return day === null || untilMs === null ? [] : [{ day, untilMs, tail, spans }];
}
