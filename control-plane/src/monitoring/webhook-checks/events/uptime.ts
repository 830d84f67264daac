import type { PayloadStatus } from '@parallax/api-contract';

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

/** What ranges sum up to between two instants. They do not overlap. */
export function uptimeOf(ranges: readonly Range[], fromMs: number, toMs: number): Uptime {
  const sums: Record<PayloadStatus, number> = { up: 0, degraded: 0, down: 0 };
  let missed = 0;
  for (const { startedMs, endedMs, status, isMissed } of ranges) {
    sums[status] += Math.max(0, Math.min(endedMs ?? toMs, toMs) - Math.max(startedMs, fromMs));
    if (isMissed && startedMs >= fromMs && startedMs <= toMs) missed += 1;
  }
  const allMs = sums.up + sums.degraded + sums.down;
  return {
    seconds: {
      up: Math.round(sums.up / 1_000),
      degraded: Math.round(sums.degraded / 1_000),
      down: Math.round(sums.down / 1_000),
    },
    uptime_percent: allMs === 0 ? null : Math.min(100, (100 * (sums.up + sums.degraded)) / allMs),
    missed,
  };
}
