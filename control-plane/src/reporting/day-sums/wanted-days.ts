import { dayOf } from './day-row.ts';

/** Days of a subject that are summed at once. */
export type WantedDays = {
  readonly fromDay: number;
  readonly toDay: number;
  /** What is left for later; an end of null is the present day. */
  readonly rest: { readonly fromDay: number; readonly toDay: number | null } | null;
};

export type DayFacts = {
  /** The marked days; null: from the first on, up to the present one. */
  readonly marked: { readonly fromDay: number | null; readonly toDay: number | null };
  readonly sinceMs: number;
  readonly knownMs: number;
  readonly liveDay: number | null;
  /** Days before this one are not kept. */
  readonly oldestDay: number;
  /** Days that are summed at once. */
  readonly most: number;
};

/**
 * Which days a mark asks for. A subject has one live row, the one of its present day: whoever sums that day, or finds none, goes on to the
 * present one.
 */
export function wantedDays({ marked, sinceMs, knownMs, liveDay, oldestDay, most }: DayFacts): WantedDays {
  const firstDay = Math.max(dayOf(sinceMs), oldestDay);
  // A live row ahead of what is known is one of a clock that was set back: it stays the present one.
  const presentDay = Math.max(dayOf(knownMs), firstDay, liveDay ?? firstDay);
  const isToPresent = liveDay === null || marked.toDay === null || marked.toDay >= liveDay;
  const toDay = isToPresent ? presentDay : Math.max(firstDay, marked.toDay);
  const wantedFrom = Math.max(firstDay, marked.fromDay ?? firstDay);
  const fromDay = Math.min(wantedFrom, toDay, isToPresent ? Math.max(liveDay ?? toDay, firstDay) : toDay);
  if (toDay - fromDay < most) return { fromDay, toDay, rest: null };
  // A live row that was left behind is completed first.
  if (isToPresent && liveDay !== null && liveDay <= toDay - most) {
    return { fromDay, toDay: fromDay + most - 1, rest: { fromDay: fromDay + most, toDay: null } };
  }
  return { fromDay: toDay - most + 1, toDay, rest: { fromDay, toDay: toDay - most } };
}
