/** What a rule says to somebody who looks at each day by itself. Weekdays from Monday 0; lists that are empty say nothing. */
export type NaiveRule = {
  readonly every: 'day' | 'week' | 'month';
  readonly interval: number;
  readonly weekdays: readonly number[];
  readonly monthDays: readonly number[];
  /** Which one of the weekday in its month; negative from its end. */
  readonly nth: number | null;
};

export type Walked = { readonly ms: number; readonly wallMs: number; readonly isShifted: boolean };

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;

/**
 * The starts of a rule by walking through every minute of a time and looking at the clock of the zone: slow, and without any arithmetic of
 * zones. Intervals are counted from the day, week or month of the first day that fits, as the rule does from its first instance.
 */
export function walkedStarts(
  rule: NaiveRule,
  minuteOfDay: number,
  zone: string,
  fromMs: number,
  toMs: number,
): Walked[] {
  const found: Walked[] = [];
  const clock = clockOf(zone);
  let anchor: number | undefined;
  let latestWallMs = Number.NEGATIVE_INFINITY;
  let offsetMs = 0;
  for (let ms = fromMs; ms < toMs; ms += minuteMs) {
    // Offsets change at whole quarters of an hour only.
    if (ms % (15 * minuteMs) === 0) offsetMs = clock(ms) - ms;
    const wallMs = ms + offsetMs;
    // The clock has gone back: these minutes were there before.
    if (wallMs <= latestWallMs) continue;
    // It has leapt: the minutes between are told by how far behind the leap they would be.
    const firstMs = latestWallMs === Number.NEGATIVE_INFINITY ? wallMs : latestWallMs + minuteMs;
    for (let each = firstMs; each <= wallMs; each += minuteMs) {
      if ((each % dayMs) / minuteMs !== minuteOfDay) continue;
      const day = Math.floor(each / dayMs);
      if (!fits(rule, day)) continue;
      anchor ??= stepOf(rule, day);
      if ((stepOf(rule, day) - anchor) % rule.interval !== 0) continue;
      const isShifted = each !== wallMs;
      found.push({ ms: isShifted ? ms + (each - firstMs) : ms, wallMs: each, isShifted });
    }
    latestWallMs = wallMs;
  }
  return found.filter(({ ms }) => ms < toMs);
}

const clocks = new Map<string, Map<number, number>>();

/** What the clock of a zone shows; each time is looked up once, since that is what a walk spends its time on. */
function clockOf(zone: string): (ms: number) => number {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  const seen = clocks.get(zone) ?? new Map<number, number>();
  clocks.set(zone, seen);
  return (ms) => {
    const shown = seen.get(ms) ?? Date.parse(`${format.format(ms).replace(' ', 'T')}Z`);
    seen.set(ms, shown);
    return shown;
  };
}

const weekdayOf = (day: number): number => (new Date(day * dayMs).getUTCDay() + 6) % 7;

function fits(rule: NaiveRule, day: number): boolean {
  const date = new Date(day * dayMs).getUTCDate();
  if (rule.monthDays.length > 0 && !rule.monthDays.includes(date)) return false;
  if (rule.weekdays.length > 0 && !rule.weekdays.includes(weekdayOf(day))) return false;
  if (rule.nth === null) return true;
  // Count the same weekdays towards the end of the month at which the counting starts.
  const step = rule.nth > 0 ? -7 : 7;
  const month = new Date(day * dayMs).getUTCMonth();
  let count = 0;
  for (let each = day; new Date(each * dayMs).getUTCMonth() === month; each += step) count += 1;
  return count === Math.abs(rule.nth);
}

/** A number of the day, week or month that grows by one from each to the next. */
function stepOf(rule: NaiveRule, day: number): number {
  if (rule.every === 'day') return day;
  if (rule.every === 'week') return Math.floor((day - weekdayOf(day)) / 7);
  const date = new Date(day * dayMs);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}
