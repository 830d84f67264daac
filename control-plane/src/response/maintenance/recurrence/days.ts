import type { Rule } from './rule.ts';

const dayMs = 86_400_000;

/** Days of the civil calendar, counted since the epoch. */
type Day = number;

const civil = (day: Day) => {
  const date = new Date(day * dayMs);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth(), date: date.getUTCDate() };
};
const dayOfCivil = (year: number, month: number, date: number): Day => Date.UTC(year, month, date) / dayMs;
/** Monday 0; the epoch was a Thursday. */
const weekdayOf = (day: Day): number => (((day + 3) % 7) + 7) % 7;

/** Days in which one step of a rule may have its instances: half-open. */
type Period = { readonly from: Day; readonly to: Day };

/**
 * The days on which a rule has instances, ascending, from its first day up to `lastDay`. Each period (day, week, month, year) is looked at
 * day by day and its BY parts judge each day by itself: that is RFC 5545's table of expansions and limits for rules that are daily or slower.
 * @param firstDay of the series; parts that the rule leaves out are those of this day
 * @param fromDay earlier ones may be left out
 */
export function* daysOf(rule: Rule, firstDay: number, lastDay: number, fromDay = firstDay): Generator<number, void> {
  const judged = withDefaults(rule, firstDay);
  for (let step = Math.max(0, stepsBefore(rule, firstDay, fromDay)); ; step += 1) {
    const period = periodOf(rule, firstDay, step);
    if (period.from > lastDay) return;
    for (const day of inPeriod(judged, period)) if (day >= firstDay && day <= lastDay) yield day;
  }
}

/**
 * The days that the rule would have had if it had always been: in the rhythm of its interval also before its first day, without COUNT.
 * Ascending, within `fromDay` and `lastDay`.
 */
export function* daysBackTo(rule: Rule, firstDay: number, fromDay: number, lastDay: number): Generator<number, void> {
  const judged = withDefaults(rule, firstDay);
  for (let step = stepsBefore(rule, firstDay, fromDay); ; step += 1) {
    const period = periodOf(rule, firstDay, step);
    if (period.from > lastDay) return;
    for (const day of inPeriod(judged, period)) if (day >= fromDay && day <= lastDay) yield day;
  }
}

/** Steps of the rule that end before a day for sure; negative before the first day. */
function stepsBefore(rule: Rule, firstDay: Day, day: Day): number {
  const longest = { DAILY: 1, WEEKLY: 7, MONTHLY: 31, YEARLY: 366 }[rule.frequency];
  const shortest = { DAILY: 1, WEEKLY: 7, MONTHLY: 28, YEARLY: 365 }[rule.frequency];
  const days = day - firstDay;
  return Math.floor(days / ((days < 0 ? shortest : longest) * rule.interval)) - 2;
}

function periodOf(rule: Rule, firstDay: Day, step: number): Period {
  const steps = step * rule.interval;
  switch (rule.frequency) {
    case 'DAILY':
      return { from: firstDay + steps, to: firstDay + steps + 1 };
    case 'WEEKLY': {
      const from = firstDay - ((weekdayOf(firstDay) - rule.weekStart + 7) % 7) + 7 * steps;
      return { from, to: from + 7 };
    }
    case 'MONTHLY': {
      const { year, month } = civil(firstDay);
      return { from: dayOfCivil(year, month + steps, 1), to: dayOfCivil(year, month + steps + 1, 1) };
    }
    case 'YEARLY': {
      const { year } = civil(firstDay);
      return { from: dayOfCivil(year + steps, 0, 1), to: dayOfCivil(year + steps + 1, 0, 1) };
    }
  }
}

/** What a rule does not say is taken from its first day (RFC 5545, 3.3.10, "information … is determined from DTSTART"). */
function withDefaults(rule: Rule, firstDay: Day): Rule {
  const { month, date } = civil(firstDay);
  if (rule.byDay.length + rule.byMonthDay.length + rule.byYearDay.length > 0) return rule;
  switch (rule.frequency) {
    case 'DAILY':
      return rule;
    case 'WEEKLY':
      return { ...rule, byDay: [{ weekday: weekdayOf(firstDay), nth: 0 }] };
    case 'MONTHLY':
      return { ...rule, byMonthDay: [date] };
    case 'YEARLY':
      return { ...rule, byMonthDay: [date], byMonth: rule.byMonth.length > 0 ? rule.byMonth : [month + 1] };
  }
}

function inPeriod(rule: Rule, { from, to }: Period): Day[] {
  const days: Day[] = [];
  for (let day = from; day < to; day += 1) if (isInstance(rule, day)) days.push(day);
  if (rule.bySetPos.length === 0) return days;
  const places = new Set(rule.bySetPos.map((place) => (place > 0 ? place - 1 : days.length + place)));
  return days.filter((_day, index) => places.has(index));
}

function isInstance(rule: Rule, day: Day): boolean {
  const { year, month, date } = civil(day);
  if (rule.byMonth.length > 0 && !rule.byMonth.includes(month + 1)) return false;
  const monthDays = dayOfCivil(year, month + 1, 1) - dayOfCivil(year, month, 1);
  if (!isAmong(rule.byMonthDay, date, monthDays)) return false;
  const yearStart = dayOfCivil(year, 0, 1);
  if (!isAmong(rule.byYearDay, day - yearStart + 1, dayOfCivil(year + 1, 0, 1) - yearStart)) return false;
  if (rule.byDay.length === 0) return true;
  // Numbers count in the month, and in the year where a yearly rule names no month.
  const isInYear = rule.frequency === 'YEARLY' && rule.byMonth.length === 0;
  const place = isInYear ? day - yearStart : date - 1;
  const length = isInYear ? dayOfCivil(year + 1, 0, 1) - yearStart : monthDays;
  const nth = Math.floor(place / 7) + 1;
  const nthFromEnd = -(Math.floor((length - 1 - place) / 7) + 1);
  return rule.byDay.some(
    (by) => by.weekday === weekdayOf(day) && (by.nth === 0 || by.nth === nth || by.nth === nthFromEnd),
  );
}

/** Whether a list is empty or names a place, counted from 1, or from the end with a minus. */
function isAmong(list: readonly number[], place: number, length: number): boolean {
  return list.length === 0 || list.includes(place) || list.includes(place - length - 1);
}
