import { countedTime } from '../../monitoring/consensus/index.ts';
import type { CountedAs, RangeStatus } from '../../monitoring/consensus/index.ts';
import type { Counting } from './availability.ts';

/** A stored run of one status as reports need it. Whole milliseconds since the epoch. */
export type ReportRange = {
  readonly startedMs: number;
  /** Null while it lasts. */
  readonly endedMs: number | null;
  readonly status: RangeStatus;
  readonly isRevised: boolean;
  /** What voters said at its beginning, as it is stored; read of failures only. */
  readonly votes: unknown;
};

/** A half-open time; null has no end yet. */
export type TimeInterval = { readonly fromMs: number; readonly toMs: number | null };

/** A stretch of time that counts as one thing. */
export type Span = {
  readonly fromMs: number;
  readonly toMs: number;
  readonly measuredAs: CountedAs;
  /** The same unless somebody corrected it. */
  readonly countsAs: Counting;
  /** The range that covers it, whatever it counts as. */
  readonly range: ReportRange | null;
};

/** What the time of a monitor is divided by. */
export type TimelineInputs = {
  /** In order and disjoint; they need only overlap the window. */
  readonly ranges: readonly ReportRange[];
  readonly pauses: readonly TimeInterval[];
  readonly maintenance: readonly TimeInterval[];
  readonly fromMs: number;
  readonly toMs: number;
  /** How far an open range is known to last. */
  readonly openUntilMs: number;
};

/** Divides a window into spans that fill it, in order, before corrections. */
export function measuredSpans(inputs: TimelineInputs): Span[] {
  const intervals = (list: readonly TimeInterval[]) =>
    list.map(({ fromMs, toMs }) => ({ fromUs: fromMs * 1_000, toUs: toMs === null ? null : toMs * 1_000 }));
  const spans = countedTime({
    ranges: inputs.ranges.map((range) => ({
      startedUs: range.startedMs * 1_000,
      endedUs: range.endedMs === null ? null : range.endedMs * 1_000,
      status: range.status,
    })),
    pauses: intervals(inputs.pauses),
    maintenance: intervals(inputs.maintenance),
    windowFromUs: inputs.fromMs * 1_000,
    windowToUs: inputs.toMs * 1_000,
    openUntilUs: inputs.openUntilMs * 1_000,
  });
  return spans.map((span) => ({
    fromMs: span.fromUs / 1_000,
    toMs: span.toUs / 1_000,
    measuredAs: span.counts,
    countsAs: span.counts,
    range: span.range === null ? null : (inputs.ranges[span.range] ?? null),
  }));
}
