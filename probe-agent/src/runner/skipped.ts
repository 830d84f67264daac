/** Why a slot was not run: the one before was still under way, or there was no place for it. */
export type SkipReason = 'overrun' | 'overload';

/** However short the interval is, skipped slots of a monitor are recorded no closer together than this. */
const leastGapMs = 10_000;
const tellEveryMs = 60_000;

/**
 * Which skipped slots are worth a result of their own. A probe that is offered more than it can do must not spend its time on writing down
 * what it did not do: of each monitor the first is recorded, then one in ten seconds or in an interval, whichever is longer. The rest is
 * counted.
 */
export class SkippedSlots {
  /** When the last one that was recorded was due, by monitor. */
  readonly #recordedMs = new Map<number, number>();
  #untold: Record<SkipReason, number> = { overrun: 0, overload: 0 };
  #toldMs = -Infinity;

  /** Counts a slot that was due at `dueMs` (server time) and says whether it is to be recorded. */
  add(monitor: { readonly id: number; readonly intervalMs: number }, dueMs: number, why: SkipReason): boolean {
    this.#untold[why] += 1;
    const lastMs = this.#recordedMs.get(monitor.id);
    // Time may have jumped back.
    const isTooSoon = lastMs !== undefined && Math.abs(dueMs - lastMs) < Math.max(leastGapMs, monitor.intervalMs);
    if (isTooSoon) return false;
    this.#recordedMs.set(monitor.id, dueMs);
    return true;
  }

  /** The monitor is gone, or is another one now. */
  forget(monitorId: number): void {
    this.#recordedMs.delete(monitorId);
  }

  /**
   * How many were skipped since this was last told; once a minute at most, and only when a place was missing: a slow target is no fault of
   * the probe. @param nowMs on a clock that only goes forward
   */
  toTell(nowMs: number): Readonly<Record<SkipReason, number>> | undefined {
    if (this.#untold.overload === 0 || nowMs - this.#toldMs < tellEveryMs) return undefined;
    const counts = this.#untold;
    this.#untold = { overrun: 0, overload: 0 };
    this.#toldMs = nowMs;
    return counts;
  }
}
