import type { CountedAs } from '../../monitoring/consensus/index.ts';

/** What time counts as in a report: as it was measured, or taken out by a correction. */
export type Counting = CountedAs | 'EXCLUDED';

/** Milliseconds of a window by what they count as; they sum to the window exactly. */
export type TimeByStatus = {
  readonly upMs: number;
  readonly degradedMs: number;
  readonly downMs: number;
  readonly timeoutMs: number;
  /** Nobody could tell: no probe, no fresh vote, or a control plane that stood still. */
  readonly unknownMs: number;
  readonly maintenanceMs: number;
  readonly pausedMs: number;
  /** Taken out by a correction. */
  readonly excludedMs: number;
};

/** What follows from the times of a window. */
export type Availability = TimeByStatus & {
  /** UP and DEGRADED. */
  readonly uptimeMs: number;
  /** DOWN and TIMEOUT. */
  readonly downtimeMs: number;
  /** Uptime and downtime. */
  readonly measuredMs: number;
  /** Uptime over measured time, 0 to 1; null when nothing was measured. */
  readonly uptime: number | null;
};

/** Times that are added up. */
export type TimeSum = { -readonly [Field in keyof TimeByStatus]: number };

const fieldOf = {
  UP: 'upMs',
  DEGRADED: 'degradedMs',
  DOWN: 'downMs',
  TIMEOUT: 'timeoutMs',
  UNKNOWN: 'unknownMs',
  MAINTENANCE: 'maintenanceMs',
  PAUSED: 'pausedMs',
  EXCLUDED: 'excludedMs',
} as const satisfies Record<Counting, keyof TimeByStatus>;

/** No time at all. */
export function noTime(): TimeSum {
  return {
    upMs: 0,
    degradedMs: 0,
    downMs: 0,
    timeoutMs: 0,
    unknownMs: 0,
    maintenanceMs: 0,
    pausedMs: 0,
    excludedMs: 0,
  };
}

/** Adds milliseconds that count as something. */
export function addTime(sum: TimeSum, counts: Counting, ms: number): void {
  sum[fieldOf[counts]] += ms;
}

/** Adds one sum to another. */
export function addTimes(sum: TimeSum, time: TimeByStatus): void {
  // By name, since it is done for each day of each subject.
  sum.upMs += time.upMs;
  sum.degradedMs += time.degradedMs;
  sum.downMs += time.downMs;
  sum.timeoutMs += time.timeoutMs;
  sum.unknownMs += time.unknownMs;
  sum.maintenanceMs += time.maintenanceMs;
  sum.pausedMs += time.pausedMs;
  sum.excludedMs += time.excludedMs;
}

/** Uptime, downtime and their share, from times. */
export function availabilityOf(time: TimeByStatus): Availability {
  const uptimeMs = time.upMs + time.degradedMs;
  const downtimeMs = time.downMs + time.timeoutMs;
  const measuredMs = uptimeMs + downtimeMs;
  return { ...time, uptimeMs, downtimeMs, measuredMs, uptime: measuredMs === 0 ? null : uptimeMs / measuredMs };
}
