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

/** Days of parts, as sums are read of them: what is whole is summed by bucket, a cut day by itself. */
export type DaySlots = {
  readonly firstDay: number;
  /** The slot of each day from the first on; 0 for a day that is in no part. */
  readonly slots: readonly number[];
  /** What the sum of a slot goes to: a bucket as it is, or several as much of a day as each has. */
  readonly parts: ReadonlyMap<number, readonly { readonly bucket: number; readonly lengthMs: number | null }[]>;
};

/** Divides the days of parts, of which there is one at least, into slots. */
export function slotsOf(whole: readonly DayPart[], cut: readonly DayPart[]): DaySlots {
  const days = [...whole, ...cut].map(({ day }) => day);
  const firstDay = Math.min(...days);
  const slots = Array.from({ length: Math.max(...days) - firstDay + 1 }, () => 0);
  const parts = new Map<number, { bucket: number; lengthMs: number | null }[]>();
  const add = (own: readonly DayPart[], goesTo: { bucket: number; lengthMs: number | null }[]) => {
    parts.set(parts.size + 1, goesTo);
    for (const { day } of own) slots[day - firstDay] = parts.size;
  };
  for (const [bucket, own] of Map.groupBy(whole, (part) => part.bucket)) add(own, [{ bucket, lengthMs: null }]);
  for (const own of Map.groupBy(cut, ({ day }) => day).values()) {
    add(
      own,
      own.map(({ bucket, fromMs, toMs }) => ({ bucket, lengthMs: toMs - fromMs })),
    );
  }
  return { firstDay, slots, parts };
}
