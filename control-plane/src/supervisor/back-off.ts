export type BackOff = {
  /** Restarts in a row that followed a short life. */
  readonly failures: number;
  /** How long to wait before the next start. */
  readonly delayMs: number;
};

export const noFailures: BackOff = { failures: 0, delayMs: 0 };

const firstDelayMs = 250;
const longestDelayMs = 15_000;
/** A child that lived this long was well, so its end does not count as one of a row. */
const wellAfterMs = 30_000;

/** What follows the end of a child that ran for `livedMs`: 250 ms, 500 ms, 1 s … 15 s. */
export function afterEnd(before: BackOff, livedMs: number): BackOff {
  const failures = livedMs >= wellAfterMs ? 1 : before.failures + 1;
  return { failures, delayMs: Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(failures - 1, 10)) };
}
