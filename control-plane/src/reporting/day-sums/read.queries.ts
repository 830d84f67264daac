import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { addTime, noTime, normalLagMs } from '../statistics/index.ts';
import type { TimeByStatus } from '../statistics/index.ts';
import { dayKinds, dayMs, dayOf, spanFactor } from './day-row.ts';
import { subjectTable } from './inputs.queries.ts';
import { partsOf } from './parts.ts';
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
  /** Outages that began, and that ended, on UTC days that lie wholly in the bucket; and how long the latter had lasted. */
  readonly outages: number;
  readonly repairs: number;
  readonly repairMs: number;
};

type Fragment = ReturnType<typeof sql.fragment>;
type Rows = { readonly from: Fragment; readonly where: Fragment; readonly key: Fragment };
type Sum = { time: ReturnType<typeof noTime>; outages: number; repairs: number; repairMs: number };

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
  const sums = new Map<string, Sum & { readonly key: string; readonly bucket: number }>();
  const sumOf = (key: string, bucket: number): Sum => {
    const place = `${bucket} ${key}`;
    const known = sums.get(place);
    if (known !== undefined) return known;
    const sum = { key, bucket, time: noTime(), outages: 0, repairs: 0, repairMs: 0 };
    sums.set(place, sum);
    return sum;
  };
  if (whole.length > 0) await addWholeDays(tx, rows, whole, sumOf);
  if (cut.length > 0) {
    await addUniformDays(tx, rows, cut, sumOf);
    await addSpans(tx, rows, cut, sumOf);
  }
  // What is live is of the last days only, but for a shard that stands still.
  await addLiveTime(tx, rows, [...whole, ...cut], Math.floor(nowMs), sumOf);
  return [...sums.values()];
}

type SumOf = (key: string, bucket: number) => Sum;

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
  const [evaluated, shards] =
    type === 'monitor'
      ? [sql.fragment`h.folded_until`, sql.fragment`left join shards h using (shard)`]
      : [sql.fragment`null::timestamptz as folded_until`, sql.fragment``];
  const within = sql.fragment`= any(${sql.array([...workspaces], 'int4')})`;
  // Of both, so that the days of a few subjects are found by their own index.
  const given = sql.array([...(ids ?? [])], 'int4');
  const [chosen, named] =
    ids === undefined
      ? [sql.fragment``, sql.fragment``]
      : [sql.fragment`and id = any(${given})`, sql.fragment`and d.subject_id = any(${given})`];
  const keyed =
    keys === undefined ? sql.fragment`` : sql.fragment`and ${key}::text = any(${sql.array([...keys], 'text')})`;
  return {
    key,
    // `offset 0` keeps the planner from working out the first day anew for each of a subject's days.
    from: sql.fragment`
      subject_days d join (
        select id, workspace_id, tags, ${evaluated}, (${since} at time zone 'UTC')::date - date '1970-01-01' as first_day
        from ${table} ${shards} where deleted_at is null and workspace_id ${within} ${chosen} offset 0
      ) s on s.id = d.subject_id and s.workspace_id = d.workspace_id and d.day >= s.first_day ${joined}`,
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
const timeRow = z.object({ key: z.string(), bucket: z.number(), ...timeColumns });
const wholeRow = timeRow.extend({ outages: count, repairs: count, repair_ms: z.number() });

function partRows(parts: readonly DayPart[]): Fragment {
  const rows = parts.map(({ day, fromMs, toMs, bucket }) => [day, fromMs, toMs, bucket]);
  return sql.fragment`${sql.unnest(rows, ['int4', 'int4', 'int4', 'int4'])} as p (day, from_ms, to_ms, bucket)`;
}

/** Days of the parts as a condition that an index serves; what lies between the cut days of two ends is not read. */
function daysIn(parts: readonly DayPart[]): Fragment {
  const days = [...new Set(parts.map(({ day }) => day))];
  const [first, last] = [Math.min(...days), Math.max(...days)];
  return last - first + 1 === days.length
    ? sql.fragment`d.day between ${first} and ${last}`
    : sql.fragment`d.day = any(${sql.array(days, 'int4')})`;
}

async function addWholeDays(tx: Transaction, rows: Rows, parts: readonly DayPart[], sumOf: SumOf): Promise<void> {
  const { key, from, where } = rows;
  const found = await tx.any(sql.type(wholeRow)`
    select ${key}::text as key, p.bucket, ${sumsOfColumns}, sum(d.outages) as outages, sum(d.repairs) as repairs,
      sum(d.repair_ms::float8) as repair_ms
    from ${from} join ${partRows(parts)} on p.day = d.day
    where ${where} and ${daysIn(parts)} group by ${key}, p.bucket`);
  for (const row of found) {
    const sum = sumOf(row.key, row.bucket);
    addTimes(sum, row);
    sum.outages += row.outages;
    sum.repairs += row.repairs;
    sum.repairMs += row.repair_ms;
  }
}

const names = ['up', 'degraded', 'down', 'timeout', 'unknown', 'maintenance', 'paused'] as const;

const sumsOfColumns = sql.join(
  names.map((name) => sql.fragment`sum(d.${sql.identifier([`${name}_ms`])}) as ${sql.identifier([name])}`),
  sql.fragment`, `,
);

/** Days of one kind, summed before they are cut: a part of one is of that kind. */
async function addUniformDays(tx: Transaction, rows: Rows, parts: readonly DayPart[], sumOf: SumOf): Promise<void> {
  const { key, from, where } = rows;
  const share = sql.join(
    names.map((name) => {
      const column = sql.identifier([name]);
      return sql.fragment`sum(days.${column} / ${dayMs} * (p.to_ms - p.from_ms))::bigint as ${column}`;
    }),
    sql.fragment`, `,
  );
  const found = await tx.any(sql.type(timeRow)`
    with days as (
      select ${key}::text as key, d.day, ${sumsOfColumns} from ${from}
      where ${where} and ${daysIn(parts)} and d.spans is null and d.tail is null group by ${key}, d.day)
    select days.key, p.bucket, ${share} from days join ${partRows(parts)} on p.day = days.day group by 1, 2`);
  for (const row of found) addTimes(sumOf(row.key, row.bucket), row);
}

const kindRow = z.object({ key: z.string(), bucket: z.number(), kind: z.number(), ms: count });

/** Days of several kinds, and live ones as far as they are summed. */
async function addSpans(tx: Transaction, rows: Rows, parts: readonly DayPart[], sumOf: SumOf): Promise<void> {
  const { key, from, where } = rows;
  const found = await tx.any(sql.type(kindRow)`
    with days as (
      select ${key}::text as key, d.day, d.until_ms, coalesce(d.spans, array[d.tail::integer]) as spans from ${from}
      where ${where} and ${daysIn(parts)} and (d.spans is not null or d.tail is not null))
    select days.key, p.bucket, x.kind, sum(least(p.to_ms, x.to_ms) - greatest(p.from_ms, x.from_ms))::bigint as ms
    from days cross join lateral (
      select span % ${spanFactor} as kind, span / ${spanFactor} as from_ms,
        coalesce(lead(span) over (order by place) / ${spanFactor}, days.until_ms) as to_ms
      from unnest(days.spans) with ordinality as u (span, place)) x
    join ${partRows(parts)} on p.day = days.day and x.from_ms < p.to_ms and x.to_ms > p.from_ms
    group by 1, 2, 3`);
  for (const row of found) addKind(sumOf(row.key, row.bucket), row.kind, row.ms);
}

/**
 * What live days come to beyond their sums: their last kind as far as it is known. What is not known although it should be, because a shard
 * stands still, is unknown unless it is paused or under maintenance.
 */
async function addLiveTime(
  tx: Transaction,
  { key, from, where }: Rows,
  parts: readonly DayPart[],
  nowMs: number,
  sumOf: SumOf,
): Promise<void> {
  const present = parts.filter(({ day }) => day <= dayOf(nowMs));
  if (present.length === 0) return;
  // What belongs to no shard, or to one that nothing is known of, is known up to now.
  const known = sql.fragment`least(${nowMs}::float8, floor(extract(epoch from s.folded_until) * 1000)::float8)`;
  const live = sql.fragment`
    select ${key}::text as key, d.day, d.tail as kind, d.until_ms, greatest(${known}, d.day * ${dayMs}::float8 + d.until_ms) as known
    from ${from} where ${where} and d.tail is not null`;
  const found = await tx.any(sql.type(kindRow)`
    with live as (${live} and ${daysIn(present)})
    select live.key, p.bucket, live.kind,
      sum(greatest(0, least(p.to_ms, live.known - live.day * ${dayMs}::float8) - greatest(p.from_ms, live.until_ms)))::bigint as ms
    from live join ${partRows(present)} on p.day = live.day
    group by 1, 2, 3`);
  for (const row of found) if (row.ms > 0) addKind(sumOf(row.key, row.bucket), row.kind, row.ms);
  const beyond = await tx.any(sql.type(kindRow)`
    with live as (${live} and ${nowMs}::float8 - ${known} > ${normalLagMs})
    select live.key, p.bucket, case when live.kind in (${kindOf('MAINTENANCE')}, ${kindOf('PAUSED')}) then live.kind else ${kindOf('UNKNOWN')} end as kind,
      sum(greatest(0, least(p.day * ${dayMs}::float8 + p.to_ms, ${nowMs}) - greatest(p.day * ${dayMs}::float8 + p.from_ms, live.known)))::bigint as ms
    from live join ${partRows(present)} on p.day >= live.day
    group by 1, 2, 3`);
  for (const row of beyond) if (row.ms > 0) addKind(sumOf(row.key, row.bucket), row.kind, row.ms);
}

const kindOf = (kind: (typeof dayKinds)[number]): number => dayKinds.indexOf(kind);

function addTimes({ time }: Sum, row: Omit<z.infer<typeof timeRow>, 'key' | 'bucket'>): void {
  time.upMs += row.up;
  time.degradedMs += row.degraded;
  time.downMs += row.down;
  time.timeoutMs += row.timeout;
  time.unknownMs += row.unknown;
  time.maintenanceMs += row.maintenance;
  time.pausedMs += row.paused;
}

function addKind({ time }: Sum, kind: number, ms: number): void {
  const counting = dayKinds[kind];
  if (counting === undefined) throw new RangeError(`a day has time of kind ${kind}`);
  addTime(time, counting, ms);
}
