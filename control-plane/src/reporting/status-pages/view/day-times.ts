import { createCorrector } from '../../sla/index.ts';
import type { CorrectedTime } from '../../sla/index.ts';
import { addTime, addTimes, noTime, normalLagMs } from '../../statistics/index.ts';
import type { TimeByStatus } from '../../statistics/index.ts';
import type { StoredSpan } from '../../day-sums/index.ts';
import { letterOf, measuredOf, uptimeOf, worstLetter } from './day-letters.ts';
import type { DayLetter } from './page-view.ts';

/** The time of a subject in the days of a page. */
export type SubjectDays = {
  readonly days: readonly {
    readonly time: TimeByStatus;
    /** Null: the subject was not there. */
    readonly letter: DayLetter | null;
  }[];
};

/**
 * Divides the time of a subject among days, as the service level has it.
 * @param edgesMs bounds of the days in order, one more than there are days; the last day is the present one
 */
export function daysOfSubject(
  spans: readonly StoredSpan[],
  corrections: readonly CorrectedTime[],
  edgesMs: readonly number[],
): SubjectDays {
  const measured = spans.map((span) => ({ ...span, countsAs: span.measuredAs, range: null }));
  const counted = corrections.length === 0 ? measured : createCorrector(corrections)(measured);
  const sums = edgesMs.slice(1).map(() => ({ time: noTime(), isThere: false }));
  let day = 0;
  for (const span of counted) {
    for (let atMs = Math.max(span.fromMs, edgesMs[0] ?? 0); atMs < span.toMs; ) {
      while (day < sums.length && (edgesMs[day + 1] ?? 0) <= atMs) day += 1;
      const sum = sums[day];
      if (sum === undefined) break;
      const untilMs = Math.min(span.toMs, edgesMs[day + 1] ?? 0);
      addTime(sum.time, span.countsAs, untilMs - atMs);
      sum.isThere = true;
      atMs = untilMs;
    }
  }
  const knownMs = spans.at(-1)?.toMs ?? 0;
  return {
    days: sums.map(({ time, isThere }, index) => {
      const startMs = edgesMs[index] ?? 0;
      const endMs = edgesMs[index + 1] ?? 0;
      const isPresent = index === sums.length - 1;
      // The present day begins before anything is known of it.
      if (!isThere && !(isPresent && knownMs + normalLagMs >= startMs)) return { time, letter: null };
      const lengthMs = isPresent ? Math.max(0, Math.min(endMs, knownMs) - startMs) : endMs - startMs;
      return { time, letter: letterOf(time, lengthMs) };
    }),
  };
}

/** The time of a day of a component in whole seconds; of a group that of the member which had the most. */
export type DaySeconds = { readonly down: number; readonly degraded: number; readonly maintenance: number };

/** What a component's bars say. */
export type ComponentDays = {
  readonly letters: readonly DayLetter[];
  readonly uptimePercent: number | null;
  readonly measuredPercent: number | null;
  readonly seconds: readonly DaySeconds[];
};

/** The days of a component by those of its members; a component that is no group is its own member. */
export function daysOfComponent(members: readonly SubjectDays[], dayCount: number): ComponentDays {
  const total = noTime();
  const letters: DayLetter[] = [];
  const seconds: DaySeconds[] = [];
  for (let day = 0; day < dayCount; day += 1) {
    const present: DayLetter[] = [];
    let [downMs, degradedMs, maintenanceMs] = [0, 0, 0];
    for (const { days } of members) {
      const one = days[day];
      if (one === undefined) continue;
      const { time, letter } = one;
      addTimes(total, time);
      downMs = Math.max(downMs, time.downMs + time.timeoutMs);
      degradedMs = Math.max(degradedMs, time.degradedMs);
      maintenanceMs = Math.max(maintenanceMs, time.maintenanceMs);
      if (letter !== null) present.push(letter);
    }
    letters.push(worstLetter(present));
    const isCalm = downMs === 0 && degradedMs === 0 && maintenanceMs === 0;
    seconds.push(
      isCalm
        ? noSeconds
        : { down: wholeSeconds(downMs), degraded: wholeSeconds(degradedMs), maintenance: wholeSeconds(maintenanceMs) },
    );
  }
  return { letters, uptimePercent: uptimeOf(total), measuredPercent: measuredOf(total), seconds };
}

const noSeconds: DaySeconds = { down: 0, degraded: 0, maintenance: 0 };

/** What was there is a second at least. */
const wholeSeconds = (ms: number): number => (ms <= 0 ? 0 : Math.max(1, Math.round(ms / 1_000)));
