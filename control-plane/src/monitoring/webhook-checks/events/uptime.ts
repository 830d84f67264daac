import type { PayloadStatus } from '@parallax/api-contract';
import { percentOf } from '../../../platform/figures.ts';
import { countedMs } from '../../intake-watch/index.ts';
import type { Uncounted } from '../../intake-watch/index.ts';

/** How a check was for some time, in milliseconds since the epoch. */
export type Range = {
  readonly startedMs: number;
  /** Null: it still is. */
  readonly endedMs: number | null;
  readonly status: PayloadStatus;
  /** It is down since nothing came. */
  readonly isMissed: boolean;
};

export type Uptime = {
  readonly seconds: Readonly<Record<PayloadStatus, number>>;
  /** Null: nothing is known. */
  readonly uptime_percent: number | null;
  /** Misses that began in the time. */
  readonly missed: number;
};

/**
 * What ranges sum up to between two instants. They do not overlap.
 * @param uncounted times that count neither way, without overlaps; a miss that lies in one is none
 */
export function uptimeOf(
  ranges: readonly Range[],
  uncounted: readonly Uncounted[],
  fromMs: number,
  toMs: number,
): Uptime {
  const sums: Record<PayloadStatus, number> = { up: 0, degraded: 0, down: 0 };
  let missed = 0;
  for (const { startedMs, endedMs, status, isMissed } of ranges) {
    const [start, end] = [Math.max(startedMs, fromMs), Math.min(endedMs ?? toMs, toMs)];
    const counted = end <= start ? 0 : countedMs(start, end, uncounted);
    sums[status] += counted;
    if (isMissed && startedMs >= fromMs && counted > 0) missed += 1;
  }
  const allMs = sums.up + sums.degraded + sums.down;
  return {
    seconds: {
      up: Math.round(sums.up / 1_000),
      degraded: Math.round(sums.degraded / 1_000),
      down: Math.round(sums.down / 1_000),
    },
    uptime_percent: percentOf(allMs === 0 ? null : (sums.up + sums.degraded) / allMs),
    missed,
  };
}
