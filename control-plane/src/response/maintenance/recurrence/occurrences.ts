import { daysOf } from './days.ts';
import { readRule, RuleError } from './rule.ts';
import type { Rule } from './rule.ts';
import { instantOf, localTime, plainMs } from './zone.ts';
import type { LocalTime } from './zone.ts';

const dayMs = 86_400_000;
/** A maintenance is at most so long, also when several follow one another. */
export const longestMs = 31 * dayMs;

/** When a window is: once, or by a rule in a zone. */
export type Schedule = {
  /** Milliseconds since the epoch. */
  readonly startsMs: number;
  readonly durationMs: number;
  readonly rule: Rule | null;
  /** IANA name. */
  readonly zone: string;
  /** Beginnings that are left out. */
  readonly exceptMs: readonly number[];
};

export type Occurrence = {
  readonly startsMs: number;
  readonly endsMs: number;
  /** Clocks go forward over its time of day: it begins as much later as they do. */
  readonly isShifted: boolean;
};

/** @throws RuleError */
export function scheduleOf(given: {
  readonly startsMs: number;
  readonly durationMs: number;
  readonly rrule: string | null;
  readonly zone: string;
  readonly exceptMs: readonly number[];
}): Schedule {
  const { rrule, ...schedule } = given;
  return { ...schedule, rule: rrule === null ? null : readRule(rrule) };
}

/** Beginnings in order, as the rule gives them: in local time, and as instants. */
function* beginnings(
  schedule: Schedule,
): Generator<{ ms: number; isShifted: boolean; isLeftOut: boolean }, void, undefined> {
  const { rule, zone, startsMs } = schedule;
  const left = new Set(schedule.exceptMs);
  if (rule === null) {
    yield { ms: startsMs, isShifted: false, isLeftOut: left.has(startsMs) };
    return;
  }
  const start = localTime(startsMs, zone);
  const subSecond = startsMs % 1_000;
  let count = 0;
  for (const day of daysOf(rule, Math.floor(plainMs(start) / dayMs))) {
    const local = atDay(day, start);
    const { ms: found, isShifted } = instantOf(local, zone);
    // The first is given as an instant: where clocks go back it may be the second of two.
    const ms = count === 0 && plainMs(local) === plainMs(start) ? startsMs : found + subSecond;
    if (rule.until?.kind === 'instant' && ms > rule.until.ms) return;
    if (rule.until?.kind === 'date' && textOf(local) > rule.until.text) return;
    count += 1;
    yield { ms, isShifted, isLeftOut: left.has(ms) };
    if (count === rule.count) return;
  }
}

function atDay(day: number, { hour, minute, second }: LocalTime): LocalTime {
  const date = new Date(day * dayMs);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate(), hour, minute, second };
}

const textOf = ({ year, month, day }: LocalTime): string =>
  `${String(year).padStart(4, '0')}${String(month).padStart(2, '0')}${String(day).padStart(2, '0')}`;

/**
 * The occurrences of a schedule in order; those that overlap or meet are one. Without an end where the rule has none.
 * @throws RuleError when they run into one another until one is longer than a maintenance may be
 */
export function* occurrencesOf(schedule: Schedule): Generator<Occurrence, void, undefined> {
  let present: Occurrence | undefined;
  for (const { ms, isShifted, isLeftOut } of beginnings(schedule)) {
    if (isLeftOut) continue;
    const endsMs = ms + schedule.durationMs;
    if (present === undefined) {
      present = { startsMs: ms, endsMs, isShifted };
    } else if (ms <= present.endsMs) {
      present = { ...present, endsMs: Math.max(present.endsMs, endsMs) };
      if (present.endsMs - present.startsMs > longestMs) {
        throw new RuleError('one occurrence runs into the next for more than 31 days: make it shorter, or rarer');
      }
    } else {
      yield present;
      present = { startsMs: ms, endsMs, isShifted };
    }
  }
  if (present !== undefined) yield present;
}

/** The first occurrence that begins after a time and ends after another; null for none. */
export function nextOccurrence(schedule: Schedule, afterMs: number, endsAfterMs: number): Occurrence | null {
  for (const occurrence of occurrencesOf(schedule)) {
    if (occurrence.startsMs > afterMs && occurrence.endsMs > endsAfterMs) return occurrence;
  }
  return null;
}

/** The first occurrences that end after a time, so many at most. */
export function nextOccurrences(schedule: Schedule, endsAfterMs: number, most: number): Occurrence[] {
  const found: Occurrence[] = [];
  for (const occurrence of occurrencesOf(schedule)) {
    if (occurrence.endsMs <= endsAfterMs) continue;
    found.push(occurrence);
    if (found.length === most) break;
  }
  return found;
}

/** Occurrences within a time, as if the rule had always been there; none of what is once. For looking back. */
export function wouldHaveBeen(schedule: Schedule, fromMs: number, toMs: number): Occurrence[] {
  const { rule, zone } = schedule;
  if (rule === null) return [];
  const start = localTime(schedule.startsMs, zone);
  // Back by a whole number of periods, so that the days stay those of the rule.
  const back = { DAILY: 400, WEEKLY: 60, MONTHLY: 14, YEARLY: 4 }[rule.frequency] * rule.interval;
  const { year, month, day } = start;
  const plain = {
    DAILY: () => Date.UTC(year, month - 1, day - back),
    WEEKLY: () => Date.UTC(year, month - 1, day - 7 * back),
    MONTHLY: () => Date.UTC(year, month - 1 - back, Math.min(day, 28)),
    YEARLY: () => Date.UTC(year - back, month - 1, day),
  }[rule.frequency]();
  const { ms } = instantOf(atDay(plain / dayMs, start), zone);
  const isByStart = rule.frequency === 'MONTHLY' && rule.byMonthDay.length === 0 && rule.byDay.length === 0;
  const endless = { ...rule, count: null, until: null, ...(isByStart ? { byMonthDay: [day] } : {}) };
  const always = { ...schedule, startsMs: ms, exceptMs: [], rule: endless };
  const found: Occurrence[] = [];
  for (const occurrence of occurrencesOf(always)) {
    if (occurrence.startsMs >= toMs) break;
    if (occurrence.endsMs > fromMs) found.push(occurrence);
  }
  return found;
}
