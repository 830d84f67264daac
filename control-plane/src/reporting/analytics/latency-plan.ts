import { hourMs } from './question.ts';

const dayMs = 24 * hourMs;

/** Which sums tell the response times of buckets. Days and hours are counted from the epoch. */
export type LatencyPlan = {
  /** Days that lie wholly in a bucket and are summed, with that bucket. */
  readonly days: ReadonlyMap<number, number>;
  /** Hours of days that a bound cuts. */
  readonly cutHours: ReadonlyMap<number, number>;
  /** Hours from `openFromMs` on: their day is not summed yet. */
  readonly openHours: ReadonlyMap<number, number>;
  /** From where on days are not summed; null when nothing is. */
  readonly openFromMs: number | null;
  /** Up to where hours are; null when none is. */
  readonly closedMs: number | null;
};

/** Days of monitors are merged some time after their last hour is closed. */
const mergedAfterMs = hourMs;

/**
 * Divides buckets among sums of days and of hours. An hour that a bound cuts belongs to the bucket in which it begins.
 * @param known.lastDay the last day that is summed for workspaces, null for none; undefined where days of monitors are asked for
 */
export function planLatency(
  edgesMs: readonly number[],
  known: { readonly closedMs: number | null; readonly lastDay: number | null | undefined },
): LatencyPlan {
  const { closedMs, lastDay } = known;
  const closedDay = closedMs === null ? null : Math.floor((closedMs - mergedAfterMs) / dayMs) - 1;
  const last = lastDay === undefined ? closedDay : lastDay;
  const openFromMs = last === null ? null : (last + 1) * dayMs;
  const plan = {
    days: new Map<number, number>(),
    cutHours: new Map<number, number>(),
    openHours: new Map<number, number>(),
  };
  for (const [bucket, startMs] of edgesMs.slice(0, -1).entries()) {
    const endMs = edgesMs[bucket + 1] ?? startMs;
    for (let atMs = startMs; atMs < endMs; ) {
      const day = Math.floor(atMs / dayMs);
      const isWhole = atMs === day * dayMs && endMs >= (day + 1) * dayMs;
      const untilMs = Math.min(endMs, (day + 1) * dayMs);
      if (isWhole && last !== null && day <= last) plan.days.set(day, bucket);
      else {
        const hours = openFromMs !== null && atMs < openFromMs ? plan.cutHours : plan.openHours;
        for (let hour = Math.ceil(atMs / hourMs); hour * hourMs < untilMs; hour += 1) hours.set(hour, bucket);
      }
      atMs = untilMs;
    }
  }
  return { ...plan, openFromMs, closedMs };
}

/** The hours of a plan, and those without its last days, for where the former are too many. */
export function hoursOf(
  plan: LatencyPlan,
): readonly { readonly at: ReadonlyMap<number, number>; readonly isWhole: boolean }[] {
  return [
    { at: new Map([...plan.cutHours, ...plan.openHours]), isWhole: true },
    { at: plan.cutHours, isWhole: false },
  ];
}
