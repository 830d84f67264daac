/** How often a rule repeats: days are the shortest, since what repeats within a day is no maintenance. */
export const frequencies = ['DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'] as const;
export type Frequency = (typeof frequencies)[number];

/** A weekday, Monday 0, and which one of the month or year; 0 is each. */
export type ByDay = { readonly weekday: number; readonly nth: number };

/** Where a series ends, inclusive: an instant, or a time or a whole day of the zone's wall clock. */
export type Until = { readonly kind: 'instant' | 'wall'; readonly ms: number };

/** A recurrence rule of RFC 5545, 3.3.10, that is daily or slower. Lists that are empty limit nothing. */
export type Rule = {
  readonly frequency: Frequency;
  readonly interval: number;
  readonly count: number | null;
  readonly until: Until | null;
  readonly byDay: readonly ByDay[];
  readonly byMonthDay: readonly number[];
  readonly byYearDay: readonly number[];
  readonly byMonth: readonly number[];
  readonly bySetPos: readonly number[];
  /** Monday 0. */
  readonly weekStart: number;
};

/** Why a text is no rule that is taken. */
export class RuleError extends Error {
  override readonly name = 'RuleError';
}

export const mostRuleCharacters = 500;
const weekdays = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];
const dayMs = 86_400_000;

/** The names of the parts that are read; others are refused by name, since a part that is passed over would move the maintenance. */
const known = new Set([
  'FREQ',
  'INTERVAL',
  'COUNT',
  'UNTIL',
  'BYDAY',
  'BYMONTHDAY',
  'BYYEARDAY',
  'BYMONTH',
  'BYSETPOS',
  'WKST',
]);

/** The form in which a rule is kept: upper case, without a leading "RRULE:". */
export function normalRule(text: string): string {
  return text
    .trim()
    .toUpperCase()
    .replace(/^RRULE:/, '')
    .replace(/;$/, '');
}

/**
 * Reads a recurrence rule.
 * @throws RuleError with what is wrong, for a person
 */
export function readRule(text: string): Rule {
  if (text.length > mostRuleCharacters) throw new RuleError(`must have at most ${mostRuleCharacters} characters`);
  const parts = partsOf(normalRule(text));
  const frequency = frequencyOf(parts.get('FREQ'));
  const count = parts.has('COUNT') ? wholeNumber('COUNT', parts.get('COUNT') ?? '', 1, 10_000) : null;
  const until = parts.has('UNTIL') ? untilOf(parts.get('UNTIL') ?? '') : null;
  if (count !== null && until !== null) throw new RuleError('COUNT and UNTIL exclude each other');
  const list = (name: string, most: number) => listOf(name, parts.get(name), most);
  const rule: Rule = {
    frequency,
    interval: parts.has('INTERVAL') ? wholeNumber('INTERVAL', parts.get('INTERVAL') ?? '', 1, 1_000) : 1,
    count,
    until,
    byDay: (parts.get('BYDAY')?.split(',') ?? []).map(byDayOf),
    byMonthDay: list('BYMONTHDAY', 31),
    byYearDay: list('BYYEARDAY', 366),
    byMonth: list('BYMONTH', 12),
    bySetPos: list('BYSETPOS', 366),
    weekStart: parts.has('WKST') ? weekdayOf('WKST', parts.get('WKST') ?? '') : 0,
  };
  requireSense(rule);
  return rule;
}

function partsOf(text: string): Map<string, string> {
  const parts = new Map<string, string>();
  for (const part of text.split(';')) {
    const [, name, value] = /^([A-Z-]+)=(.+)$/.exec(part) ?? [];
    if (name === undefined || value === undefined) throw new RuleError(`"${part.slice(0, 40)}" is no part of a rule`);
    if (['BYHOUR', 'BYMINUTE', 'BYSECOND'].includes(name))
      throw new RuleError(`${name} is not taken: the time of day is that of starts_at, once a day`);
    if (!known.has(name)) throw new RuleError(`${name} is not supported; leave it out or list the days another way`);
    if (parts.has(name)) throw new RuleError(`${name} stands twice`);
    parts.set(name, value);
  }
  return parts;
}

function frequencyOf(text: string | undefined): Frequency {
  const found = frequencies.find((frequency) => frequency === text);
  if (found !== undefined) return found;
  if (text === undefined) throw new RuleError('FREQ is missing');
  if (['HOURLY', 'MINUTELY', 'SECONDLY'].includes(text))
    throw new RuleError(`FREQ=${text} is not taken: a maintenance repeats daily or slower`);
  throw new RuleError(`FREQ must be one of ${frequencies.join(', ')}`);
}

function wholeNumber(name: string, text: string, least: number, most: number): number {
  const value = /^[0-9]{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new RuleError(`${name} must be a whole number from ${least} to ${most}`);
}

/** Numbers from 1 to `most`, or counted from the end with a minus; months are not. */
function listOf(name: string, text: string | undefined, most: number): number[] {
  if (text === undefined) return [];
  return text.split(',').map((item) => {
    const value = /^[+-]?[0-9]{1,3}$/.test(item) ? Number(item) : 0;
    if (value === 0 || Math.abs(value) > most || (name === 'BYMONTH' && value < 0))
      throw new RuleError(
        `${name} takes numbers from 1 to ${most}${name === 'BYMONTH' ? '' : ', or the same with a minus'}`,
      );
    return value;
  });
}

function weekdayOf(name: string, text: string): number {
  const index = weekdays.indexOf(text);
  if (index < 0) throw new RuleError(`${name} takes ${weekdays.join(', ')}`);
  return index;
}

function byDayOf(text: string): ByDay {
  const [, nth = '', day = ''] = /^([+-]?[0-9]{0,2})([A-Z]{2})$/.exec(text) ?? [];
  const weekday = weekdayOf('BYDAY', day);
  const number = nth === '' ? 0 : Number(nth);
  if (nth !== '' && (!Number.isInteger(number) || number === 0 || Math.abs(number) > 53))
    throw new RuleError('BYDAY takes numbers from 1 to 53, or the same with a minus');
  return { weekday, nth: number };
}

/** `20261231`, `20261231T235959` or `20261231T235959Z`. A date is meant to its end. */
function untilOf(text: string): Until {
  const [, year, month, day, time, hour, minute, second, zulu] =
    /^(\d{4})(\d{2})(\d{2})(T(\d{2})(\d{2})(\d{2})(Z?))?$/.exec(text) ?? [];
  const numbers = [year, month, day, hour ?? '23', minute ?? '59', second ?? '59'].map(Number);
  const [y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0] = numbers;
  const ms = Date.UTC(y, mo - 1, d, h, mi, s);
  const isDate =
    new Date(ms).getUTCDate() === d && new Date(ms).getUTCMonth() === mo - 1 && h < 24 && mi < 60 && s < 61;
  if (year === undefined || !isDate) throw new RuleError('UNTIL must be a date such as 20261231 or 20261231T235959Z');
  return { kind: zulu === 'Z' ? 'instant' : 'wall', ms: time === undefined ? ms + 999 : ms };
}

function requireSense(rule: Rule): void {
  const { frequency, byDay, byMonthDay, byYearDay, byMonth, bySetPos } = rule;
  if (byDay.some(({ nth }) => nth !== 0) && (frequency === 'DAILY' || frequency === 'WEEKLY'))
    throw new RuleError('BYDAY has numbers only with MONTHLY and YEARLY');
  if (byMonthDay.length > 0 && frequency === 'WEEKLY') throw new RuleError('BYMONTHDAY does not go with WEEKLY');
  if (byYearDay.length > 0 && frequency !== 'YEARLY') throw new RuleError('BYYEARDAY goes with YEARLY only');
  if (bySetPos.length > 0 && byDay.length + byMonthDay.length + byYearDay.length + byMonth.length === 0)
    throw new RuleError('BYSETPOS needs another BY part');
}

/** Whole days since the epoch of a wall time. */
export function dayOf(wallMs: number): number {
  return Math.floor(wallMs / dayMs);
}
