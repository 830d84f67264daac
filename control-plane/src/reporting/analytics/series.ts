import { percentOf } from '../../platform/figures.ts';
import { availabilityOf, noTime, secondsAnswer } from '../statistics/index.ts';
import type { TimeByStatus } from '../statistics/index.ts';

/** Time of a key in one bucket. */
export type KeyedTime = { readonly key: string; readonly bucket: number; readonly time: TimeByStatus };

/** What a key comes to: each bucket, and all of them. */
export type TimeSeries = {
  readonly key: string;
  readonly buckets: readonly (TimeByStatus | undefined)[];
  readonly total: TimeByStatus;
};

/** Puts times together by key; a bucket without any is undefined. @param count buckets */
export function seriesOf(times: readonly KeyedTime[], count: number): TimeSeries[] {
  return [...Map.groupBy(times, ({ key }) => key)].map(([key, own]) => {
    const buckets: (TimeByStatus | undefined)[] = Array.from({ length: count }, () => undefined);
    for (const { bucket, time } of own) buckets[bucket] = time;
    return { key, buckets, total: totalOf(own.map(({ time }) => time)) };
  });
}

/** The sum of times. */
export function totalOf(times: readonly TimeByStatus[]): TimeByStatus {
  const total = noTime();
  for (const time of times) {
    total.upMs += time.upMs;
    total.degradedMs += time.degradedMs;
    total.downMs += time.downMs;
    total.timeoutMs += time.timeoutMs;
    total.unknownMs += time.unknownMs;
    total.maintenanceMs += time.maintenanceMs;
    total.pausedMs += time.pausedMs;
    total.excludedMs += time.excludedMs;
  }
  return total;
}

/** Share of uptime, 0 to 1; null when nothing was measured. */
export const uptimeOf = (time: TimeByStatus | undefined): number | null =>
  time === undefined ? null : availabilityOf(time).uptime;

/** Uptime in an answer. */
export const percent = (time: TimeByStatus | undefined): number | null => percentOf(uptimeOf(time));

/** Seconds in an answer. */
export function measuredSeconds(time: TimeByStatus) {
  return { ...secondsAnswer(time), excluded: time.excludedMs / 1_000 };
}

/** The lowest uptime first, those of which nothing is known last; then by key, numbers by their size. */
export function byUptime(
  one: { readonly key: string; readonly total: TimeByStatus },
  other: { readonly key: string; readonly total: TimeByStatus },
): number {
  const [first, second] = [uptimeOf(one.total) ?? 2, uptimeOf(other.total) ?? 2];
  return first - second || byKey(one.key, other.key);
}

/** Numbers by their size, names by their text. */
export function byKey(one: string, other: string): number {
  const difference = Number(one) - Number(other);
  if (!Number.isNaN(difference)) return difference;
  return one < other ? -1 : one > other ? 1 : 0;
}
