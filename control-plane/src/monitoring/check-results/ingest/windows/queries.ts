import { outcomes } from '@parallax/checks';
import type pg from 'pg';
import { fromLastVerdicts, rowsBeforeHorizon } from '../../../consensus/index.ts';
import type { RangeStatus, StoredRange, StoredResult } from '../../../consensus/index.ts';
import { atMicroseconds } from '../../../status-ranges/index.ts';
import { ChunkError, decodeChunk } from '../../packed/chunk.ts';
import { ResultColumns } from '../../packed/columns.ts';
import { storedResult, votingRows } from './packed-rows.ts';

/** What reads may go through: a pool or the client of a transaction. */
export type Reader = Pick<pg.Pool, 'query'>;

/** SQL for the whole microseconds of an instant, as bigint; exact. */
export const microseconds = (expression: string): string => `(extract(epoch from ${expression}) * 1000000)::bigint`;

/** A monitor whose memory is to be read from a horizon on. */
export type WindowWanted = {
  readonly monitorId: number;
  readonly horizonUs: number;
  /** How long before the horizon a row may matter to it: as many freshnesses as rows. */
  readonly backUs: number;
  readonly voters: readonly number[];
  /** Its ranges from here on are to be derived anew. */
  readonly refoldFromUs?: number | undefined;
  /** The results from the horizon on are not asked for. */
  readonly isBeforeOnly?: boolean | undefined;
};

/** What `createMonitorFold` needs of the database, for one monitor. */
export type StoredWindow = {
  before: StoredResult[];
  results: StoredResult[];
  readonly votesAtHorizon: Map<number, 'DOWN' | 'TIMEOUT'>;
  readonly votedUntilUs?: Map<number, number>;
  readonly storedRanges: StoredRange[];
  readonly storedProbeRanges: StoredRange[];
};

/**
 * Reads the windows of many monitors in a handful of queries, whatever their number. Results of days that are not kept as rows any more are read
 * from their chunks.
 */
export async function readWindows(reader: Reader, wanted: readonly WindowWanted[]): Promise<Map<number, StoredWindow>> {
  for (;;) {
    const hotFromUs = await readHotFrom(reader);
    const windows = await readHot(reader, wanted, hotFromUs);
    await addPacked(reader, wanted, hotFromUs, windows);
    // The days behind a boundary are dropped some time after it has moved: as long as it stands, none of them is missing.
    if ((await readHotFrom(reader)) === hotFromUs) return windows;
  }
}

/** From where on there are rows; minus infinity while no day was ever dropped. */
export async function readHotFrom(reader: Reader): Promise<number> {
  const found = await reader.query<{ us: string | null }>(
    `select case when isfinite(hot_from) then ${microseconds('hot_from')} end as us from result_storage`,
  );
  const us = found.rows[0]?.us ?? null;
  return us === null ? Number.NEGATIVE_INFINITY : Number(us);
}

type ChunkTuple = [monitorId: number, hour: number, probeId: number, chunk: Buffer];

const hourUs = 3_600_000_000;

/** Chunks that are read at once, some 3 MB, but for a single monitor that has more. */
const chunksAtOnce = 5_000;

/** Adds what stands in chunks alone to windows that reach so far back. */
async function addPacked(
  reader: Reader,
  wanted: readonly WindowWanted[],
  hotFromUs: number,
  windows: ReadonlyMap<number, StoredWindow>,
): Promise<void> {
  const deep = wanted.filter(({ horizonUs, backUs }) => horizonUs - backUs < hotFromUs);
  for (const batch of batchesOf(deep, hotFromUs)) await addChunks(reader, batch, hotFromUs, windows);
}

/** Whole windows, as many at once as have so many chunks at most. */
function batchesOf(deep: readonly WindowWanted[], hotFromUs: number): WindowWanted[][] {
  const batches: WindowWanted[][] = [];
  let chunks = Number.POSITIVE_INFINITY;
  for (const item of deep) {
    const own = ((hotFromUs - item.horizonUs + item.backUs) / hourUs) * Math.max(1, item.voters.length);
    chunks += own;
    if (chunks > chunksAtOnce) {
      batches.push([]);
      chunks = own;
    }
    batches.at(-1)?.push(item);
  }
  return batches;
}

async function addChunks(
  reader: Reader,
  deep: readonly WindowWanted[],
  hotFromUs: number,
  windows: ReadonlyMap<number, StoredWindow>,
): Promise<void> {
  const firstHours = deep.map(({ horizonUs, backUs }) => Math.floor((horizonUs - backUs) / hourUs));
  const lastUs = (item: WindowWanted): number =>
    item.isBeforeOnly === true ? Math.min(item.horizonUs, hotFromUs) : hotFromUs;
  const untilHours = deep.map((item) => Math.ceil(lastUs(item) / hourUs));
  const found = await reader.query<ChunkTuple>({
    text: `select h.monitor_id, h.hour, h.probe_id, h.chunk
      from unnest($1::integer[], $2::integer[], $3::integer[]) as w (monitor_id, first_hour, until_hour)
      join result_hours h on h.monitor_id = w.monitor_id and h.hour >= w.first_hour and h.hour < w.until_hour
      where h.hour >= $4 and h.hour < $5`,
    values: [
      deep.map(({ monitorId }) => monitorId),
      firstHours,
      untilHours,
      firstHours.reduce((first, hour) => Math.min(first, hour), Number.MAX_SAFE_INTEGER),
      Math.floor(hotFromUs / hourUs),
    ],
    rowMode: 'array',
  });
  const chunks = Map.groupBy(found.rows, ([monitorId]) => monitorId);
  const rows = new ResultColumns();
  for (const { monitorId, horizonUs, backUs, isBeforeOnly } of deep) {
    const window = windows.get(monitorId);
    if (window === undefined) continue;
    const before = [...window.before];
    const results = [...window.results];
    for (const [, , voter, chunk] of chunks.get(monitorId) ?? []) {
      if (!decode(chunk, rows)) continue;
      for (const row of votingRows(rows, voter, horizonUs - backUs, horizonUs)) before.push(row);
      if (isBeforeOnly === true) continue;
      for (const row of votingRows(rows, voter, horizonUs, hotFromUs)) results.push(row);
    }
    window.before = fromLastVerdicts(before);
    window.results = results.sort((a, b) => a.eUs - b.eUs);
  }
}

/** False for a damaged chunk: its results are lost, which `control-plane recompute` tells; they must not keep a shard from being read. */
function decode(chunk: Buffer, into: ResultColumns): boolean {
  try {
    decodeChunk(chunk, into);
    return true;
  } catch (error) {
    if (error instanceof ChunkError) return false;
    throw error;
  }
}

async function readHot(
  reader: Reader,
  wanted: readonly WindowWanted[],
  hotFromUs: number,
): Promise<Map<number, StoredWindow>> {
  // A day behind the boundary may still stand; its results are read from their chunks.
  const hotFrom = Number.isFinite(hotFromUs) ? new Date(hotFromUs / 1_000) : '-infinity';
  const windows = new Map<number, StoredWindow>();
  for (const { monitorId } of wanted) {
    windows.set(monitorId, {
      before: [],
      results: [],
      votesAtHorizon: new Map(),
      votedUntilUs: new Map(),
      storedRanges: [],
      storedProbeRanges: [],
    });
  }
  const monitors = [wanted.map((item) => item.monitorId), wanted.map((item) => item.horizonUs)];
  const pairs = wanted.flatMap((item) => item.voters.map((voter) => ({ ...item, voter })));
  const voters = [
    pairs.map((item) => item.monitorId),
    pairs.map((item) => item.horizonUs),
    pairs.map((item) => item.voter),
  ];

  const onward = wanted.filter(({ isBeforeOnly }) => isBeforeOnly !== true);
  const results = await reader.query<ResultTuple>({
    text: resultsText,
    values: [onward.map((item) => item.monitorId), onward.map((item) => item.horizonUs), hotFrom],
    rowMode: 'array',
  });
  for (const row of results.rows) windows.get(row[0])?.results.push(resultOf(row));

  const before = await reader.query<ResultTuple>({
    text: beforeText,
    values: [...monitors, wanted.map((item) => item.backUs), hotFrom],
    rowMode: 'array',
  });
  for (const row of before.rows) windows.get(row[0])?.before.push(resultOf(row));

  const ranges = await reader.query<RangeTuple>({ text: rangesText, values: monitors, rowMode: 'array' });
  for (const row of ranges.rows) if (!row[5]) windows.get(row[0])?.storedRanges.push(storedRange(row));

  const probeRanges = await reader.query<RangeTuple>({ text: probeRangesText, values: voters, rowMode: 'array' });
  for (const row of probeRanges.rows) {
    const [monitorId, voter, , ended, status, isOver, isBefore] = row;
    const window = windows.get(monitorId);
    if (!isOver) window?.storedProbeRanges.push(storedRange(row));
    if (isBefore && voter !== null) {
      window?.votedUntilUs?.set(voter, ended === null ? Number.POSITIVE_INFINITY : Number(ended));
    }
    if (isBefore && voter !== null && (status === 'DOWN' || status === 'TIMEOUT')) {
      window?.votesAtHorizon.set(voter, status);
    }
  }
  return windows;
}

/** monitor, effective time, voter, flags, error, freshness, revision, receipt. */
type ResultTuple = [number, string, number, number, number, number, number, string];
/** monitor, voter, start, end, status, ended before the horizon, began before it. */
type RangeTuple = [number, number | null, string, string | null, RangeStatus, boolean, boolean];

const resultColumns = `r.monitor_id, ${microseconds('r.e')}, r.probe_id, r.flags, r.error, r.fresh_s, r.probe_revision, ${microseconds('r.received_at')}`;
const isVoting = `r.flags & 3 <> 2 and (r.flags >> 2) & 15 <> ${outcomes.indexOf('skipped')}`;
const isNoVerdict = `(r.flags >> 2) & 15 = ${outcomes.indexOf('probe_error')}`;

// Without the offset the planner makes it a join, takes a third of all rows for wanted, and reads all of them.
const resultsText = `
  select ${resultColumns} from unnest($1::integer[], $2::bigint[]) as w (monitor_id, horizon_us)
  cross join lateral (
    select * from check_results r
    where r.monitor_id = w.monitor_id and r.e >= ${atMicroseconds('w.horizon_us')} and r.e >= $3::timestamptz and ${isVoting}
    offset 0
  ) r`;

// `verdicts` counts a voter's instants with a verdict from the horizon back to this one, as `fromLastVerdicts` does: an instant at which the probe
// erred too is none, and rows of one instant go or stay together. All windows have one order, so the rows are sorted once. One scan for each
// monitor: voters lie mixed in the index, so one for each of them would read the same pages again.
const beforeText = `
  select ${resultColumns} from unnest($1::integer[], $2::bigint[], $3::bigint[]) as w (monitor_id, horizon_us, back_us)
  cross join lateral (
    select r.*, count(*) filter (where r.is_first and not r.has_error) over (partition by r.probe_id order by r.e desc) as verdicts
    from (
      select r.*, lag(r.e) over voter is distinct from r.e as is_first,
        bool_or(${isNoVerdict}) over (voter range between current row and current row) as has_error
      from check_results r
      where r.monitor_id = w.monitor_id and ${isVoting}
        and r.e < ${atMicroseconds('w.horizon_us')} and r.e >= ${atMicroseconds('(w.horizon_us - w.back_us)')}
        and r.e >= $4::timestamptz
      window voter as (partition by r.probe_id order by r.e desc)
    ) r
  ) r
  where r.verdicts < ${rowsBeforeHorizon} or (r.verdicts = ${rowsBeforeHorizon} and not r.has_error)`;

// Ranges of one key do not overlap, so of those that began before the horizon only the last can reach it.
const rangesAround = (table: string, voter: string, condition: string): string => `
  cross join lateral (
    (select r.started_at, r.ended_at, r.status from ${table} r
     where r.monitor_id = w.monitor_id ${condition} and r.started_at >= ${atMicroseconds('w.horizon_us')})
    union all
    (select r.started_at, r.ended_at, r.status from ${table} r
     where r.monitor_id = w.monitor_id ${condition} and r.started_at < ${atMicroseconds('w.horizon_us')}
     order by r.started_at desc limit 1)
  ) r (started_at, ended_at, status)
  cross join lateral (select w.monitor_id, ${voter} as voter, ${microseconds('r.started_at')}, ${microseconds('r.ended_at')}, r.status,
    coalesce(r.ended_at < ${atMicroseconds('w.horizon_us')}, false), r.started_at < ${atMicroseconds('w.horizon_us')}) as o`;

const rangesText = `select o.* from unnest($1::integer[], $2::bigint[]) as w (monitor_id, horizon_us)
  ${rangesAround('status_ranges', 'null::integer', '')}`;
const probeRangesText = `select o.* from unnest($1::integer[], $2::bigint[], $3::integer[]) as w (monitor_id, horizon_us, voter)
  ${rangesAround('probe_ranges', 'w.voter', 'and r.probe_id = w.voter')}`;

function resultOf([, e, voter, flags, error, freshS, probeRevision, received]: ResultTuple): StoredResult {
  return storedResult({
    eUs: Number(e),
    voter,
    flags,
    error,
    freshS,
    probeRevision,
    receivedUs: Number(received),
  });
}

function storedRange([, voter, started, ended, status]: RangeTuple): StoredRange {
  return { voter, startedUs: Number(started), endedUs: ended === null ? null : Number(ended), status };
}
