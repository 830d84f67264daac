import type { CommonQueryMethods } from 'slonik';
import type { Summary } from '../../packed/summary.ts';
import { bucketSummaries } from '../bucket-summaries/queries.ts';
import type { ResultsWindow } from '../window.ts';

/** One step of a chart. Null where no scheduled result got an answer. */
export type LatencyStep = {
  /** Start of the step: `fromMs` and a multiple of `stepMs`. */
  readonly atMs: number;
  readonly count: number;
  readonly meanUs: number | null;
  readonly p50Us: number | null;
  readonly p95Us: number | null;
  readonly p99Us: number | null;
};

/** More would take too much space, and no chart shows them. */
const mostSteps = 2_000;

/**
 * Latencies of a window in steps, for charts; the last step may be shorter. Steps that hold nothing are there too. Cheapest where steps are
 * whole hours and days of UTC; others are told by rows.
 * @throws RangeError for steps of no length and for more than 2,000 of them
 * @throws ChunkError when packed results are damaged
 */
export async function latencySeries(
  connection: CommonQueryMethods,
  monitorId: number,
  window: ResultsWindow & { readonly stepMs: number },
): Promise<LatencyStep[]> {
  const { fromMs, toMs, stepMs } = window;
  const count = toMs > fromMs ? Math.ceil((toMs - fromMs) / stepMs) : 0;
  if (!(stepMs > 0) || count > mostSteps) {
    throw new RangeError(`${count} steps of ${stepMs} ms; at most ${mostSteps} are possible`);
  }
  if (count === 0) return [];
  const { floorMs, probeId } = window;
  const edgesMs = [...Array.from({ length: count }, (_, index) => fromMs + index * stepMs), toMs];
  const buckets = await bucketSummaries(connection, monitorId, { edgesMs, floorMs, probeId });
  return buckets.map(({ all }, index) => stepOf(fromMs + index * stepMs, all));
}

function stepOf(atMs: number, { latency: all }: Summary): LatencyStep {
  const latency = all.timed();
  return {
    atMs,
    count: latency.count,
    meanUs: latency.meanUs,
    p50Us: latency.quantile(0.5),
    p95Us: latency.quantile(0.95),
    p99Us: latency.quantile(0.99),
  };
}
