const weekdays = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'] as const;

/** 0 is Sunday. `nth`: the first, or with a sign the last, of a month or year; null: each. */
export type RuleDay = { readonly weekday: number; readonly nth: number | null };

/** A recurrence of whole days (RFC 5545, section 3.3.10). The time of day is that of its start. */
export type Rule = {
  readonly frequency: 'DAILY' | 'WEEKLY' | 'MONTHLY' | 'YEARLY';
  readonly interval: number;
  readonly count: number | null;
  /** The last day: as local text `YYYYMMDD`, or as an instant in milliseconds. */
  readonly until:
    | { readonly kind: 'date'; readonly text: string }
    | { readonly kind: 'instant'; readonly ms: number }
    | null;
  readonly byMonth: readonly number[];
  readonly byMonthDay: readonly number[];
  readonly byDay: readonly RuleDay[];
  readonly bySetPosition: readonly number[];
  /** First day of the week, 0 is Sunday. */
  readonly weekStart: number;
};

/** Says what is wrong with a rule, for its writer. */
export class RuleError extends Error {
  override readonly name = 'RuleError';
}

const mostCharacters = 500;
const mostInterval = 1_000;
const mostCount = 10_000;

/**
 * Reads an RRULE, with or without the name of the property.
 * @throws RuleError for what is no rule, recurs more than daily, or uses a part that has no meaning for whole days
 */
export function readRule(text: string): Rule {
  const plain = text
    .trim()
    .replace(/^RRULE:/i, '')
    .toUpperCase();
  if (plain === '' || plain.length > mostCharacters) throw new RuleError('write a rule such as FREQ=WEEKLY;BYDAY=SU');
  const parts = new Map<string, string>();
  for (const part of plain.replace(/;$/, '').split(';')) {
    const [name = '', value, ...more] = part.split('=');
    if (value === undefined || value === '' || more.length > 0) throw new RuleError(`"${part}" is no NAME=VALUE`);
    if (parts.has(name)) throw new RuleError(`${name} stands twice`);
    if (!known.has(name)) throw new RuleError(whyUnknown(name));
    parts.set(name, value);
  }
  const frequency = parts.get('FREQ');
  if (frequency !== 'DAILY' && frequency !== 'WEEKLY' && frequency !== 'MONTHLY' && frequency !== 'YEARLY') {
    throw new RuleError('FREQ must be DAILY, WEEKLY, MONTHLY or YEARLY');
  }
  const rule: Rule = {
    frequency,
    interval: whole(parts, 'INTERVAL', 1, mostInterval) ?? 1,
    count: whole(parts, 'COUNT', 1, mostCount),
    until: readUntil(parts.get('UNTIL')),
    byMonth: list(parts, 'BYMONTH', 12, false),
    byMonthDay: list(parts, 'BYMONTHDAY', 31, true),
    byDay: readDays(parts.get('BYDAY'), frequency),
    bySetPosition: list(parts, 'BYSETPOS', 366, true),
    weekStart: readWeekday(parts.get('WKST') ?? 'MO'),
  };
  if (rule.count !== null && rule.until !== null) throw new RuleError('COUNT and UNTIL exclude each other');
  if (rule.frequency === 'WEEKLY' && rule.byMonthDay.length > 0)
    throw new RuleError('BYMONTHDAY has no meaning in a week');
  if (rule.bySetPosition.length > 0 && rule.byDay.length + rule.byMonthDay.length + rule.byMonth.length === 0) {
    throw new RuleError('BYSETPOS chooses among what another BY part gives: there is none');
  }
  return rule;
}

const known = new Set(['FREQ', 'INTERVAL', 'COUNT', 'UNTIL', 'BYMONTH', 'BYMONTHDAY', 'BYDAY', 'BYSETPOS', 'WKST']);

function whyUnknown(name: string): string {
  if (/^BY(HOUR|MINUTE|SECOND)$/.test(name)) return `${name} is not taken: the time of day is that of starts_at`;
  return /^BY(WEEKNO|YEARDAY)$/.test(name)
    ? `${name} is not taken: name days by BYMONTH, BYMONTHDAY or BYDAY`
    : `there is no part ${name}`;
}

function whole(parts: ReadonlyMap<string, string>, name: string, min: number, max: number): number | null {
  const text = parts.get(name);
  if (text === undefined) return null;
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) throw new RuleError(`${name} must be from ${min} to ${max}`);
  return value;
}

function list(parts: ReadonlyMap<string, string>, name: string, most: number, isSigned: boolean): number[] {
  const text = parts.get(name);
  if (text === undefined) return [];
  return text.split(',').map((item) => {
    const value = /^[+-]?\d{1,3}$/.test(item) ? Number(item) : 0;
    if (value === 0 || Math.abs(value) > most || (value < 0 && !isSigned))
      throw new RuleError(`${name} has no ${item}`);
    return value;
  });
}

function readWeekday(text: string): number {
  const index = weekdays.indexOf(text as (typeof weekdays)[number]);
  if (index === -1) throw new RuleError(`there is no day ${text}; they are ${weekdays.join(', ')}`);
  return index;
}

function readDays(text: string | undefined, frequency: string): RuleDay[] {
  if (text === undefined) return [];
  return text.split(',').map((item) => {
    const match = /^([+-]?\d{1,2})?([A-Z]{2})$/.exec(item);
    if (match === null) throw new RuleError(`BYDAY has no ${item}`);
    const nth = match[1] === undefined ? null : Number(match[1]);
    const isOrdinalTaken = frequency === 'MONTHLY' || frequency === 'YEARLY';
    if (nth !== null && (!isOrdinalTaken || nth === 0 || Math.abs(nth) > 53))
      throw new RuleError(`BYDAY has no ${item} here`);
    return { weekday: readWeekday(match[2] ?? ''), nth };
  });
}

function readUntil(text: string | undefined): Rule['until'] {
  if (text === undefined) return null;
  const match = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?$/.exec(text);
  if (match === null) throw new RuleError('UNTIL must be YYYYMMDD or YYYYMMDDTHHMMSSZ');
  const [, year, month, day, hour, minute, second, zulu] = match;
  const ms = Date.parse(`${year}-${month}-${day}T${hour ?? '00'}:${minute ?? '00'}:${second ?? '00'}Z`);
  if (Number.isNaN(ms)) throw new RuleError('UNTIL is no date');
  if (hour === undefined) return { kind: 'date', text };
  if (zulu !== 'Z') throw new RuleError('UNTIL with a time must be in UTC, with a Z at its end');
  return { kind: 'instant', ms };
}
