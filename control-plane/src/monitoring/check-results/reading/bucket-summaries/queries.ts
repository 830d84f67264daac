import type { CommonQueryMethods } from 'slonik';
import { RunningSummary, SummaryError, mergeSummaries } from '../../packed/summary.ts';
import { sumUp } from '../sums/queries.ts';
import { hourUs, hoursPerDay } from '../time.ts';
import { isEmpty, spanOf } from '../window.ts';
import type { ResultsWindow } from '../window.ts';

/** Bounds of buckets that follow each other, in milliseconds and in order; those of the window are the first and the last. */
export type BucketWindow = Omit<ResultsWindow, 'fromMs' | 'toMs'> & { readonly edgesMs: readonly number[] };

/** The sums of one bucket. */
export type BucketSummary = {
  /** The sums of each probe that has results in it; 0 is the control plane itself. */
  readonly perProbe: ReadonlyMap<number, RunningSummary>;
  readonly all: RunningSummary;
};

/**
 * What results say in sum in each bucket of a window: exactly what `windowSummary` says of the time of the bucket. Hours and days of UTC that lie in
 * one bucket are told by their summaries, and others by their rows; so it is cheapest where buckets are made of them.
 * @throws ChunkError when packed results are damaged
 */
export async function bucketSummaries(
  connection: CommonQueryMethods,
  monitorId: number,
  window: BucketWindow,
): Promise<BucketSummary[]> {
  let buckets: Map<number, RunningSummary>[];
  try {
    buckets = await summaries(connection, monitorId, window, true);
  } catch (error) {
    // As in windowSummary.
    if (!(error instanceof SummaryError)) throw error;
    buckets = await summaries(connection, monitorId, window, false);
  }
  return buckets.map((perProbe) => ({ perProbe, all: mergeSummaries(perProbe.values()) }));
}

async function summaries(
  connection: CommonQueryMethods,
  monitorId: number,
  { edgesMs, ...more }: BucketWindow,
  withRollups: boolean,
): Promise<Map<number, RunningSummary>[]> {
  const edgesUs = edgesMs.map((ms) => Math.round(ms * 1_000));
  const buckets = edgesUs.slice(1).map(() => new Map<number, RunningSummary>());
  const span = spanOf({ ...more, fromMs: edgesMs[0] ?? 0, toMs: edgesMs.at(-1) ?? 0 });
  if (isEmpty(span)) return buckets;
  const ofProbe = (us: number, probeId: number): RunningSummary => {
    const bucket = buckets[bucketAt(edgesUs, us)];
    if (bucket === undefined) throw new RangeError(`a result at ${us} lies outside its window`);
    const known = bucket.get(probeId);
    if (known !== undefined) return known;
    const added = new RunningSummary();
    bucket.set(probeId, added);
    return added;
  };
  const dayUs = hourUs * hoursPerDay;
  await sumUp(
    connection,
    monitorId,
    { ...span, probeId: more.probeId },
    {
      takesHour: (hour) =>
        withRollups && bucketAt(edgesUs, hour * hourUs) === bucketAt(edgesUs, (hour + 1) * hourUs - 1),
      addRollup: ({ fromHour, probeId, summary }) => ofProbe(fromHour * hourUs, probeId).addEncoded(summary),
      addRows: (probeId, rows, from, to) => {
        for (let at = from; at < to; at += 1) {
          ofProbe(rows.eUs[at] ?? 0, probeId).addRow(rows.flags[at] ?? 0, rows.totalUs[at] ?? 0);
        }
      },
      addRow: ({ eUs, probeId, flags, totalUs }) => ofProbe(eUs, probeId).addRow(flags, totalUs),
    },
    withRollups && edgesUs.slice(1, -1).every((us) => us % dayUs === 0),
  );
  return buckets;
}

/** The number of the bucket in which an instant lies. */
function bucketAt(edgesUs: readonly number[], us: number): number {
  let [low, high] = [0, edgesUs.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((edgesUs[middle] ?? 0) <= us) low = middle;
    else high = middle;
  }
  return low;
}
