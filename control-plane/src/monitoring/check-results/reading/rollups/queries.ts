import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../../platform/database/pools.ts';
import { int32, timestampUs } from '../block.ts';
import { atMost, hoursNotCovered, notCovered } from '../cover.ts';
import { bytesColumn, countedOf, hotFrom, ofProbe } from '../rows/queries.ts';
import type { CountedRow, StoredChunk } from '../rows/queries.ts';
import { hourOf, hourUs, hoursPerDay, isoOfUs, wholeHours } from '../time.ts';
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
  const parts = await readParts(connection, monitorId, probeId, {
    days,
    runs: [beside, alsoBeside],
    edges,
    stale: hours,
    recent: { fromUs: recentFromUs, toUs: window.toUs },
  });
  const { rows } = parts;
  const known = { hotFromUs: parts.hotFromUs, isStale: parts.stale };
  const first = {
    recent: rows.length < mostRecent ? { fromUs: recentFromUs, rows } : { fromUs: window.toUs, rows: [] },
    edges: parts.edges,
  };
  const rollups = notStale(parts.rollups, known);
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

type WantedParts = {
  readonly days: HourSpan;
  /** Two runs of hours at most. */
  readonly runs: readonly (HourSpan | undefined)[];
  /** Of those hours the ones whose chunk is wanted and not their summary: two at most. */
  readonly edges: readonly number[];
  readonly stale: HourSpan;
  readonly recent: Span;
};

type Parts = {
  readonly hotFromUs: number;
  readonly rollups: readonly Rollup[];
  readonly edges: readonly StoredChunk[];
  readonly stale: ReadonlySet<number>;
  readonly rows: readonly CountedRow[];
};

const partsRow = z.object({ parts: z.instanceof(Buffer) });

/** All in one statement: the function window_sums of the migrations. */
async function readParts(
  connection: CommonQueryMethods,
  monitorId: number,
  probeId: WantedProbes,
  { days, runs: [run = noHours, more = noHours], edges: [edge = -1, otherEdge = -1], stale, recent }: WantedParts,
): Promise<Parts> {
  const probes = probeId === undefined ? null : sql.array(typeof probeId === 'number' ? [probeId] : probeId, 'int4');
  const found = await connection.one(sql.type(partsRow)`
    select window_sums(${monitorId}, ${probes}, ${dayOf(days.fromHour)}, ${dayOf(days.toHour)}, ${run.fromHour}, ${run.toHour},
      ${more.fromHour}, ${more.toHour}, ${edge}, ${otherEdge}, ${stale.fromHour}, ${stale.toHour},
      ${isoOfUs(recent.fromUs)}, ${isoOfUs(recent.toUs)}, ${mostRecent}) as parts`);
  return partsOf(found.parts);
}

const dayOf = (hour: number): number => Math.floor(hour / hoursPerDay);
const noHours = { fromHour: 0, toHour: 0 };
/** What stands after each part. */
const endOfPart = -1;

function partsOf(bytes: Buffer): Parts {
  const hotFromUs = timestampUs(bytes, 0);
  const rollups: Rollup[] = [];
  const edges: StoredChunk[] = [];
  const stale = new Set<number>();
  let at = 8;
  for (; int32(bytes, at) !== endOfPart; at = endOfHead(bytes, at)) rollups.push(dayAt(bytes, at));
  at += 4;
  while (int32(bytes, at) !== endOfPart) {
    const chunkAt = endOfHead(bytes, at) + 4;
    const end = chunkAt + int32(bytes, chunkAt - 4);
    if (end === chunkAt) rollups.push(hourAt(bytes, at));
    else edges.push({ hour: int32(bytes, at), probeId: int32(bytes, at + 4), chunk: bytes.subarray(chunkAt, end) });
    at = end;
  }
  at += 4;
  for (; int32(bytes, at) !== endOfPart; at += 4) stale.add(int32(bytes, at));
  return { hotFromUs, rollups, edges, stale, rows: countedOf(bytes, at + 4) };
}

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
        select string_agg(${packedHour}, ''::bytea) from result_hours h
        where h.monitor_id = ${monitorId} and (${sql.join(isWanted, sql.fragment` or `)}) and ${ofProbe(sql.fragment`h.probe_id`, probeId)}
      ) as hours,
      ${staleIn(monitorId, { fromHour: runs[0]?.fromHour ?? 0, toHour: runs.at(-1)?.toHour ?? 0 })} as stale`);
  const known = { hotFromUs: timestampUs(found.hot_from, 0), isStale: staleSet(found.stale) };
  return notStale(hoursOf(found.hours), known);
}

function staleIn(monitorId: number, { fromHour, toHour }: HourSpan) {
  return sql.fragment`(
    select string_agg(int4send(s.hour), ''::bytea) from stale_hours s
    where s.monitor_id = ${monitorId} and s.hour >= ${fromHour} and s.hour < ${toHour})`;
}

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

/** Read by `hourAt`. */
const packedHour = sql.fragment`int8send(h.hour::bigint << 32 | h.probe_id::bigint)
  || int8send(h.results::bigint << 32 | octet_length(h.summary)::bigint) || h.summary`;

function hoursOf(found: Buffer): Rollup[] {
  const hours: Rollup[] = [];
  for (let at = 0; at < found.length; at = endOfHead(found, at)) hours.push(hourAt(found, at));
  return hours;
}

/** An hour or a day is its number, the probe, the number of results, the length of the summary, and that. */
const headBytes = 16;

const endOfHead = (bytes: Buffer, at: number): number => at + headBytes + int32(bytes, at + 12);

const dayAt = (bytes: Buffer, at: number): Rollup => rollupAt(bytes, at, hoursPerDay);
const hourAt = (bytes: Buffer, at: number): Rollup => rollupAt(bytes, at, 1);

function rollupAt(bytes: Buffer, at: number, hours: number): Rollup {
  const fromHour = int32(bytes, at) * hours;
  return {
    fromHour,
    toHour: fromHour + hours,
    probeId: int32(bytes, at + 4),
    results: int32(bytes, at + 8),
    summary: bytes.subarray(at + headBytes, endOfHead(bytes, at)),
  };
}
