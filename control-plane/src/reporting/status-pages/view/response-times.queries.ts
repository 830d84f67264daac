import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { RunningSummary, SummaryError } from '../../../monitoring/check-results/index.ts';
import { sql } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import type { ResponseTimes } from './response-times.ts';

const dayMs = 86_400_000;

type Window = { readonly fromMs: number; readonly toMs: number };

/** Monitors by what is wanted of them. */
type TimedMonitors = {
  /** Those whose response times stand alone: their medians are stored. */
  readonly alone: readonly number[];
  /** Those whose response times are put together with those of others: medians of them say nothing of all. */
  readonly together: readonly number[];
};

/** Response times of UTC days of monitors of the scope: the medians that are stored, then sums of the days that have none or are to be put together. */
export async function responseTimesOf(
  scope: Scope,
  connection: CommonQueryMethods,
  { alone, together }: TimedMonitors,
  window: Window,
): Promise<ResponseTimes> {
  const days = { from: Math.floor(window.fromMs / dayMs), to: Math.floor(window.toMs / dayMs) };
  const all = Array.from({ length: days.to - days.from + 1 }, (_, place) => days.from + place);
  const medians = await storedMedians(scope, connection, alone, days);
  const wanted = [
    ...alone.map((id) => ({ id, days: all.filter((day) => medians.get(id)?.has(day) !== true) })),
    ...together.map((id) => ({ id, days: all })),
  ];
  return { medians, summaries: await daySummaries(scope, connection, wanted, days) };
}

type Days = { readonly from: number; readonly to: number };

const monitorsOf = (scope: Scope, ids: readonly number[]) => sql.fragment`
  select m.id, m.reset_at from monitors m
  where m.id = any(${sql.array([...ids], 'int4')}) and m.workspace_id = any(${sql.array([...scope.workspaceIds], 'int4')})
    and m.deleted_at is null`;
const since = (seconds: number) =>
  sql.fragment`coalesce(ceil(extract(epoch from m.reset_at) / ${seconds}), 0)::integer`;

const mediansRow = z.object({ id: z.number(), medians: z.string().nullable() });

/** In microseconds by monitor and day since the epoch; null: nothing of the day took time. */
async function storedMedians(
  scope: Scope,
  connection: CommonQueryMethods,
  ids: readonly number[],
  { from, to }: Days,
): Promise<ReadonlyMap<number, ReadonlyMap<number, number | null>>> {
  if (ids.length === 0) return new Map();
  const rows = await connection.any(sql.prepared('page-medians', mediansRow)`
    with m as materialized (${monitorsOf(scope, ids)})
    select m.id, d.medians from m cross join lateral (
      select string_agg(d.day || ' ' || d.median_us, ',') as medians from result_days d
      where d.monitor_id = m.id and d.day between ${from} and ${to} and d.median_us is not null and d.day >= ${since(86_400)}) d`);
  return new Map(rows.map(({ id, medians }) => [id, readMedians(medians ?? '')]));
}

/** Pairs of a day and a median, digit by digit: there are as many as days of all monitors. */
function readMedians(text: string): ReadonlyMap<number, number | null> {
  const medians = new Map<number, number | null>();
  let day = 0;
  let number = 0;
  let isSigned = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === minus) isSigned = true;
    else if (code === space) {
      day = number;
      number = 0;
    } else if (code !== comma) number = number * 10 + code - zero;
    if (code !== comma && at < text.length - 1) continue;
    medians.set(day, isSigned ? null : number);
    number = 0;
    isSigned = false;
  }
  return medians;
}

const [zero, space, comma, minus] = [48, 32, 44, 45];

const summariesRow = z.object({ id: z.number(), summaries: z.instanceof(Buffer).nullable() });

/**
 * Sums of wanted days: one statement. A day that has none yet, such as the present one, is told by its closed hours, of which no others are read.
 * @param wanted a monitor may stand there more than once
 */
async function daySummaries(
  scope: Scope,
  connection: CommonQueryMethods,
  wanted: readonly { readonly id: number; readonly days: readonly number[] }[],
  { from, to }: Days,
): Promise<ReadonlyMap<number, ReadonlyMap<number, RunningSummary>>> {
  const pairs = wanted.flatMap(({ id, days }) => days.map((day) => ({ id, day })));
  if (pairs.length === 0) return new Map();
  const ids = [...new Set(pairs.map(({ id }) => id))];
  const part = (day: ReturnType<typeof sql.fragment>, summary: ReturnType<typeof sql.fragment>) =>
    sql.fragment`int4send(${day}) || int4send(octet_length(${summary})) || ${summary}`;
  const firstHourDay = Math.max(from, to - daysByHours);
  const rows = await connection.any(sql.prepared('page-response-times', summariesRow)`
    with m as materialized (
      select m.*, w.days, ${since(86_400)} as first_day, ${since(3_600)} as first_hour,
        array(select d.day from result_days d where d.monitor_id = m.id and d.day between ${firstHourDay} and ${to}) as summed
      from (${monitorsOf(scope, ids)}) m join (
        select w.id, array_agg(distinct w.day) as days
        from unnest(${sql.array(
          pairs.map(({ id }) => id),
          'int4',
        )}, ${sql.array(
          pairs.map(({ day }) => day),
          'int4',
        )}) w (id, day) group by w.id) w on w.id = m.id)
    select m.id, d.summaries from m cross join lateral (
      select string_agg(${part(sql.fragment`d.day`, sql.fragment`d.summary`)}, '') as summaries from result_days d
      where d.monitor_id = m.id and d.day = any(m.days) and d.day between ${from} and ${to} and d.day >= m.first_day) d
    union all
    select m.id, h.summaries from m cross join lateral (
      select string_agg(x.summaries, '') as summaries from unnest(m.days) w (day) cross join lateral (
        select string_agg(${part(sql.fragment`w.day`, sql.fragment`h.summary`)}, '') as summaries from result_hours h
        where h.monitor_id = m.id and h.hour between w.day * 24 and w.day * 24 + 23 and h.hour >= m.first_hour
          and h.hour between ${firstHourDay * 24} and ${to * 24 + 23}) x
      where w.day >= ${firstHourDay} and (w.day < m.first_day or w.day <> all(m.summed))) h`);
  const found = new Map<number, Map<number, RunningSummary>>();
  for (const { id, summaries } of rows) {
    const days = found.get(id) ?? new Map<number, RunningSummary>();
    found.set(id, days);
    if (summaries !== null) addParts(days, summaries);
  }
  return found;
}

/** A day is summed when all of its hours are closed, some time after it is over. */
const daysByHours = 3;

/** Adds summaries to those of their days: of each the day, its length, and itself. What is damaged is left out. */
function addParts(days: Map<number, RunningSummary>, bytes: Buffer): void {
  const one = new RunningSummary();
  for (let at = 0; at < bytes.length; ) {
    const day = bytes.readInt32BE(at);
    const from = at + 8;
    at = from + bytes.readInt32BE(at + 4);
    const sum = days.get(day) ?? new RunningSummary();
    days.set(day, sum);
    one.clear();
    try {
      one.addEncoded(bytes.subarray(from, at));
    } catch (error) {
      if (error instanceof SummaryError) continue;
      throw error;
    }
    sum.add(one);
  }
}
