import type { Interval, RangeStatus } from './types.ts';

/** What uptime of a window is computed from. All times in whole microseconds since the epoch. */
export type UptimeInputs = {
  /** Ranges of one subject that overlap the window, disjoint; an open one (`endedUs` null) lasts until `openUntilUs`. */
  readonly ranges: readonly {
    readonly startedUs: number;
    readonly endedUs: number | null;
    readonly status: RangeStatus;
  }[];
  readonly pauses: readonly Interval[];
  readonly maintenance: readonly Interval[];
  readonly windowFromUs: number;
  readonly windowToUs: number;
  /** `min(now, folded_until)`: a stopped control plane earns no uptime (rule 9). */
  readonly openUntilUs: number;
};

/** Microseconds by what they count as; they sum to the window. `uptime` is null when nothing was measured. */
export type Uptime = {
  readonly upUs: number;
  readonly degradedUs: number;
  readonly downUs: number;
  readonly timeoutUs: number;
  readonly unknownUs: number;
  readonly pausedUs: number;
  readonly maintenanceUs: number;
  /** `(UP + DEGRADED) / (UP + DEGRADED + DOWN + TIMEOUT)`, 0 to 1. */
  readonly uptime: number | null;
};

/** What an instant counts as. */
export type CountedAs = RangeStatus | 'UNKNOWN' | 'PAUSED' | 'MAINTENANCE';

/** A stretch of a window that counts as one thing; half-open. */
export type CountedSpan = {
  readonly fromUs: number;
  readonly toUs: number;
  readonly counts: CountedAs;
  /** Index of the range that covers it, whatever it counts as; null in a gap. */
  readonly range: number | null;
};

/**
 * Divides a window into what counts: a pause covers a maintenance, a maintenance covers the status below it, and what nothing covers is
 * unknown. The spans are in order, none is empty, and they fill the window.
 */
export function countedTime(inputs: UptimeInputs): CountedSpan[] {
  const { windowFromUs, windowToUs } = inputs;
  const covers = coversOf(inputs);
  const edges = covers
    .flatMap((cover) => [
      { t: cover.fromUs, cover, step: 1 },
      { t: cover.toUs, cover, step: -1 },
    ])
    .sort((a, b) => a.t - b.t);
  const spans: CountedSpan[] = [];
  let pauses = 0;
  let maintenance = 0;
  let range: number | null = null;
  let fromUs = windowFromUs;
  const spanUntil = (toUs: number): void => {
    if (toUs <= fromUs) return;
    const status = range === null ? undefined : inputs.ranges[range]?.status;
    const counts = pauses > 0 ? 'PAUSED' : maintenance > 0 ? 'MAINTENANCE' : (status ?? 'UNKNOWN');
    const last = spans.at(-1);
    if (last !== undefined && last.counts === counts && last.range === range)
      spans[spans.length - 1] = { ...last, toUs };
    else spans.push({ fromUs, toUs, counts, range });
    fromUs = toUs;
  };
  for (const { t, cover, step } of edges) {
    spanUntil(t);
    if (cover.as === 'PAUSED') pauses += step;
    else if (cover.as === 'MAINTENANCE') maintenance += step;
    else if (step === 1) range = cover.as;
    else if (range === cover.as) range = null;
  }
  spanUntil(windowToUs);
  return spans;
}

/** A range by its index, or an interval by its kind, clipped to the window. */
type Cover = { readonly fromUs: number; readonly toUs: number; readonly as: number | 'PAUSED' | 'MAINTENANCE' };

function coversOf({ ranges, pauses, maintenance, ...window }: UptimeInputs): Cover[] {
  const { windowFromUs, windowToUs, openUntilUs } = window;
  const cover = (interval: Interval, openEndUs: number, as: Cover['as']): Cover => ({
    fromUs: Math.max(interval.fromUs, windowFromUs),
    toUs: Math.min(interval.toUs ?? openEndUs, windowToUs),
    as,
  });
  return [
    ...ranges.map((range, index) => cover({ fromUs: range.startedUs, toUs: range.endedUs }, openUntilUs, index)),
    ...pauses.map((pause) => cover(pause, windowToUs, 'PAUSED')),
    ...maintenance.map((interval) => cover(interval, windowToUs, 'MAINTENANCE')),
  ].filter(({ fromUs, toUs }) => fromUs < toUs);
}

/**
 * Uptime from durations of ranges, never from counts of checks. Unknown, paused and maintenance stand outside the quotient.
 */
export function uptime(inputs: UptimeInputs): Uptime {
  const spent = { UP: 0, DEGRADED: 0, DOWN: 0, TIMEOUT: 0, UNKNOWN: 0, PAUSED: 0, MAINTENANCE: 0 };
  for (const span of countedTime(inputs)) spent[span.counts] += span.toUs - span.fromUs;
  const good = spent.UP + spent.DEGRADED;
  const measured = good + spent.DOWN + spent.TIMEOUT;
  return {
    upUs: spent.UP,
    degradedUs: spent.DEGRADED,
    downUs: spent.DOWN,
    timeoutUs: spent.TIMEOUT,
    unknownUs: spent.UNKNOWN,
    pausedUs: spent.PAUSED,
    maintenanceUs: spent.MAINTENANCE,
    uptime: measured === 0 ? null : good / measured,
  };
}
