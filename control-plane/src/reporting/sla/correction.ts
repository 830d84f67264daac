import type { Counting, Span } from '../statistics/index.ts';

/** What a corrected time counts as: up, neither way, or as measured, which reverts an earlier correction. */
export type CorrectedAs = 'UP' | 'EXCLUDED' | 'MEASURED';

/** A correction as far as it changes figures; half-open, milliseconds since the epoch. */
export type CorrectedTime = {
  /** Grows with the time at which it was made. */
  readonly id: number;
  readonly startedMs: number;
  readonly endedMs: number;
  readonly countedAs: CorrectedAs;
};

type Stretch = { readonly fromMs: number; readonly toMs: number; readonly as: CorrectedAs };

/**
 * Applies corrections to spans. Where corrections overlap the latest holds. UP makes uptime of downtime and leaves the rest; EXCLUDED takes out what
 * was measured, good or bad; what is unknown, paused or in maintenance stays as it is.
 */
export function createCorrector(corrections: readonly CorrectedTime[]): (spans: readonly Span[]) => Span[] {
  const stretches = effectiveStretches(corrections);
  return (spans) => spans.flatMap((span) => corrected(span, stretches));
}

/** The corrections as they hold: disjoint and in order, without those that say MEASURED. */
function effectiveStretches(corrections: readonly CorrectedTime[]): Stretch[] {
  const edges = [...new Set(corrections.flatMap(({ startedMs, endedMs }) => [startedMs, endedMs]))].sort(
    (a, b) => a - b,
  );
  const latestFirst = corrections.toSorted((one, other) => other.id - one.id);
  const stretches: Stretch[] = [];
  for (const [index, fromMs] of edges.entries()) {
    const toMs = edges[index + 1];
    if (toMs === undefined) break;
    const holds = latestFirst.find(({ startedMs, endedMs }) => startedMs <= fromMs && endedMs >= toMs);
    if (holds === undefined || holds.countedAs === 'MEASURED') continue;
    stretches.push({ fromMs, toMs, as: holds.countedAs });
  }
  return stretches;
}

function corrected(span: Span, stretches: readonly Stretch[]): Span[] {
  const parts: Span[] = [];
  let { fromMs } = span;
  for (let index = firstEndingAfter(stretches, fromMs); fromMs < span.toMs; index += 1) {
    const stretch = stretches[index];
    if (stretch === undefined || stretch.fromMs >= span.toMs) break;
    if (stretch.fromMs > fromMs) parts.push({ ...span, fromMs, toMs: stretch.fromMs });
    const toMs = Math.min(stretch.toMs, span.toMs);
    parts.push({ ...span, fromMs: Math.max(fromMs, stretch.fromMs), toMs, countsAs: countingAs(span, stretch.as) });
    fromMs = toMs;
  }
  if (parts.length === 0) return [span];
  if (fromMs < span.toMs) parts.push({ ...span, fromMs });
  return parts;
}

function countingAs({ measuredAs }: Span, as: CorrectedAs): Counting {
  const isDowntime = measuredAs === 'DOWN' || measuredAs === 'TIMEOUT';
  if (as === 'UP') return isDowntime ? 'UP' : measuredAs;
  const isMeasured = isDowntime || measuredAs === 'UP' || measuredAs === 'DEGRADED';
  return as === 'EXCLUDED' && isMeasured ? 'EXCLUDED' : measuredAs;
}

/** Index of the first stretch that ends after a time; they are in order. */
function firstEndingAfter(stretches: readonly Stretch[], ms: number): number {
  let low = 0;
  let high = stretches.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((stretches[middle]?.toMs ?? Number.POSITIVE_INFINITY) <= ms) low = middle + 1;
    else high = middle;
  }
  return low;
}
