import type { Maintenance } from '@parallax/api-contract';
import { escapeText, fold, instantText } from '../../../platform/calendar-text.ts';
import { storedOfAnswer } from '../answer.ts';
import { occurrencesOf } from '../recurrence/occurrences.ts';
import type { Schedule } from '../recurrence/occurrences.ts';
import type { Rule } from '../recurrence/rule.ts';
import { instantOf, wallOf } from '../recurrence/zone.ts';
import { scheduleOf } from '../schedule.ts';
import { wallText } from './times.ts';
import { zoneLines } from './zones.ts';

const dayMs = 86_400_000;
/** Instances that daylight saving shifts are named so far ahead; who subscribes reads the calendar again long before. */
const shiftedAheadMs = 2 * 366 * dayMs;
const zonesAheadMs = 6 * 366 * dayMs;

/** A maintenance, and the identity that it was imported with. */
export type CalendarEntry = { readonly maintenance: Maintenance; readonly uid: string | null };

export type CalendarOptions = {
  /** Of the workspace. */
  readonly name: string;
  /** Tells the events of installations apart. */
  readonly host: string;
  readonly nowMs: number;
};

/** The maintenance of a workspace as a calendar (RFC 5545). */
export function calendarText(entries: readonly CalendarEntry[], options: CalendarOptions): string {
  const schedules = entries.map((entry) => ({ ...entry, schedule: scheduleOf(storedOfAnswer(entry.maintenance)) }));
  const zones = new Map<string, number>();
  for (const { schedule } of schedules) {
    if (!isLocal(schedule)) continue;
    zones.set(schedule.zone, Math.min(zones.get(schedule.zone) ?? options.nowMs, schedule.startsMs));
  }
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Parallax//Maintenance//EN',
    'CALSCALE:GREGORIAN',
    'METHOD:PUBLISH',
    `X-WR-CALNAME:${escapeText(options.name)}`,
    'REFRESH-INTERVAL;VALUE=DURATION:PT1H',
    ...[...zones].flatMap(([zone, fromMs]) => zoneLines(zone, fromMs - 2 * dayMs, options.nowMs + zonesAheadMs)),
    ...schedules.flatMap((entry) => eventLines(entry, options)),
    'END:VCALENDAR',
  ];
  return `${lines.map(fold).join('\r\n')}\r\n`;
}

/** A series repeats by the wall clock of its zone; all else is told in UTC. */
const isLocal = ({ rule, zone }: Schedule): boolean => rule !== null && zone !== 'UTC';

function eventLines(
  { maintenance, uid, schedule }: CalendarEntry & { readonly schedule: Schedule },
  { host, nowMs }: CalendarOptions,
): string[] {
  const { zone } = schedule;
  const time = (name: string, ms: readonly number[]): string =>
    isLocal(schedule)
      ? `${name};TZID=${zone}:${ms.map((each) => wallText(wallOf(each, zone))).join(',')}`
      : `${name}:${ms.map(instantText).join(',')}`;
  const shifted = schedule.rule === null ? [] : shiftedOf(schedule, nowMs);
  return [
    'BEGIN:VEVENT',
    `UID:${escapeText(uid ?? `maintenance-${maintenance.id}@${host}`)}`,
    `DTSTAMP:${instantText(Date.parse(maintenance.updated_at))}`,
    `LAST-MODIFIED:${instantText(Date.parse(maintenance.updated_at))}`,
    `SEQUENCE:${maintenance.version - 1}`,
    time('DTSTART', [schedule.startsMs]),
    `DURATION:PT${schedule.durationMs / 1_000}S`,
    ...(schedule.rule === null ? [] : [`RRULE:${ruleText(maintenance.rrule ?? '', schedule, schedule.rule)}`]),
    ...(schedule.exceptMs.length === 0 ? [] : [time('EXDATE', schedule.exceptMs)]),
    ...(shifted.length === 0 ? [] : [time('RDATE', shifted)]),
    `SUMMARY:${escapeText(maintenance.name)}`,
    ...(maintenance.description === '' ? [] : [`DESCRIPTION:${escapeText(maintenance.description)}`]),
    `STATUS:${maintenance.status === 'cancelled' ? 'CANCELLED' : 'CONFIRMED'}`,
    'TRANSP:TRANSPARENT',
    'END:VEVENT',
  ];
}

/** Instances in the gap of daylight saving are none for a calendar (RFC 5545, 3.3.10), so they stand there as dates of their own. */
function shiftedOf(schedule: Schedule, nowMs: number): number[] {
  const untilMs = Math.max(nowMs, schedule.startsMs) + shiftedAheadMs;
  const found: number[] = [];
  for (const { startsMs, isShifted } of occurrencesOf(schedule, schedule.startsMs)) {
    if (startsMs > untilMs) break;
    if (isShifted) found.push(startsMs);
  }
  return found;
}

/**
 * The rule as a calendar reads it: what counts would count past an instance in a gap, so its last one is named instead; an end must be in UTC.
 */
function ruleText(text: string, schedule: Schedule, rule: Rule): string {
  const parts = text.split(';').filter((part) => !part.startsWith('UNTIL=') && !part.startsWith('COUNT='));
  if (rule.until !== null) {
    const { kind, ms } = rule.until;
    const untilMs = kind === 'instant' ? ms : instantOf(ms, schedule.zone).ms;
    return [...parts, `UNTIL=${instantText(untilMs)}`].join(';');
  }
  if (rule.count === null) return text;
  const starts = [...occurrencesOf({ ...schedule, exceptMs: [] }, schedule.startsMs)];
  const last = starts.at(-1);
  return starts.length < rule.count || last === undefined
    ? text
    : [...parts, `UNTIL=${instantText(last.startsMs)}`].join(';');
}
