import type { Rule, RuleDay } from './rule.ts';

const dayMs = 86_400_000;
/** Rules that give nothing for so long give nothing any more: of 29 February the longest wait is eight years. */
const mostYearsApart = 30;

/* Days are whole numbers since 1970-01-01, in no zone: the calendar is the same everywhere. */

const dayOf = (year: number, month: number, day: number): number => Date.UTC(year, month, day) / dayMs;
const dateOf = (day: number) => {
  const date = new Date(day * dayMs);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth(), day: date.getUTCDate(), weekday: date.getUTCDay() };
};
const daysIn = (year: number, month: number): number => new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
const weekdayOf = (day: number): number => (((day + 4) % 7) + 7) % 7;

/**
 * The days of a rule from its start on, in order, without an end where the rule has none. COUNT and UNTIL are the caller's to judge: they go
 * by instants.
 * @param start the day of the first occurrence
 */
export function* daysOf(rule: Rule, start: number): Generator<number, void, undefined> {
  let lastFound = start;
  for (const period of periodsOf(rule, start)) {
    const candidates = [...new Set(candidatesOf(rule, period, start))].sort((a, b) => a - b);
    for (const day of chosen(rule, candidates)) {
      if (day < start) continue;
      lastFound = day;
      yield day;
    }
    if (period.first - lastFound > mostYearsApart * 366) return;
  }
}

type Period = { readonly first: number; readonly year: number; readonly month: number };

function* periodsOf(rule: Rule, start: number): Generator<Period, void, undefined> {
  const { year, month } = dateOf(start);
  const weekFirst = start - ((weekdayOf(start) - rule.weekStart + 7) % 7);
  for (let index = 0; ; index += rule.interval) {
    switch (rule.frequency) {
      case 'DAILY':
        yield { first: start + index, ...dateOf(start + index) };
        break;
      case 'WEEKLY':
        yield { first: weekFirst + 7 * index, year: 0, month: 0 };
        break;
      case 'MONTHLY': {
        const first = dayOf(year, month + index, 1);
        yield { first, ...dateOf(first) };
        break;
      }
      case 'YEARLY':
        yield { first: dayOf(year + index, 0, 1), year: year + index, month: 0 };
        break;
    }
  }
}

function candidatesOf(rule: Rule, period: Period, start: number): number[] {
  switch (rule.frequency) {
    case 'DAILY':
      return [period.first].filter((day) => isInMonth(rule, day) && isMonthDay(rule, day) && isWeekday(rule, day));
    case 'WEEKLY': {
      const wanted = rule.byDay.length > 0 ? rule.byDay.map(({ weekday }) => weekday) : [weekdayOf(start)];
      return Array.from({ length: 7 }, (_, index) => period.first + index).filter(
        (day) => wanted.includes(weekdayOf(day)) && isInMonth(rule, day),
      );
    }
    case 'MONTHLY':
      return rule.byMonth.length > 0 && !rule.byMonth.includes(period.month + 1)
        ? []
        : ofMonth(rule, period.year, period.month, start);
    case 'YEARLY':
      return ofYear(rule, period.year, start);
  }
}

function ofMonth(rule: Rule, year: number, month: number, start: number): number[] {
  const first = dayOf(year, month, 1);
  const length = daysIn(year, month);
  const all = Array.from({ length }, (_, index) => first + index);
  if (rule.byMonthDay.length === 0 && rule.byDay.length === 0) {
    const { day } = dateOf(start);
    // A month without such a day has none (RFC 5545, 3.3.10: invalid dates are skipped).
    return day <= length ? [first + day - 1] : [];
  }
  return all.filter((day) => isMonthDay(rule, day) && isNth(rule.byDay, day, first, length));
}

function ofYear(rule: Rule, year: number, start: number): number[] {
  const { month, day } = dateOf(start);
  const months = rule.byMonth.map((one) => one - 1);
  if (rule.byDay.length === 0 && rule.byMonthDay.length === 0) {
    return (months.length > 0 ? months : [month]).flatMap((one) =>
      day <= daysIn(year, one) ? [dayOf(year, one, day)] : [],
    );
  }
  if (months.length > 0 || rule.byMonthDay.length > 0) {
    const wanted = months.length > 0 ? months : Array.from({ length: 12 }, (_, index) => index);
    return wanted.flatMap((one) => ofMonth(rule, year, one, start));
  }
  const first = dayOf(year, 0, 1);
  const length = dayOf(year + 1, 0, 1) - first;
  return Array.from({ length }, (_, index) => first + index).filter((one) => isNth(rule.byDay, one, first, length));
}

function chosen(rule: Rule, days: readonly number[]): readonly number[] {
  if (rule.bySetPosition.length === 0) return days;
  const picked = rule.bySetPosition.map((position) => days.at(position > 0 ? position - 1 : position));
  return [...new Set(picked.filter((day) => day !== undefined))].sort((a, b) => a - b);
}

const isInMonth = (rule: Rule, day: number): boolean =>
  rule.byMonth.length === 0 || rule.byMonth.includes(dateOf(day).month + 1);

const isWeekday = (rule: Rule, day: number): boolean =>
  rule.byDay.length === 0 || rule.byDay.some(({ weekday }) => weekday === weekdayOf(day));

function isMonthDay(rule: Rule, day: number): boolean {
  if (rule.byMonthDay.length === 0) return true;
  const { year, month, day: number } = dateOf(day);
  return rule.byMonthDay.includes(number) || rule.byMonthDay.includes(number - daysIn(year, month) - 1);
}

/** Whether a day is one of the weekdays, where it says so the nth of a period. */
function isNth(wanted: readonly RuleDay[], day: number, first: number, length: number): boolean {
  if (wanted.length === 0) return true;
  const before = Math.floor((day - first) / 7) + 1;
  const after = -(Math.floor((first + length - 1 - day) / 7) + 1);
  return wanted.some(
    ({ weekday, nth }) => weekday === weekdayOf(day) && (nth === null || nth === before || nth === after),
  );
}
