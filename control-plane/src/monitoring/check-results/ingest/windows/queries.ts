import { outcomes } from '@parallax/checks';
import { unpackFlags } from '@parallax/wire';
import type pg from 'pg';
import { rowsBeforeHorizon } from '../../../consensus/index.ts';
import type { RangeStatus, StoredRange, StoredResult } from '../../../consensus/index.ts';
import { atMicroseconds } from '../../../status-ranges/index.ts';

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
};

/** What `createMonitorFold` needs of the database, for one monitor. */
export type StoredWindow = {
  readonly before: StoredResult[];
  readonly results: StoredResult[];
  readonly votesAtHorizon: Map<number, 'DOWN' | 'TIMEOUT'>;
  readonly storedRanges: StoredRange[];
  readonly storedProbeRanges: StoredRange[];
};

/** Reads the windows of many monitors in four queries, whatever their number. */
export async function readWindows(reader: Reader, wanted: readonly WindowWanted[]): Promise<Map<number, StoredWindow>> {
  const windows = new Map<number, StoredWindow>();
  for (const { monitorId } of wanted) {
    windows.set(monitorId, {
      before: [],
      results: [],
      votesAtHorizon: new Map(),
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

  const results = await reader.query<ResultTuple>({ text: resultsText, values: monitors, rowMode: 'array' });
  for (const row of results.rows) windows.get(row[0])?.results.push(storedResult(row));

  const before = await reader.query<ResultTuple>({
    text: beforeText,
    values: [...monitors, wanted.map((item) => item.backUs)],
    rowMode: 'array',
  });
  for (const row of before.rows) windows.get(row[0])?.before.push(storedResult(row));

  const ranges = await reader.query<RangeTuple>({ text: rangesText, values: monitors, rowMode: 'array' });
  for (const row of ranges.rows) if (!row[5]) windows.get(row[0])?.storedRanges.push(storedRange(row));

  const probeRanges = await reader.query<RangeTuple>({ text: probeRangesText, values: voters, rowMode: 'array' });
  for (const row of probeRanges.rows) {
    const [monitorId, voter, , , status, isOver, isBefore] = row;
    const window = windows.get(monitorId);
    if (!isOver) window?.storedProbeRanges.push(storedRange(row));
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

const resultsText = `
  select ${resultColumns} from unnest($1::integer[], $2::bigint[]) as w (monitor_id, horizon_us)
  cross join lateral (
    select * from check_results r where r.monitor_id = w.monitor_id and r.e >= ${atMicroseconds('w.horizon_us')} and ${isVoting}
  ) r`;

// `verdicts` counts a voter's rows with a verdict from the horizon back to this one. One scan for each monitor: voters lie mixed in the
// index, so one for each of them would read the same pages again.
const beforeText = `
  select ${resultColumns} from unnest($1::integer[], $2::bigint[], $3::bigint[]) as w (monitor_id, horizon_us, back_us)
  cross join lateral (
    select r.*, count(*) filter (where not (${isNoVerdict})) over (partition by r.probe_id order by r.e desc) as verdicts
    from check_results r
    where r.monitor_id = w.monitor_id and ${isVoting}
      and r.e < ${atMicroseconds('w.horizon_us')} and r.e >= ${atMicroseconds('(w.horizon_us - w.back_us)')}
  ) r
  where r.verdicts < ${rowsBeforeHorizon} or (r.verdicts = ${rowsBeforeHorizon} and not (${isNoVerdict}))`;

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

function storedResult([, e, voter, flags, error, freshS, probeRevision, received]: ResultTuple): StoredResult {
  const unpacked = unpackFlags(flags & 255);
  return {
    eUs: Number(e),
    voter,
    kind: unpacked?.kind ?? 'scheduled',
    outcome: unpacked?.outcome ?? 'probe_error',
    error,
    freshS,
    probeRevision,
    receivedUs: Number(received),
  };
}

function storedRange([, voter, started, ended, status]: RangeTuple): StoredRange {
  return { voter, startedUs: Number(started), endedUs: ended === null ? null : Number(ended), status };
}
