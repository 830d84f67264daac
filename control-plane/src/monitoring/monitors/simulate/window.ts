import { invalidInput } from '@parallax/api-contract';
import type { Simulate } from '@parallax/api-contract';
import { rowsBeforeHorizon } from '../../consensus/index.ts';

const dayMs = 86_400_000;
const defaultMs = 7 * dayMs;
const longestMs = 30 * dayMs;

/** A time in milliseconds; half-open. */
export type Window = { readonly fromMs: number; readonly toMs: number };

/**
 * The window that was asked for; it ends now at the latest.
 * @throws Problem `invalid_input` when it is empty, lies in the future or is too long
 */
export function windowWanted({ start_time: start, end_time: end }: Simulate, nowMs: number): Window {
  const toMs = Math.min(end === undefined ? nowMs : Date.parse(end), nowMs);
  const fromMs = start === undefined ? toMs - defaultMs : Date.parse(start);
  if (fromMs >= toMs)
    throw invalidInput('body', '/start_time', 'empty_window', 'must be before end_time and before now');
  if (toMs - fromMs > longestMs) {
    throw invalidInput('body', '/start_time', 'window_too_long', 'must be at most 30 days before end_time');
  }
  return { fromMs, toMs };
}

/** How far results are read for a window, microseconds. */
export type Reach = {
  /** From here on results are read: what the beginning of the playing rests on. */
  readonly readFromUs: number;
  /** From here on they are played, so that the window begins right. */
  readonly playFromUs: number;
  /** Until here they are read: what confirms a streak that began in the window. */
  readonly readToUs: number;
};

/**
 * @param floorUs before it there is nothing
 * @param longestFreshUs the longest that a measured result stays fresh
 * @param proposedFreshUs the same under the proposed settings
 */
export function reachOf(
  window: Window,
  limits: { readonly floorUs: number; readonly nowUs: number },
  longestFreshUs: number,
  proposedFreshUs: number,
): Reach {
  // One more than rows: a gap may be as long as a freshness.
  const rows = rowsBeforeHorizon + 1;
  const warmUs = rows * Math.max(longestFreshUs, proposedFreshUs);
  const playFromUs = Math.max(window.fromMs * 1_000 - warmUs, limits.floorUs);
  return {
    playFromUs,
    readFromUs: Math.max(playFromUs - rows * longestFreshUs, limits.floorUs),
    readToUs: Math.min(window.toMs * 1_000 + warmUs, limits.nowUs),
  };
}

const hourUs = 3_600_000_000;

/** Rows that are read at once, about: a slice is whole hours, since results are kept by the hour. */
const rowsAtOnce = 5_000;

/** A time cut into slices at whole hours, each of about so many results; in order. */
export function slicesOf(fromUs: number, toUs: number, resultsPerHour: number): { fromUs: number; toUs: number }[] {
  const lengthUs = hourUs * Math.max(1, Math.floor(rowsAtOnce / Math.max(1, resultsPerHour)));
  const slices: { fromUs: number; toUs: number }[] = [];
  for (let at = fromUs; at < toUs; ) {
    const next = Math.min(toUs, Math.floor(at / hourUs) * hourUs + lengthUs);
    slices.push({ fromUs: at, toUs: next });
    at = next;
  }
  return slices;
}
