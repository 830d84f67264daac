import type { Availability } from '../statistics/index.ts';

/** How much downtime an objective allows, and how much of it there was. Milliseconds. */
export type ErrorBudget = {
  /** Per cent, 90 to 100. */
  readonly targetPercent: number;
  /** False when missed; null when nothing was measured. */
  readonly isMet: boolean | null;
  /** `(1 - target) x measured time`, to a millisecond. */
  readonly budgetMs: number;
  /** The downtime. */
  readonly consumedMs: number;
  /** Negative when overspent. */
  readonly remainingMs: number;
  /** Consumed over budget; null when the budget is zero. */
  readonly consumedShare: number | null;
  /**
   * How many times as fast as allowed the budget was spent: the share of measured time that was downtime over the share that may be.
   * Null when nothing was measured or nothing may be spent.
   */
  readonly burnRate: number | null;
  /** The same over the window's last hour; null also when the window is shorter. */
  readonly burnRate1h: number | null;
  readonly burnRate6h: number | null;
};

/** The budget of a window. @param ends the window's last hour and last six hours, null for one that is longer than the window */
export function errorBudget(
  targetPercent: number,
  window: Availability,
  ends: { readonly hour: Availability | null; readonly sixHours: Availability | null },
): ErrorBudget {
  const allowed = allowedShare(targetPercent);
  const budgetMs = Math.round(allowed * window.measuredMs);
  const consumedMs = window.downtimeMs;
  return {
    targetPercent,
    isMet: window.measuredMs === 0 ? null : consumedMs <= budgetMs,
    budgetMs,
    consumedMs,
    remainingMs: budgetMs - consumedMs,
    consumedShare: budgetMs === 0 ? null : consumedMs / budgetMs,
    burnRate: burnRate(window, allowed),
    burnRate1h: ends.hour === null ? null : burnRate(ends.hour, allowed),
    burnRate6h: ends.sixHours === null ? null : burnRate(ends.sixHours, allowed),
  };
}

/** The share of time that may be downtime. Rounded to what the target says: 100 - 99.9 is not 0.1 in binary. */
function allowedShare(targetPercent: number): number {
  return Math.round((100 - targetPercent) * 1e10) / 1e12;
}

function burnRate({ downtimeMs, measuredMs }: Availability, allowed: number): number | null {
  return measuredMs === 0 || allowed === 0 ? null : downtimeMs / measuredMs / allowed;
}
