import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { addTime, noTime, normalLagMs } from '../statistics/index.ts';
import type { TimeByStatus } from '../statistics/index.ts';
import { dayKinds, dayMs, dayOf, spanFactor } from './day-row.ts';
import { subjectTable } from './inputs.queries.ts';
import { partsOf, slotsOf } from './parts.ts';
import type { DayPart } from './parts.ts';
import type { SubjectType } from './subject-type.ts';

/** What sums are told apart by. */
export type SumKey = 'all' | 'subject' | 'workspace' | 'group' | 'tag';

/** Whose time is summed. */
export type SumSelection = {
  readonly type: SubjectType;
  /** Of the scope; all of it when absent. */
  readonly workspaceId?: number | undefined;
  /** Only these subjects. */
  readonly ids?: readonly number[] | undefined;
  /** Groups and tags are those of now; a subject in two of them counts in both, one in none does not count. Groups have monitors only. */
  readonly by: SumKey;
  /** Only these keys. */
  readonly keys?: readonly string[] | undefined;
};

/** Time of one bucket and key. */
export type SummedTime = {
  /** The number of the subject, workspace or group, or the tag; empty for all. */
  readonly key: string;
  readonly bucket: number;
  readonly time: TimeByStatus;
};

type Fragment = ReturnType<typeof sql.fragment>;
type Rows = {
  readonly from: Fragment;
  /** The same, with how far each subject is evaluated: `s.evaluated_ms`, null where nothing says so. */
  readonly fromEvaluated: Fragment;
  readonly where: Fragment;
  readonly key: Fragment;
  /** Of few keys sums may be read day by day. */
  readonly hasFewKeys: boolean;
};
type Time = ReturnType<typeof noTime>;

/**
 * What the time of subjects of the scope comes to in buckets, exactly, wherever their bounds lie: as measured, up to where it is known. Buckets
 * without any time are left out.
 * @param edgesMs bounds of the buckets in order, one more than there are buckets; milliseconds
 */
export async function readSums(
  scope: Scope,
  tx: Transaction,
  selection: SumSelection,
  edgesMs: readonly number[],
  nowMs: number,
): Promise<SummedTime[]> {
  const { whole, cut } = partsOf(edgesMs);
  const rows = rowsOf(scope, selection);
  const sums = new Map<string, { readonly key: string; readonly bucket: number; readonly time: Time }>();
  const timeOf = (key: string, bucket: number): Time => {
    const place = `${bucket} ${key}`;
    const known = sums.get(place);
    if (known !== undefined) return known.time;
    const time = noTime();
    sums.set(place, { key, bucket, time });
    return time;
  };
  if (whole.length + cut.length === 0) return [];
  if (daysOf([...whole, ...cut]).length <= mostDaysAtOnce) {
    await addFewDays(tx, rows, { whole, cut }, Math.floor(nowMs), timeOf);
    return [...sums.values()];
  }
  await addDays(tx, rows, { whole, cut }, timeOf);
  if (cut.length > 0) await addSpans(tx, rows, cut, timeOf);
  // What is live is of the last days only, but for a shard that stands still.
  await addLiveTime(tx, rows, { whole, cut }, Math.floor(nowMs), timeOf);
  return [...sums.values()];
}

type Parts = ReturnType<typeof partsOf>;
type TimeOf = (key: string, bucket: number) => Time;

/** The rows of the selection, `d`, with their subjects, `s`. */
function rowsOf(scope: Scope, { type, workspaceId, ids, by, keys }: SumSelection): Rows {
  const table = subjectTable[type];
  const workspaces =
    workspaceId === undefined ? scope.workspaceIds : scope.workspaceIds.filter((id) => id === workspaceId);
  const key = keyColumn[by];
  const joined =
    by === 'group'
      ? sql.fragment`join monitor_group_members g on g.monitor_id = s.id and ${type === 'monitor'}`
      : by === 'tag'
        ? sql.fragment`cross join lateral unnest(s.tags) as tag (name)`
        : sql.fragment``;
  // Days before a reset may still be stored.
  const since = type === 'monitor' ? sql.fragment`greatest(created_at, reset_at)` : sql.fragment`created_at`;
  // Worked out for each shard, not for each of its monitors.
  const [evaluated, shards] =
    type === 'monitor'
      ? [
          sql.fragment`h.evaluated_ms`,
          sql.fragment`left join (
            select shard, floor(extract(epoch from folded_until) * 1000)::float8 as evaluated_ms from shards offset 0) h using (shard)`,
        ]
      : [sql.fragment`null::float8 as evaluated_ms`, sql.fragment``];
  const within = sql.fragment`= any(${sql.array([...workspaces], 'int4')})`;
  // Of both, so that the days of a few subjects are found by their own index.
  const given = sql.array([...(ids ?? [])], 'int4');
  const [chosen, named] =
    ids === undefined
      ? [sql.fragment``, sql.fragment``]
      : [sql.fragment`and id = any(${given})`, sql.fragment`and d.subject_id = any(${given})`];
  const keyed =
    keys === undefined ? sql.fragment`` : sql.fragment`and ${key}::text = any(${sql.array([...keys], 'text')})`;
  // `offset 0` keeps the planner from working out the first day anew for each of a subject's days.
  const rowsWith = (column: Fragment, join: Fragment) => sql.fragment`
    subject_days d join (
      select id, workspace_id, tags, ${column}, floor(date_part('epoch', ${since}) / 86400)::integer as first_day
      from ${table} ${join} where deleted_at is null and workspace_id ${within} ${chosen} offset 0
    ) s on s.id = d.subject_id and s.workspace_id = d.workspace_id and d.day >= s.first_day ${joined}`;
  return {
    key,
    hasFewKeys: by === 'all' || by === 'workspace',
    from: rowsWith(sql.fragment`null as evaluated_ms`, sql.fragment``),
    fromEvaluated: rowsWith(evaluated, shards),
    where: sql.fragment`d.subject_type = ${type} and d.workspace_id ${within} ${named} ${keyed}`,
  };
}

const keyColumn: Readonly<Record<SumKey, Fragment>> = {
  all: sql.fragment`''::text`,
  subject: sql.fragment`s.id`,
  workspace: sql.fragment`s.workspace_id`,
  group: sql.fragment`g.group_id`,
  tag: sql.fragment`tag.name`,
};

const count = z.bigint().transform(Number);
const timeColumns = {
  up: count,
  degraded: count,
  down: count,
  timeout: count,
  unknown: count,
  maintenance: count,
  paused: count,
};
const slotRow = z.object({ key: z.string(), slot: z.number(), ...timeColumns });

const daysOf = (parts: readonly DayPart[]): readonly number[] => [...new Set(parts.map(({ day }) => day))];

function partRows(parts: readonly DayPart[]): Fragment {
  const rows = parts.map(({ day, fromMs, toMs, bucket }) => [day, fromMs, toMs, bucket]);
  return sql.fragment`${sql.unnest(rows, ['int4', 'int4', 'int4', 'int4'])} as p (day, from_ms, to_ms, bucket)`;
}

/** Days of the parts as a condition that an index serves; what lies between the cut days of two ends is not read. */
function daysIn(parts: readonly DayPart[]): Fragment {
  const days = daysOf(parts);
  const [first, last] = [Math.min(...days), Math.max(...days)];
  return last - first + 1 === days.length
    ? sql.fragment`d.day between ${first} and ${last}`
    : sql.fragment`d.day = any(${sql.array(days, 'int4')})`;
}

/** So few days are read in one statement, which joins each row with its subject once. In many it would tell rows apart that are only summed. */
const mostDaysAtOnce = 3;

/** All time of a few days: what `addDays`, `addSpans` and `addLiveTime` read of many. Rows that are alike are one from the beginning on. */
async function addFewDays(
  tx: Transaction,
  { key, fromEvaluated, where }: Rows,
  { whole, cut }: Parts,
  nowMs: number,
  timeOf: TimeOf,
): Promise<void> {
  const parts = [...whole, ...cut];
  const cutDays = sql.array(daysOf(cut), 'int4');
  const isWhole = sql.fragment`(p.to_ms - p.from_ms = ${dayMs})`;
  const columns = names.map((name, kind) => sql.fragment`(${kind}::integer, a.${sql.identifier([name])})`);
  const found = await tx.any(sql.type(kindRow)`
    with alike as materialized (
      select ${key}::text as key, d.day, d.tail, d.spans, least(${nowMs}::float8, s.evaluated_ms) as evaluated_ms,
        case when d.tail is not null or d.spans is not null then d.until_ms end as until_ms, count(*)::integer as n, ${sumsOfColumns}
      from ${fromEvaluated} where ${where} and (${daysIn(parts)} or d.tail is not null) group by 1, 2, 3, 4, 5, 6
    ), live as materialized (
      select key, day, tail as kind, n, evaluated_ms, greatest(evaluated_ms, day * ${dayMs}::float8 + until_ms) as known_ms,
        case when spans is null and day = any(${cutDays}) then 0 else until_ms end as from_ms
      from alike where tail is not null
    ), late as (select * from live where ${nowMs}::float8 - evaluated_ms > ${normalLagMs}
    ), times as (
      select a.key, p.bucket, x.kind, case when ${isWhole} then x.ms else x.ms / ${dayMs} * (p.to_ms - p.from_ms) end as ms
      from alike a join ${partRows(parts)} on p.day = a.day
        cross join lateral (values ${sql.join(columns, sql.fragment`, `)}) as x (kind, ms)
      where x.ms > 0 and ((a.spans is null and a.tail is null) or ${isWhole})
      union all
      select a.key, p.bucket, x.kind, a.n * (least(p.to_ms, x.to_ms) - greatest(p.from_ms, x.from_ms))::bigint
      from alike a cross join lateral ${spansOf(sql.fragment`a.spans`, sql.fragment`a.until_ms`)} x
        join ${partRows(parts)} on p.day = a.day and not ${isWhole} and x.from_ms < p.to_ms and x.to_ms > p.from_ms
      union all
      select live.key, p.bucket, live.kind, live.n * ${liveMs}::bigint from live join ${partRows(parts)} on p.day = live.day
      union all
      select late.key, p.bucket, ${lateKind}, late.n * ${lateMs(nowMs)}::bigint
      from late join ${partRows(parts)} on p.day >= late.day where p.day <= ${dayOf(nowMs)})
    select key, bucket, kind, sum(ms)::bigint as ms from times group by 1, 2, 3`);
  for (const row of found) if (row.ms > 0) addKind(timeOf(row.key, row.bucket), row.kind, row.ms);
}

/** Days of one kind, and whole days of several: they are summed before they are cut, for a part of the former is of its kind. */
async function addDays(tx: Transaction, rows: Rows, { whole, cut }: Parts, timeOf: TimeOf): Promise<void> {
  const { key, from, where, hasFewKeys } = rows;
  const { firstDay, slots, parts } = slotsOf(whole, cut);
  const isWhole = sql.fragment`d.day <> all(${sql.array(daysOf(cut), 'int4')})`;
  const isUniform = sql.fragment`d.spans is null and d.tail is null`;
  const isSummed =
    cut.length === 0 ? sql.fragment`true` : whole.length === 0 ? isUniform : sql.fragment`(${isUniform} or ${isWhole})`;
  // The place in a list costs a third of what a join with the parts does, and the day itself nothing.
  const slot = hasFewKeys
    ? sql.fragment`d.day`
    : sql.fragment`(${sql.array([...slots], 'int4')})[d.day - ${firstDay - 1}]`;
  const found = await tx.any(sql.type(slotRow)`
    select ${key}::text as key, ${slot} as slot, ${sumsOfColumns}
    from ${from} where ${where} and ${daysIn([...whole, ...cut])} and ${isSummed} group by ${key}, 2`);
  for (const row of found) {
    for (const { bucket, lengthMs } of parts.get(hasFewKeys ? (slots[row.slot - firstDay] ?? 0) : row.slot) ?? []) {
      const time = timeOf(row.key, bucket);
      // Days that are cut are of one kind each, so their sums are multiples of a day.
      for (const name of names) time[`${name}Ms`] += lengthMs === null ? row[name] : (row[name] / dayMs) * lengthMs;
    }
  }
}

const names = ['up', 'degraded', 'down', 'timeout', 'unknown', 'maintenance', 'paused'] as const;

const sumsOfColumns = sql.join(
  names.map((name) => sql.fragment`sum(d.${sql.identifier([`${name}_ms`])}) as ${sql.identifier([name])}`),
  sql.fragment`, `,
);

/** The spans of a day with their ends. */
const spansOf = (spans: Fragment, untilMs: Fragment) => sql.fragment`(
  select span % ${spanFactor} as kind, span / ${spanFactor} as from_ms,
    coalesce(lead(span) over (order by place) / ${spanFactor}, ${untilMs}) as to_ms
  from unnest(${spans}) with ordinality as u (span, place))`;

const kindRow = z.object({ key: z.string(), bucket: z.number(), kind: z.number(), ms: count });

/** Cut days of several kinds, live ones as far as they are summed. */
async function addSpans(tx: Transaction, rows: Rows, parts: readonly DayPart[], timeOf: TimeOf): Promise<void> {
  const { key, from, where } = rows;
  const found = await tx.any(sql.type(kindRow)`
    with days as (
      select ${key}::text as key, d.day, d.until_ms, d.spans from ${from}
      where ${where} and ${daysIn(parts)} and d.spans is not null)
    select days.key, p.bucket, x.kind, sum(least(p.to_ms, x.to_ms) - greatest(p.from_ms, x.from_ms))::bigint as ms
    from days cross join lateral ${spansOf(sql.fragment`days.spans`, sql.fragment`days.until_ms`)} x
    join ${partRows(parts)} on p.day = days.day and x.from_ms < p.to_ms and x.to_ms > p.from_ms
    group by 1, 2, 3`);
  for (const row of found) addKind(timeOf(row.key, row.bucket), row.kind, row.ms);
}

/**
 * What live days come to beyond their sums: their last kind as far as it is known; from the day's beginning on where it is cut and all of it is of
 * that kind. What is not known although it should be, because a shard stands still, is unknown unless it is paused or under maintenance.
 */
async function addLiveTime(
  tx: Transaction,
  { key, fromEvaluated, where }: Rows,
  { whole, cut }: Parts,
  nowMs: number,
  timeOf: TimeOf,
): Promise<void> {
  const parts = [...whole, ...cut];
  const cutDays = sql.array(daysOf(cut), 'int4');
  const found = await tx.any(sql.type(kindRow)`
    with live as materialized (
      select ${key}::text as key, d.day, d.tail as kind, x.evaluated_ms, greatest(x.evaluated_ms, d.day * ${dayMs}::float8 + d.until_ms) as known_ms,
        case when d.spans is null and d.day = any(${cutDays}) then 0 else d.until_ms end as from_ms
      -- What belongs to no shard, or to one that nothing is known of, is known up to now.
      from ${fromEvaluated} cross join lateral (select least(${nowMs}::float8, s.evaluated_ms) as evaluated_ms) x
      where ${where} and d.tail is not null),
    late as materialized (select * from live where ${nowMs}::float8 - evaluated_ms > ${normalLagMs})
    select live.key, p.bucket, live.kind, sum(${liveMs})::bigint as ms
    from live join ${partRows(parts)} on p.day = live.day group by 1, 2, 3
    union all
    select late.key, p.bucket, ${lateKind}, sum(${lateMs(nowMs)})::bigint
    from late join ${partRows(parts)} on p.day >= late.day where p.day <= ${dayOf(nowMs)} group by 1, 2, 3`);
  for (const row of found) if (row.ms > 0) addKind(timeOf(row.key, row.bucket), row.kind, row.ms);
}

/** The time that a part has of `live`, and of `late`. */
const liveMs = sql.fragment`greatest(0, least(p.to_ms, live.known_ms - live.day * ${dayMs}::float8) - greatest(p.from_ms, live.from_ms))`;
const lateMs = (nowMs: number) =>
  sql.fragment`greatest(0, least(p.day * ${dayMs}::float8 + p.to_ms, ${nowMs}) - greatest(p.day * ${dayMs}::float8 + p.from_ms, late.known_ms))`;
const lateKind = sql.fragment`case when late.kind in (${kindOf('MAINTENANCE')}, ${kindOf('PAUSED')}) then late.kind else ${kindOf('UNKNOWN')} end`;

function kindOf(kind: (typeof dayKinds)[number]): number {
  return dayKinds.indexOf(kind);
}

function addKind(time: Time, kind: number, ms: number): void {
  const counting = dayKinds[kind];
  if (counting === undefined) throw new RangeError(`a day has time of kind ${kind}`);
  addTime(time, counting, ms);
}
