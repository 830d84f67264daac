import { dayMs, dayOf } from './day-row.ts';

/** The part of a UTC day that lies in one bucket; milliseconds of the day, half-open. */
export type DayPart = {
  readonly day: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly bucket: number;
};

/**
 * Divides days among buckets: a whole day is one part, and a bound inside a day cuts it in two.
 * @param edgesMs bounds of the buckets in order, one more than there are buckets
 */
export function partsOf(edgesMs: readonly number[]): { readonly whole: DayPart[]; readonly cut: DayPart[] } {
  const parts: { readonly whole: DayPart[]; readonly cut: DayPart[] } = { whole: [], cut: [] };
  for (const [bucket, startMs] of edgesMs.slice(0, -1).entries()) {
    const endMs = edgesMs[bucket + 1] ?? startMs;
    for (let atMs = startMs; atMs < endMs; ) {
      const day = dayOf(atMs);
      const untilMs = Math.min(endMs, (day + 1) * dayMs);
      const part = { day, fromMs: atMs - day * dayMs, toMs: untilMs - day * dayMs, bucket };
      (untilMs - atMs === dayMs ? parts.whole : parts.cut).push(part);
      atMs = untilMs;
    }
  }
  return parts;
}
