import type { Sketch, SketchBucket } from '../../monitoring/check-results/index.ts';

/** Response times of scheduled checks that got an answer, in milliseconds; all null when there was none. */
export type LatencyFigures = {
  readonly count: number;
  readonly meanMs: number | null;
  readonly minMs: number | null;
  readonly maxMs: number | null;
  readonly p50Ms: number | null;
  readonly p90Ms: number | null;
  readonly p95Ms: number | null;
  readonly p99Ms: number | null;
};

/** Milliseconds to a microsecond. */
export function milliseconds(us: number | null): number | null {
  return us === null ? null : Math.round(us) / 1_000;
}

/** The figures of a sketch, of what took time. */
export function latencyFigures(all: Sketch): LatencyFigures {
  const sketch = all.timed();
  return {
    count: sketch.count,
    meanMs: milliseconds(sketch.meanUs),
    minMs: milliseconds(sketch.minUs),
    maxMs: milliseconds(sketch.maxUs),
    p50Ms: milliseconds(sketch.quantile(0.5)),
    p90Ms: milliseconds(sketch.quantile(0.9)),
    p95Ms: milliseconds(sketch.quantile(0.95)),
    p99Ms: milliseconds(sketch.quantile(0.99)),
  };
}

/** A bar of a histogram; half-open, milliseconds. */
export type HistogramBar = { readonly fromMs: number; readonly toMs: number; readonly count: number };

/**
 * The buckets of a sketch taken together into at most `most` bars: neighbours in equal numbers, so that each bar is wider than the one
 * before by the same factor. Bars that would be empty are left out.
 */
export function histogram(buckets: readonly SketchBucket[], most: number): HistogramBar[] {
  const first = buckets[0];
  const last = buckets.at(-1);
  if (first === undefined || last === undefined) return [];
  const low = Math.log(Math.max(first.fromUs, 1));
  const step = (Math.log(Math.max(last.toUs, 2)) - low) / most;
  const bars: { fromMs: number; toMs: number; count: number; place: number }[] = [];
  for (const { fromUs, toUs, count } of buckets) {
    const place = step <= 0 ? 0 : Math.min(most - 1, Math.floor((Math.log(Math.max(fromUs, 1)) - low) / step + 1e-9));
    const bar = bars.at(-1);
    if (bar?.place === place) {
      bar.toMs = boundMs(toUs);
      bar.count += count;
    } else bars.push({ fromMs: boundMs(fromUs), toMs: boundMs(toUs), count, place });
  }
  return bars.map(({ fromMs, toMs, count }) => ({ fromMs, toMs, count }));
}

/** Results have whole microseconds, so that the next one bounds the same of them as a bound between two. */
const boundMs = (us: number): number => Math.ceil(us) / 1_000;
