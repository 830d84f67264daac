import { maintenanceLimits } from '@parallax/api-contract';
import type { InputError, InputErrorCode, InputPath } from '@parallax/api-contract';
import { longestMs, nextWindow, occurrencesOf, windowsOf } from './recurrence/occurrences.ts';
import type { Occurrence, Schedule } from './recurrence/occurrences.ts';
import { normalRule, readRule, RuleError } from './recurrence/rule.ts';
import type { Rule } from './recurrence/rule.ts';
import { isZone } from './recurrence/zone.ts';

/** A schedule as it is stored. Times in milliseconds since the epoch. */
export type StoredSchedule = {
  readonly startsMs: number;
  readonly durationSeconds: number;
  readonly rrule: string | null;
  /** IANA. */
  readonly timezone: string;
  readonly exdatesMs: readonly number[];
};

/** The fields of a request; of an update those of the stored one where it leaves them out. */
export type GivenSchedule = {
  readonly starts_at: string;
  readonly ends_at?: string | null | undefined;
  readonly duration_seconds?: number | null | undefined;
  readonly rrule?: string | null | undefined;
  readonly timezone?: string | null | undefined;
  readonly exdates?: readonly string[] | null | undefined;
};

/** A schedule that may be stored, with its next time, undefined when nothing is to come. */
export type Planned = {
  readonly stored: StoredSchedule;
  readonly schedule: Schedule;
  readonly next: Occurrence | undefined;
};

/** The same, or everything that is wrong with it. */
export type Judged = Planned | { readonly errors: readonly InputError[] };

export type JudgedAt = {
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  /** What ends before is done already: of a changed schedule the planned end of the last occurrence that started. */
  readonly floorMs?: number;
  /** The start was judged when it was given. */
  readonly keepsStart?: boolean;
};

/** A maintenance that is entered while it begins. What is older is for the ledger of corrections. */
const pastMs = 5 * 60_000;
const farMs = 5 * 366 * 86_400_000;

const wrong = (path: InputPath, code: InputErrorCode, message: string): InputError => ({
  in: 'body',
  path,
  code,
  message,
});

/** Judges a schedule. */
export function judgeSchedule(given: GivenSchedule, { nowMs, floorMs, keepsStart = false }: JudgedAt): Judged {
  const startsMs = Date.parse(given.starts_at);
  const { durationMs, errors: durationErrors } = durationOf(given, startsMs);
  const { rule, errors: ruleErrors } = ruleOf(given.rrule ?? null);
  const zone = given.timezone ?? 'UTC';
  const zoneErrors = isZone(zone) ? [] : [wrong('/timezone', 'unknown_timezone', `there is no time zone "${zone}"`)];
  const errorsOfStart = keepsStart ? [] : startErrors(startsMs, rule, nowMs);
  const errors = [...durationErrors, ...errorsOfStart, ...ruleErrors, ...zoneErrors];
  if (errors.length > 0) return { errors };
  const exceptMs = [...new Set((given.exdates ?? []).map((text) => Date.parse(text)))].sort((a, b) => a - b);
  const schedule: Schedule = { startsMs, durationMs, rule, zone, exceptMs };
  const seriesErrors = rule === null ? [] : errorsOfSeries(schedule, rule);
  if (seriesErrors.length > 0) return { errors: seriesErrors };
  const next = nextWindow(schedule, Math.max(nowMs - pastMs, floorMs ?? Number.NEGATIVE_INFINITY));
  const stored: StoredSchedule = {
    startsMs,
    durationSeconds: durationMs / 1_000,
    rrule: rule === null ? null : normalRule(given.rrule ?? ''),
    timezone: zone,
    exdatesMs: exceptMs,
  };
  return { stored, schedule, next };
}

/** What is wrong with a schedule of which nothing is to come. */
export function nothingToCome(message = 'nothing of it is still to come'): InputError {
  return wrong('/starts_at', 'nothing_to_come', message);
}

/** The schedule of a stored one. */
export function scheduleOf(stored: StoredSchedule): Schedule {
  return {
    startsMs: stored.startsMs,
    durationMs: stored.durationSeconds * 1_000,
    rule: stored.rrule === null ? null : readRule(stored.rrule),
    zone: stored.timezone,
    exceptMs: stored.exdatesMs,
  };
}

/** The fields of a stored one, for an update that leaves them out. */
export function givenOf(stored: StoredSchedule): GivenSchedule {
  return {
    starts_at: new Date(stored.startsMs).toISOString(),
    duration_seconds: stored.durationSeconds,
    rrule: stored.rrule,
    timezone: stored.timezone,
    exdates: stored.exdatesMs.map((ms) => new Date(ms).toISOString()),
  };
}

/** The fields that an update names. */
export type GivenChange = { readonly [Field in keyof GivenSchedule]?: GivenSchedule[Field] | undefined };

/** What an update says of the schedule; what it leaves out stays, and so does the duration where only the start moves. */
export function changedSchedule(stored: StoredSchedule, update: GivenChange): GivenSchedule {
  const before = givenOf(stored);
  const { ends_at: endsAt, duration_seconds: seconds } = writtenEnd(stored, update);
  const hasLength = endsAt != null || seconds != null;
  return {
    ...before,
    ...(update.starts_at === undefined ? {} : { starts_at: update.starts_at }),
    ...(hasLength ? { ends_at: endsAt, duration_seconds: seconds } : {}),
    ...(update.rrule === undefined ? {} : { rrule: update.rrule }),
    ...(update.timezone === undefined ? {} : { timezone: update.timezone }),
    ...(update.exdates === undefined ? {} : { exdates: update.exdates }),
  };
}

/**
 * The end or the duration that an update brings. An answer has both, so of two that come together the one that repeats what is stored says nothing.
 */
function writtenEnd(stored: StoredSchedule, update: GivenChange): Pick<GivenChange, 'ends_at' | 'duration_seconds'> {
  const { ends_at: endsAt, duration_seconds: seconds } = update;
  if (endsAt == null || seconds == null) return { ends_at: endsAt, duration_seconds: seconds };
  const isOldEnd = Date.parse(endsAt) === stored.startsMs + stored.durationSeconds * 1_000;
  const isOldLength = seconds === stored.durationSeconds;
  return { ends_at: isOldEnd ? undefined : endsAt, duration_seconds: isOldLength ? undefined : seconds };
}

/** Whether a given schedule says what a stored one does. */
export function saysTheSame(stored: StoredSchedule, given: GivenSchedule): boolean {
  const startsMs = Date.parse(given.starts_at);
  const { durationMs } = durationOf(given, startsMs);
  const rrule = given.rrule == null ? null : normalRule(given.rrule);
  const exdates = new Set((given.exdates ?? []).map((text) => Date.parse(text)));
  return (
    startsMs === stored.startsMs &&
    durationMs === stored.durationSeconds * 1_000 &&
    rrule === stored.rrule &&
    (given.timezone ?? 'UTC') === stored.timezone &&
    exdates.size === stored.exdatesMs.length &&
    stored.exdatesMs.every((ms) => exdates.has(ms))
  );
}

function durationOf(
  { ends_at: endsAt, duration_seconds: seconds }: GivenSchedule,
  startsMs: number,
): { readonly durationMs: number; readonly errors: readonly InputError[] } {
  const none = (path: InputPath, code: InputErrorCode, message: string) => ({
    durationMs: 0,
    errors: [wrong(path, code, message)],
  });
  const path = endsAt == null ? '/duration_seconds' : '/ends_at';
  if ((endsAt == null) === (seconds == null)) return none(path, 'required', 'give either ends_at or duration_seconds');
  const durationMs = endsAt == null ? (seconds ?? 0) * 1_000 : Date.parse(endsAt) - startsMs;
  if (endsAt != null && durationMs <= 0) return none(path, 'ends_before_start', 'must be later than starts_at');
  if (durationMs % 1_000 !== 0) return none(path, 'not_whole_seconds', 'the duration must be whole seconds');
  const { leastSeconds, mostSeconds } = maintenanceLimits;
  if (durationMs < leastSeconds * 1_000)
    return none(path, 'too_short', `a maintenance lasts ${leastSeconds} seconds at least`);
  if (durationMs > mostSeconds * 1_000)
    return none(path, 'too_long', `a maintenance lasts 31 days at most, this one ${inDays(durationMs)} days`);
  return { durationMs, errors: [] };
}

const inDays = (ms: number): number => Math.ceil(ms / 86_400_000);

function startErrors(startsMs: number, rule: Rule | null, nowMs: number): InputError[] {
  if (startsMs > nowMs + farMs) return [wrong('/starts_at', 'too_far', 'must lie within the next five years')];
  // A series may have begun long ago: only what is to come of it takes place.
  if (rule !== null)
    return startsMs < nowMs - farMs ? [wrong('/starts_at', 'in_the_past', 'must lie within the last five years')] : [];
  if (startsMs >= nowMs - pastMs) return [];
  const advice =
    'must not be earlier than five minutes ago; downtime of the past is taken out by a correction of the SLA';
  return [wrong('/starts_at', 'in_the_past', advice)];
}

function ruleOf(text: string | null): { readonly rule: Rule | null; readonly errors: readonly InputError[] } {
  if (text === null) return { rule: null, errors: [] };
  try {
    return { rule: readRule(text), errors: [] };
  } catch (error) {
    if (!(error instanceof RuleError)) throw error;
    return { rule: null, errors: [wrong('/rrule', 'invalid_rule', error.message)] };
  }
}

/** Windows that are looked at for whether they ever end. */
const looksAt = 3;

function errorsOfSeries(schedule: Schedule, rule: Rule): InputError[] {
  const [first] = occurrencesOf({ ...schedule, exceptMs: [] }, schedule.startsMs);
  if (first === undefined)
    return [wrong('/rrule', 'no_occurrence', 'the rule has no instance within nine years of starts_at')];
  // RFC 5545, 3.8.5.3, leaves open what a start that is no instance means; programs differ.
  if (first.startsMs !== schedule.startsMs) {
    const iso = new Date(first.startsMs).toISOString();
    return [wrong('/starts_at', 'not_an_occurrence', `must be the first instance of the rule, which is ${iso}`)];
  }
  // One that counts ends by itself.
  if (rule.count !== null) return [];
  let looked = 0;
  for (const { startsMs, endsMs } of windowsOf(schedule, schedule.startsMs)) {
    if (endsMs - startsMs > longestMs - schedule.durationMs && endsMs - startsMs > schedule.durationMs)
      return [wrong('/duration_seconds', 'overlaps_for_ever', 'the occurrences overlap for more than 31 days')];
    looked += 1;
    if (looked >= looksAt) break;
  }
  return [];
}
