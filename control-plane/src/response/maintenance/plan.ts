import { invalidInput, maintenanceSeconds } from '@parallax/api-contract';
import type { Problem } from '@parallax/api-contract';
import { nextOccurrence, occurrencesOf, scheduleOf } from './recurrence/occurrences.ts';
import type { Occurrence, Schedule } from './recurrence/occurrences.ts';
import { RuleError } from './recurrence/rule.ts';
import { instantOf } from './recurrence/zone.ts';

/** When a window is, as a request gives it. */
export type GivenTimes = {
  readonly starts_at: string;
  readonly ends_at?: string | null | undefined;
  readonly duration_seconds?: number | null | undefined;
  readonly rrule?: string | null | undefined;
  readonly timezone?: string | null | undefined;
  readonly exdates?: readonly string[] | null | undefined;
};

/** When a window is, judged. Times in milliseconds since the epoch. */
export type Plan = {
  readonly startsMs: number;
  readonly durationSeconds: number;
  readonly rrule: string | null;
  readonly zone: string;
  readonly exceptMs: readonly number[];
  readonly schedule: Schedule;
  /** The first that is not over; null where all is. */
  readonly next: Occurrence | null;
  /** The local time that was given does not exist: it begins as much later as clocks go forward. */
  readonly isShifted: boolean;
};

/** A plan may begin so long ago: whoever begins in time should not fail by the seconds of typing. */
const graceMs = 5 * 60_000;
const farthestMs = 10 * 366 * 86_400_000;
/** Occurrences that are looked at to find out whether they run into one another without an end. */
const looked = 500;

/**
 * Judges when a window is.
 * @param mayBePast that it began long ago is no fault: it is a series that was planned before
 * @param afterMs its last occurrence that has begun: what is to come begins later
 * @throws Problem `invalid_input` that names the field
 */
export function judgePlan(
  given: GivenTimes,
  nowMs: number,
  mayBePast = false,
  afterMs = Number.NEGATIVE_INFINITY,
): Plan {
  const zone = zoneOf(given.timezone ?? 'UTC');
  const start = momentOf(given.starts_at, zone, '/starts_at');
  const durationSeconds = durationOf(given, start.ms, zone);
  if (!mayBePast && start.ms < nowMs - graceMs) {
    throw wrong(
      '/starts_at',
      'too_early',
      'lies more than 5 minutes back; a time that is over is taken out of the SLA by a correction',
    );
  }
  if (start.ms > nowMs + farthestMs) throw wrong('/starts_at', 'too_late', 'lies more than 10 years ahead');
  const exceptMs = (given.exdates ?? []).map((text) => Date.parse(text));
  const rrule = given.rrule ?? null;
  if (rrule === null && exceptMs.length > 0) throw wrong('/exdates', 'without_rrule', 'only a series has exceptions');
  if (rrule !== null && start.isShifted) {
    throw wrong(
      '/starts_at',
      'no_such_time',
      `clocks in ${zone} skip this time on that day; begin the series on another day`,
    );
  }
  const durationMs = durationSeconds * 1_000;
  try {
    const schedule = scheduleOf({ startsMs: start.ms, durationMs, rrule, zone, exceptMs });
    requireFirst(schedule);
    requireEnds(schedule);
    // None begins in the past: what was measured then stays as it is.
    const next = nextOccurrence(schedule, Math.max(afterMs, nowMs - graceMs - 1), nowMs);
    if (next === null && !mayBePast) throw wrong('/rrule', 'never', 'there is no occurrence that is still to come');
    return { startsMs: start.ms, durationSeconds, rrule, zone, exceptMs, schedule, next, isShifted: start.isShifted };
  } catch (error) {
    if (error instanceof RuleError) throw wrong('/rrule', 'rrule', error.message);
    throw error;
  }
}

/** Other calendars disagree on whether a beginning counts that its own rule does not give (RFC 5545, 3.8.5.3: undefined). */
function requireFirst(schedule: Schedule): void {
  if (schedule.rule === null) return;
  const [first] = occurrencesOf({ ...schedule, exceptMs: [], durationMs: 60_000 });
  if (first?.startsMs !== schedule.startsMs) {
    throw wrong('/starts_at', 'not_of_rule', 'must be an occurrence of the rule: begin on a day that it names');
  }
}

function requireEnds(schedule: Schedule): void {
  let seen = 0;
  for (const _ of occurrencesOf(schedule)) if ((seen += 1) === looked) return;
}

function zoneOf(name: string): string {
  // Offsets and the like are known to Intl, too, and are no zones with rules.
  if (name !== 'UTC' && !/^[A-Za-z]+(?:[/_+-][A-Za-z0-9]+)+$/.test(name)) throw noZone(name);
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone === '' ? 'UTC' : name;
  } catch {
    throw noZone(name);
  }
}

const noZone = (name: string): Problem =>
  wrong('/timezone', 'timezone', `there is no time zone ${name.slice(0, 100)}; name one of IANA's`);

const localText = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?$/;

function momentOf(text: string, zone: string, path: string): { readonly ms: number; readonly isShifted: boolean } {
  const local = localText.exec(text);
  if (local === null) {
    const ms = Date.parse(text);
    if (Number.isNaN(ms)) throw wrong(path, 'date', 'is no time');
    return { ms, isShifted: false };
  }
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = local
    .slice(1)
    .map((part) => Number(part ?? 0));
  return instantOf({ year, month, day, hour, minute, second }, zone);
}

function durationOf(given: GivenTimes, startsMs: number, zone: string): number {
  if (given.ends_at == null) {
    if (given.duration_seconds != null) return given.duration_seconds;
    throw wrong('/duration_seconds', 'required', 'say how long it lasts, by duration_seconds or ends_at');
  }
  if (given.duration_seconds != null) throw wrong('/ends_at', 'conflict', 'give either ends_at or duration_seconds');
  const seconds = Math.round((momentOf(given.ends_at, zone, '/ends_at').ms - startsMs) / 1_000);
  if (seconds <= 0) throw wrong('/ends_at', 'too_early', 'must be after starts_at');
  if (seconds < maintenanceSeconds.least) throw wrong('/ends_at', 'too_short', 'a maintenance lasts a minute at least');
  if (seconds > maintenanceSeconds.most) throw wrong('/ends_at', 'too_long', 'a maintenance lasts 31 days at most');
  return seconds;
}

function wrong(path: string, code: string, message: string): Problem {
  return invalidInput('body', path, code, message);
}
