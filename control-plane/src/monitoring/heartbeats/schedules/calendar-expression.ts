import { ScheduleError } from './schedule-error.ts';

/** `start`, `start..stop`, `start/step` or `start..stop/step`. */
type Span = { readonly start: number; readonly stop: number | undefined; readonly step: number };

/** What a component takes; undefined: every value. */
export type Component = readonly Span[] | undefined;

/** A calendar event of systemd.time(7), with whole seconds. */
export type CalendarExpression = {
  /** 0 is Monday; undefined: every day. */
  readonly weekdays: ReadonlySet<number> | undefined;
  readonly years: Component;
  readonly months: Component;
  readonly days: Component;
  /** Days count from the end of the month: 1 is the last one. */
  readonly isFromEnd: boolean;
  readonly hours: Component;
  readonly minutes: Component;
  readonly seconds: Component;
  /** The time zone behind the expression, where it names one. */
  readonly zone: string | undefined;
};

const shorthands: Readonly<Record<string, string>> = {
  minutely: '*-*-* *:*:00',
  hourly: '*-*-* *:00:00',
  daily: '*-*-* 00:00:00',
  weekly: 'Mon *-*-* 00:00:00',
  monthly: '*-*-01 00:00:00',
  quarterly: '*-01,04,07,10-01 00:00:00',
  semiannually: '*-01,07-01 00:00:00',
  'semi-annually': '*-01,07-01 00:00:00',
  biannually: '*-01,07-01 00:00:00',
  yearly: '*-01-01 00:00:00',
  annually: '*-01-01 00:00:00',
  anually: '*-01-01 00:00:00',
};

const weekdayNames = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

/** Calendar events end with this year. */
export const lastYear = 2_199;

/**
 * Reads an OnCalendar expression, as `systemd-analyze calendar` does; fractions of seconds and `@` with seconds since the epoch are not taken.
 * @throws ScheduleError
 */
export function parseCalendar(text: string): CalendarExpression {
  const parts = text.trim().split(/[ \t]+/);
  const zone = parts.length > 1 && isZoneLike(parts.at(-1) ?? '') ? parts.pop() : undefined;
  const shorthand = parts.length === 1 ? shorthands[(parts[0] ?? '').toLowerCase()] : undefined;
  const words = shorthand === undefined ? parts : shorthand.split(' ');
  const weekdays = /^[a-z]/i.test(words[0] ?? '') ? parseWeekdays(words.shift() ?? '') : undefined;
  const date = /^[^:]+$/.test(words[0] ?? '') && /[-~]/.test(words[0] ?? '') ? words.shift() : undefined;
  const time = /:/.test(words[0] ?? '') ? words.shift() : undefined;
  if (words.length > 0 || (weekdays === undefined && date === undefined && time === undefined)) {
    throw new ScheduleError(
      `"${text.slice(0, 60)}" is no calendar event: weekdays, a date as *-*-* and a time as 00:00:00 are, or a word such as daily`,
    );
  }
  return { weekdays, ...parseDate(date ?? '*-*-*'), ...parseTime(time ?? '00:00:00'), zone };
}

/** A weekday and a shorthand come first; what stands last and begins with a letter is a zone. */
function isZoneLike(word: string): boolean {
  return /^[a-z][a-z0-9_+-]*(\/[a-z0-9_+-]+)*$/i.test(word) && weekdayOf(word) === -1;
}

function weekdayOf(word: string): number {
  const wanted = word.toLowerCase();
  return weekdayNames.findIndex((name) => name === wanted || name.slice(0, 3) === wanted);
}

function parseWeekdays(text: string): ReadonlySet<number> {
  const days = new Set<number>();
  for (const part of text.split(',')) {
    const [first = '', last = first, ...more] = part.split(/\.\.|-/);
    const [from, to] = [weekdayOf(first), weekdayOf(last)];
    if (from === -1 || to === -1 || to < from || more.length > 0) {
      throw new ScheduleError(`"${text.slice(0, 40)}" is no list of weekdays such as Mon..Fri or Sat,Sun`);
    }
    for (let day = from; day <= to; day += 1) days.add(day);
  }
  return days;
}

function parseDate(text: string) {
  // Y-M-D, M-D, and with ~ before the day.
  const match = /^(?:([^-~]+)-)?([^-~]+)([-~])([^-~]+)$/.exec(text);
  if (match === null) throw new ScheduleError(`"${text.slice(0, 40)}" is no date such as *-*-01 or *-12-24`);
  const [, year = '*', month = '', separator, day = ''] = match;
  const isFromEnd = separator === '~';
  return {
    years: parseComponent(year, 'year', 1_970, lastYear),
    months: parseComponent(month, 'month', 1, 12),
    // Every month has so many days, counted from its end.
    days: parseComponent(day, 'day', 1, isFromEnd ? 28 : 31),
    isFromEnd,
  };
}

function parseTime(text: string) {
  const [hour = '', minute = '', second = '00', ...more] = text.split(':');
  if (more.length > 0) throw new ScheduleError(`"${text.slice(0, 40)}" is no time such as 05:40 or *:0/15`);
  return {
    hours: parseComponent(hour, 'hour', 0, 23),
    minutes: parseComponent(minute, 'minute', 0, 59),
    seconds: parseComponent(second, 'second', 0, 59),
  };
}

function parseComponent(text: string, name: string, least: number, most: number): Component {
  return text === '*' ? undefined : text.split(',').map((part) => parseSpan(part, name, least, most));
}

function parseSpan(part: string, name: string, least: number, most: number): Span {
  const match = /^([0-9]{1,4})(?:\.\.([0-9]{1,4}))?(?:\/([0-9]{1,4}))?$/.exec(part);
  const wrong = new ScheduleError(
    `the ${name} "${part.slice(0, 40)}" is not valid: numbers from ${least} to ${most}, a..b, a/step and lists are`,
  );
  if (match === null) throw wrong;
  const value = (given: string): number => {
    const number = Number(given);
    // As strptime(3) reads years of two digits.
    if (name !== 'year' || number >= 100) return number;
    return number + (number < 70 ? 2_000 : 1_900);
  };
  const start = value(match[1] ?? '');
  const stop = match[2] === undefined ? undefined : value(match[2]);
  const step = match[3] === undefined ? undefined : Number(match[3]);
  if (start < least || start > most || (stop !== undefined && (stop < start || stop > most)) || step === 0) throw wrong;
  // A single value has neither end nor step.
  if (step === undefined) return { start, stop: stop ?? start, step: 1 };
  if (step > most) throw wrong;
  return { start, stop, step };
}
