import { percentOf } from '../../../platform/figures.ts';
import { countedMs } from '../../intake-watch/index.ts';
import type { Uncounted } from '../../intake-watch/index.ts';

/** A range of the timeline, or a time in which nothing was known. Milliseconds; no end: it lasts. */
export type Span = { readonly startedMs: number; readonly endedMs: number | null; readonly status: 'up' | 'down' };

export type Uptime = {
  /** Percent of the known time; null when none is known. */
  readonly uptime: number | null;
  readonly upMs: number;
  readonly downMs: number;
  readonly unknownMs: number;
  readonly outages: number;
};

/**
 * Sums ranges over a window. What lies in an outage of the product itself is unknown, since nobody could have told, and so is what lies in a
 * maintenance; an outage that does wholly is none.
 * @param uncounted without overlaps, oldest first
 */
export function uptimeOf(
  ranges: readonly Span[],
  uncounted: readonly Uncounted[],
  fromMs: number,
  toMs: number,
): Uptime {
  const sum = { up: 0, down: 0 };
  let outages = 0;
  for (const { startedMs, endedMs, status } of ranges) {
    const [start, end] = [Math.max(startedMs, fromMs), Math.min(endedMs ?? toMs, toMs)];
    if (end <= start) continue;
    const counted = countedMs(start, end, uncounted);
    sum[status] += counted;
    if (status === 'down' && counted > 0) outages += 1;
  }
  const known = sum.up + sum.down;
  return {
    uptime: percentOf(known === 0 ? null : sum.up / known),
    upMs: sum.up,
    downMs: sum.down,
    unknownMs: toMs - fromMs - known,
    outages,
  };
}
