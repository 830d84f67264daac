import { invalidInput, mostPoints, usualPoints } from '@parallax/api-contract';
import type { bucketUnits } from '@parallax/api-contract';
import { unitStarts } from './calendar.ts';
import type { Calendar } from './calendar.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** The length of buckets. */
export type BucketLength = { readonly unit: 'minute' | (typeof bucketUnits)[number]; readonly size: number };

export type BucketRequest = {
  readonly bucket?: (typeof bucketUnits)[number] | undefined;
  readonly points?: number | undefined;
};

export type BucketedWindow = { readonly fromMs: number; readonly toMs: number };

/** Summaries are of whole hours, so that shorter buckets read the results themselves: only of windows that have few. */
const longestInMinutesMs = 6 * hourMs;
const minutes = [1, 2, 5, 10, 15, 30];
const hours = [1, 2, 3, 4, 6, 12];

/**
 * The length of buckets that was asked for, or the shortest of which a window has no more than was asked for.
 * @throws Problem `invalid_input` for a length beside a number
 */
export function bucketLength({ bucket, points }: BucketRequest, { fromMs, toMs }: BucketedWindow): BucketLength {
  if (bucket !== undefined) {
    if (points !== undefined) throw invalidInput('query', '/points', 'unexpected', 'is not taken beside bucket');
    return { unit: bucket, size: 1 };
  }
  const lengthMs = toMs - fromMs;
  // Both ends of the window may cut a bucket.
  const fits = (sizeMs: number): boolean => Math.floor(lengthMs / sizeMs) + 2 <= (points ?? usualPoints);
  const size = lengthMs > longestInMinutesMs ? undefined : minutes.find((each) => fits(each * minuteMs));
  if (size !== undefined) return { unit: 'minute', size };
  const ofHours = hours.find((each) => fits(each * hourMs));
  if (ofHours !== undefined) return { unit: 'hour', size: ofHours };
  let days = 1;
  // A day may have an hour less.
  while (!fits(days * (dayMs - hourMs))) days += 1;
  return { unit: 'day', size: days };
}

/**
 * Bounds of the buckets of a window: it begins and ends with its own, and what lies between is a multiple of the length.
 * @throws Problem `invalid_input` for more buckets than are answered
 */
export function bucketEdges({ unit, size }: BucketLength, window: BucketedWindow, calendar: Calendar): number[] {
  const { fromMs, toMs } = window;
  if (fromMs >= toMs) return [];
  const inner =
    unit === 'minute' || unit === 'hour'
      ? multiples(size * (unit === 'hour' ? hourMs : minuteMs), window)
      : unitStarts({ unit, size }, window, calendar, mostPoints);
  if (inner.length + 1 > mostPoints) {
    throw invalidInput('query', '/bucket', 'window_too_long', `the window has more than ${mostPoints} of them`);
  }
  return [fromMs, ...inner, toMs];
}

/** Whole multiples of a length inside a window, no more than one too many. */
function multiples(lengthMs: number, { fromMs, toMs }: BucketedWindow): number[] {
  const first = Math.floor(fromMs / lengthMs) + 1;
  const count = Math.min(mostPoints, Math.ceil(toMs / lengthMs) - first);
  return Array.from({ length: Math.max(0, count) }, (_, index) => (first + index) * lengthMs);
}
