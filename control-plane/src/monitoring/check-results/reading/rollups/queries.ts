import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../../platform/database/pools.ts';
import { int32, timestampUs } from '../block.ts';
import { atMost, hoursNotCovered, notCovered } from '../cover.ts';
import { bytesColumn, countedOf, countedRows, hotFrom, ofProbe } from '../rows/queries.ts';
import type { CountedRow, StoredChunk } from '../rows/queries.ts';
import { hourOf, hourUs, hoursPerDay, wholeHours } from '../time.ts';
import type { HourSpan, Span } from '../time.ts';
import { edgeHours } from '../window.ts';
import type { WantedProbes } from '../window.ts';

/*
 * Which results of a window are told by summaries, and which must be read.
 *
 * An hour of a monitor is packed for all its probes in one transaction, and a day is merged in one; a result that is stored later marks its
 * hour as stale in the transaction that stores it. So in one statement a day, or an hour, is either here whole and not stale, or must be read from
 * its hours, or its rows. The statements of one reading may see different moments, but each stretch of time is taken from one of them only,
 * so no result is counted twice, and one that was committed before the reading began is counted. Rows are read from `hot_from` on as the first
 * statement saw it: days before a boundary are dropped a minute after it has moved at the earliest, and a transaction
 * that has looked at any of the rows keeps them from being dropped.
 */

/** The summary of an hour or a day of one probe. */
export type Rollup = {
  readonly fromHour: number;
  readonly toHour: number;
  readonly probeId: number;
  /** Of every kind. */
  readonly results: number;
  readonly summary: Buffer;
};

export type Cover = {
  /** From where on results stand as rows. */
  readonly hotFromUs: number;
  /** Whole hours and days of the window; they do not overlap but for several probes of the same time. */
  readonly rollups: readonly Rollup[];
  /** What must be read instead, in order. */
  readonly rest: readonly Span[];
  /** The chunks of the hours at the ends of the window of which it holds a part only. */
  readonly edges: readonly StoredChunk[];
  /** The newest rows of the window, which are not packed yet: all of them from an instant on. */
  readonly recent: { readonly fromUs: number; readonly rows: readonly CountedRow[] };
};

/** More runs of hours than this are joined: a query with many ranges costs more than some hours too many. */
const mostRuns = 4;
/** An hour is packed some minutes after its end: until then its rows are wanted. */
const packedAfterUs = 7 * 60_000_000;
/** More of the newest rows than this are not read along. */
const mostRecent = 10_000;

/**
 * Reads in one statement what a window that ends now nearly always needs: its days, the hours beside them, the rows of the present hour, and the
 * chunks at its ends. Only where days are not merged, or hours stale, a second one is needed.
 * @param window not empty
 * @param withDays whether days may stand for their hours
 */
export async function readCover(
  connection: CommonQueryMethods,
  monitorId: number,
  window: Span & { readonly probeId?: WantedProbes },
  { withDays = true }: { readonly withDays?: boolean } = {},
): Promise<Cover> {
  const { probeId } = window;
  const hours = wholeHours(window);
  // What is merged and packed by now is guessed by this process's clock: a wrong one costs a statement more.
  const nowUs = Math.min(window.toUs, Date.now() * 1_000);
  const days = withDays ? wholeDays({ ...hours, toHour: hourOf(nowUs) }) : nothingOf(hours);
  const edges = edgeHours(window);
  const [beside, alsoBeside] = withEdges(hoursNotCovered(hours, [days]), edges);
  const recentFromUs = Math.max(window.fromUs, hourOf(nowUs - packedAfterUs) * hourUs);
  const found = await connection.one(sql.type(firstRow)`
    select ${hotFrom}, ${daysIn(monitorId, days, probeId)} as days, ${hoursIn(monitorId, beside, edges, probeId)} as hours,
      ${hoursIn(monitorId, alsoBeside, edges, probeId)} as more_hours, ${staleIn(monitorId, hours)} as stale,
      ${countedRows(monitorId, { fromUs: recentFromUs, toUs: window.toUs }, { probeId, take: mostRecent })} as recent`);
  const rows = countedOf(found.recent);
  const known = { hotFromUs: timestampUs(found.hot_from, 0), isStale: staleSet(found.stale) };
  const besideDays = [...hoursOf(found.hours), ...hoursOf(found.more_hours)];
  const first = {
    recent: rows.length < mostRecent ? { fromUs: recentFromUs, rows } : { fromUs: window.toUs, rows: [] },
    edges: besideDays.flatMap(({ fromHour, probeId: ofProbeId, chunk }) =>
      chunk.length === 0 ? [] : [{ hour: fromHour, probeId: ofProbeId, chunk }],
    ),
  };
  const rollups = [
    ...notStale(daysOf(found.days), known),
    ...notStale(
      besideDays.filter(({ chunk }) => chunk.length === 0),
      known,
    ),
  ];
  const missing = hoursNotCovered(days, rollups);
  if (missing.length === 0) return { ...first, hotFromUs: known.hotFromUs, rollups, rest: notCovered(window, rollups) };

  const more = await readHours(connection, monitorId, missing, probeId);
  const all = [...rollups, ...more.filter((hour) => !isIn(hour.fromHour, rollups))];
  return { ...first, hotFromUs: known.hotFromUs, rollups: all, rest: notCovered(window, all) };
}

/** The hours of the whole days among some hours. */
function wholeDays(hours: HourSpan): HourSpan {
  const fromHour = Math.ceil(hours.fromHour / hoursPerDay) * hoursPerDay;
  const toHour = Math.floor(hours.toHour / hoursPerDay) * hoursPerDay;
  return fromHour < toHour ? { fromHour, toHour } : nothingOf(hours);
}

const nothingOf = ({ fromHour }: HourSpan): HourSpan => ({ fromHour, toHour: fromHour });

/** Two runs at most that hold those hours and those at the ends of the window. */
function withEdges(runs: readonly HourSpan[], edges: readonly number[]): HourSpan[] {
  const ends = edges.map((hour) => ({ fromHour: hour, toHour: hour + 1 }));
  return atMost(
    [...runs, ...ends].toSorted((one, other) => one.fromHour - other.fromHour),
    2,
  );
}

const isIn = (hour: number, runs: readonly HourSpan[]): boolean =>
  runs.some(({ fromHour, toHour }) => fromHour <= hour && hour < toHour);

const firstRow = z.object({
  hot_from: z.instanceof(Buffer),
  days: bytesColumn,
  hours: bytesColumn,
  more_hours: bytesColumn,
  stale: bytesColumn,
  recent: bytesColumn,
});
const hoursRow = z.object({ hot_from: z.instanceof(Buffer), hours: bytesColumn, stale: bytesColumn });

/** The hours of some runs that are not stale. */
async function readHours(
  connection: CommonQueryMethods,
  monitorId: number,
  wanted: readonly HourSpan[],
  probeId: WantedProbes,
): Promise<Rollup[]> {
  const runs = atMost(wanted, mostRuns);
  const isWanted = runs.map(({ fromHour, toHour }) => sql.fragment`(h.hour >= ${fromHour} and h.hour < ${toHour})`);
  const found = await connection.one(sql.type(hoursRow)`
    select ${hotFrom}, (
        select string_agg(${packedHour([])}, ''::bytea) from result_hours h
        where h.monitor_id = ${monitorId} and (${sql.join(isWanted, sql.fragment` or `)}) and ${ofProbe(sql.fragment`h.probe_id`, probeId)}
      ) as hours,
      ${staleIn(monitorId, { fromHour: runs[0]?.fromHour ?? 0, toHour: runs.at(-1)?.toHour ?? 0 })} as stale`);
  const known = { hotFromUs: timestampUs(found.hot_from, 0), isStale: staleSet(found.stale) };
  return notStale(hoursOf(found.hours), known);
}

function daysIn(monitorId: number, { fromHour, toHour }: HourSpan, probeId: WantedProbes) {
  if (fromHour >= toHour) return nothing;
  return sql.fragment`(
    select string_agg(${packedDay}, ''::bytea) from result_days d
    where d.monitor_id = ${monitorId} and d.day >= ${fromHour / hoursPerDay} and d.day < ${toHour / hoursPerDay}
      and ${ofProbe(sql.fragment`d.probe_id`, probeId)})`;
}

/** @param edges hours whose chunk is wanted and not their summary */
function hoursIn(monitorId: number, hours: HourSpan | undefined, edges: readonly number[], probeId: WantedProbes) {
  if (hours === undefined) return nothing;
  const own = edges.filter((hour) => hours.fromHour <= hour && hour < hours.toHour);
  return sql.fragment`(
    select string_agg(${packedHour(own)}, ''::bytea) from result_hours h
    where h.monitor_id = ${monitorId} and h.hour >= ${hours.fromHour} and h.hour < ${hours.toHour}
      and ${ofProbe(sql.fragment`h.probe_id`, probeId)})`;
}

function staleIn(monitorId: number, { fromHour, toHour }: HourSpan) {
  return sql.fragment`(
    select string_agg(int4send(s.hour), ''::bytea) from stale_hours s
    where s.monitor_id = ${monitorId} and s.hour >= ${fromHour} and s.hour < ${toHour})`;
}

type Fragment = ReturnType<typeof sql.fragment>;

const nothing = sql.fragment`null::bytea`;

type Known = { readonly hotFromUs: number; readonly isStale: ReadonlySet<number> };

/** Those that no stale hour lies in. Before the boundary there are no rows that would know better than what is packed. */
function notStale(rollups: readonly Rollup[], { hotFromUs, isStale }: Known): Rollup[] {
  return rollups.filter(({ fromHour, toHour }) => {
    for (let hour = Math.max(fromHour, hotFromUs / hourUs); hour < toHour; hour += 1)
      if (isStale.has(hour)) return false;
    return true;
  });
}

function staleSet(found: Buffer): ReadonlySet<number> {
  const hours = new Set<number>();
  for (let at = 0; at < found.length; at += 4) hours.add(int32(found, at));
  return hours;
}

/** Two numbers as one: what costs most is each value that is put together. */
const both = (high: Fragment, low: Fragment) => sql.fragment`int8send((${high})::bigint << 32 | (${low})::bigint)`;

/** Read by `hoursOf`. The chunk follows where it is wanted. */
function packedHour(edges: readonly number[]) {
  const head = both(sql.fragment`h.hour`, sql.fragment`h.probe_id`);
  const summary = sql.fragment`${head} || ${both(sql.fragment`h.results`, sql.fragment`octet_length(h.summary)`)} || h.summary`;
  if (edges.length === 0) return sql.fragment`${summary} || '\\x00000000'::bytea`;
  const isEdge = sql.fragment`h.hour in (${sql.join(edges, sql.fragment`, `)})`;
  return sql.fragment`${summary} || case when ${isEdge} then int4send(octet_length(h.chunk)) || h.chunk else '\\x00000000' end`;
}

/** Read by `daysOf`. */
const packedDay = sql.fragment`${both(sql.fragment`d.day`, sql.fragment`d.probe_id`)}
  || ${both(sql.fragment`d.results`, sql.fragment`octet_length(d.summary)`)} || d.summary`;

function hoursOf(found: Buffer): (Rollup & { readonly chunk: Buffer })[] {
  const hours: (Rollup & { readonly chunk: Buffer })[] = [];
  for (let at = 0; at < found.length; ) {
    const fromHour = int32(found, at);
    const chunkAt = at + 16 + int32(found, at + 12);
    const end = chunkAt + 4 + int32(found, chunkAt);
    hours.push({
      fromHour,
      toHour: fromHour + 1,
      probeId: int32(found, at + 4),
      results: int32(found, at + 8),
      summary: found.subarray(at + 16, chunkAt),
      chunk: found.subarray(chunkAt + 4, end),
    });
    at = end;
  }
  return hours;
}

function daysOf(found: Buffer): Rollup[] {
  const days: Rollup[] = [];
  for (let at = 0; at < found.length; ) {
    const fromHour = int32(found, at) * hoursPerDay;
    const end = at + 16 + int32(found, at + 12);
    days.push({
      fromHour,
      toHour: fromHour + hoursPerDay,
      probeId: int32(found, at + 4),
      results: int32(found, at + 8),
      summary: found.subarray(at + 16, end),
    });
    at = end;
  }
  return days;
}
