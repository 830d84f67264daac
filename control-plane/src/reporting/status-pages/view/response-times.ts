import type { RunningSummary } from '../../../monitoring/check-results/index.ts';
import { mergeSummaries } from '../../../monitoring/check-results/index.ts';
import { milliseconds } from '../../statistics/index.ts';

/** What is known of the response times of monitors, each by the UTC day since the epoch. */
export type ResponseTimes = {
  /** Of all probes together, in microseconds; null: nothing of the day took time. */
  readonly medians: ReadonlyMap<number, ReadonlyMap<number, number | null>>;
  readonly summaries: ReadonlyMap<number, ReadonlyMap<number, RunningSummary>>;
};

const dayMs = 86_400_000;

/** Medians in milliseconds; null: there is none. Days of UTC stand for those of the zone: their sums cannot be divided. */
export function medianTimes(
  monitorIds: readonly number[],
  { medians, summaries }: ResponseTimes,
  dates: readonly string[],
): (number | null)[] {
  const [first] = monitorIds;
  const stored = monitorIds.length === 1 && first !== undefined ? medians.get(first) : undefined;
  const sums = monitorIds.flatMap((id) => summaries.get(id) ?? []);
  return dates.map((date) => {
    const day = Date.parse(date) / dayMs;
    const medianUs = stored?.get(day);
    if (medianUs !== undefined) return milliseconds(medianUs);
    const parts = sums.flatMap((days) => days.get(day) ?? []);
    const [only] = parts;
    if (only === undefined) return null;
    const all = parts.length === 1 ? only : mergeSummaries(parts);
    return milliseconds(all.latency.timed().quantile(0.5));
  });
}
