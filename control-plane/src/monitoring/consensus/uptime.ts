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

/** What counts where several cover one instant. Ranges of one subject never do. */
const precedence = ['PAUSED', 'MAINTENANCE', 'DOWN', 'TIMEOUT', 'DEGRADED', 'UP'] as const;

/**
 * Uptime from durations of ranges, never from counts of checks. A pause covers a maintenance, a maintenance covers the status below it;
 * unknown, paused and maintenance stand outside the quotient.
 */
export function uptime(inputs: UptimeInputs): Uptime {
  const { windowFromUs, windowToUs, openUntilUs } = inputs;
  const clip = (interval: Interval, openEndUs: number) => ({
    fromUs: Math.max(interval.fromUs, windowFromUs),
    toUs: Math.min(interval.toUs ?? openEndUs, windowToUs),
  });
  const ranges = inputs.ranges.map((range) => ({
    ...clip({ fromUs: range.startedUs, toUs: range.endedUs }, openUntilUs),
    status: range.status,
  }));
  const pauses = inputs.pauses.map((pause) => clip(pause, windowToUs));
  const maintenance = inputs.maintenance.map((interval) => clip(interval, windowToUs));

  const spent = { UP: 0, DEGRADED: 0, DOWN: 0, TIMEOUT: 0, UNKNOWN: 0, PAUSED: 0, MAINTENANCE: 0 };
  const covers = [
    ...ranges.map(({ fromUs, toUs, status }) => ({ fromUs, toUs, as: status })),
    ...pauses.map((pause) => ({ ...pause, as: 'PAUSED' as const })),
    ...maintenance.map((interval) => ({ ...interval, as: 'MAINTENANCE' as const })),
  ].filter((cover) => cover.fromUs < cover.toUs);
  const edges = covers
    .flatMap(({ fromUs, toUs, as }) => [
      { t: fromUs, as, step: 1 },
      { t: toUs, as, step: -1 },
    ])
    .sort((a, b) => a.t - b.t);
  const open = { UP: 0, DEGRADED: 0, DOWN: 0, TIMEOUT: 0, PAUSED: 0, MAINTENANCE: 0 };
  let sinceUs = windowFromUs;
  const spendUntil = (t: number) => {
    const now = precedence.find((kind) => open[kind] > 0) ?? 'UNKNOWN';
    spent[now] += Math.max(0, t - sinceUs);
    sinceUs = Math.max(sinceUs, t);
  };
  for (const edge of edges) {
    spendUntil(edge.t);
    open[edge.as] += edge.step;
  }
  spendUntil(windowToUs);

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
