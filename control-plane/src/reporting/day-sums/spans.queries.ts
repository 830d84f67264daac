import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { dayKinds, dayOf, spanFactor } from './day-row.ts';
import { subjectTable } from './inputs.queries.ts';
import { storedSpans } from './stored-spans.ts';
import type { MixedDay, StoredDays, StoredSpan } from './stored-spans.ts';
import { subjectTypes } from './subject-type.ts';
import type { SubjectType } from './subject-type.ts';

/** Subjects by their types. */
export type SubjectIds = Readonly<Record<SubjectType, readonly number[]>>;

const row = z.object({
  type: z.enum(subjectTypes),
  id: z.number(),
  folded: z.number().nullable(),
  days: z.string(),
});

/** The kind of a day of one kind. */
const kindOfDay = sql.fragment`case ${sql.join(
  dayKinds.map(
    (kind, place) => sql.fragment`when d.${sql.identifier([`${kind.toLowerCase()}_ms`])} > 0 then ${place}::integer`,
  ),
  sql.fragment` `,
)} end`;

/**
 * The time of subjects of the scope, as measured, in whole UTC days that touch a window: one statement with a row for each subject. Its days are one
 * text, since a row or a JSON value for each of them costs several times as much.
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
  if (subjectTypes.every((type) => ids[type].length === 0)) return new Map();
  const rows = await tx.any(sql.prepared('subject-spans', row)`
    select s.type, s.id, s.folded, d.days
    from (${sql.join(subjectTypes.map(ofType), sql.fragment` union all `)}) s cross join lateral (
      select string_agg(case when d.spans is null and d.tail is null then (d.day * ${spanFactor}::integer + ${kindOfDay})::text
        else concat_ws(' ', d.day, d.until_ms, coalesce(d.tail, ${noTail}::integer), array_to_string(d.spans, ' ')) end, ',' order by d.day) as days
      from subject_days d
      where d.subject_type = s.type and d.subject_id = s.id and d.workspace_id = s.workspace_id
        and d.day between greatest(s.first_day, ${dayOf(window.fromMs)}) and ${dayOf(window.toMs)}) d
    where d.days is not null`);
  return new Map(
    rows.map(({ type, id, folded, days }) => {
      const stored = readDays(days);
      const isLive = stored.mixed.some(({ tail }) => tail !== null);
      return [`${type} ${id}`, storedSpans({ ...stored, foldedMs: isLive ? folded : null }, Math.floor(nowMs))];
    }),
  );
}

const noTail = -1;

/** Takes days apart: one of one kind is a number, any other its day, until when it is summed, its tail, and its spans. Digit by digit, as most are numbers. */
function readDays(text: string): Pick<StoredDays, 'plain' | 'mixed'> {
  const plain: number[] = [];
  const mixed: MixedDay[] = [];
  let number = 0;
  let isSigned = false;
  let before: number[] = [];
  for (let at = 0; at <= text.length; at += 1) {
    const code = at === text.length ? comma : text.charCodeAt(at);
    if (code === minus) isSigned = true;
    else if (code !== comma && code !== space) number = number * 10 + code - zero;
    else {
      const value = isSigned ? -number : number;
      if (code === space || before.length > 0) before.push(value);
      else plain.push(value);
      if (code === comma && before.length > 0) {
        mixed.push(mixedDay(before));
        before = [];
      }
      number = 0;
      isSigned = false;
    }
  }
  return { plain, mixed };
}

const [zero, space, comma, minus] = [48, 32, 44, 45];

function mixedDay([day = 0, untilMs = 0, tail = noTail, ...spans]: readonly number[]): MixedDay {
  return { day, untilMs, tail: tail === noTail ? null : tail, spans: spans.length === 0 ? null : spans };
}
