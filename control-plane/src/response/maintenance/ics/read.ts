import { instantOf } from '../recurrence/zone.ts';
import { readLines, unescapeText } from './lines.ts';
import type { ContentLine } from './lines.ts';

/** An event of a calendar, as far as a window is made of it. */
export type CalendarEvent = {
  readonly uid: string | null;
  readonly title: string;
  readonly description: string;
  readonly isCancelled: boolean;
  /** Why no window can be made of it; the rest is then not to be used. */
  readonly problem: string | null;
  readonly startsMs: number;
  readonly durationSeconds: number;
  readonly rrule: string | null;
  readonly zone: string;
  readonly exceptMs: readonly number[];
};

/** Says why a file is no calendar. */
export class CalendarError extends Error {
  override readonly name = 'CalendarError';
}

export const mostEvents = 500;

/**
 * Reads the events of a calendar (RFC 5545). What a window cannot be is said of each event; times without a zone are UTC.
 * @throws CalendarError for what is no calendar, or has too many events
 */
export function readCalendar(text: string): CalendarEvent[] {
  const lines = readLines(text);
  if (!lines.some(({ name, value }) => name === 'BEGIN' && value.toUpperCase() === 'VCALENDAR')) {
    throw new CalendarError('this is no calendar: it has no BEGIN:VCALENDAR');
  }
  const events: ContentLine[][] = [];
  // Alarms and the like stand within an event, and their lines are theirs.
  const open: string[] = [];
  for (const line of lines) {
    const value = line.value.trim().toUpperCase();
    if (line.name === 'BEGIN') {
      open.push(value);
      if (value === 'VEVENT') events.push([]);
    } else if (line.name === 'END') {
      const at = open.lastIndexOf(value);
      if (at !== -1) open.length = at;
    } else if (open.at(-1) === 'VEVENT') {
      events.at(-1)?.push(line);
    }
  }
  if (events.length > mostEvents)
    throw new CalendarError(`the calendar has ${events.length} events; ${mostEvents} can be imported at once`);
  return events.map(readEvent);
}

class EventError extends Error {}

function readEvent(lines: readonly ContentLine[]): CalendarEvent {
  const find = (name: string) => lines.find((line) => line.name === name);
  const uid = find('UID')?.value.trim().slice(0, 500) ?? '';
  const shown = {
    uid: uid === '' ? null : uid,
    title: clean(unescapeText(find('SUMMARY')?.value ?? '')).slice(0, 200) || 'Maintenance',
    description: cleanLines(unescapeText(find('DESCRIPTION')?.value ?? '')).slice(0, 2_000),
    isCancelled: find('STATUS')?.value.trim().toUpperCase() === 'CANCELLED',
  };
  try {
    return { ...shown, problem: null, ...timesOf(lines, find) };
  } catch (error) {
    if (!(error instanceof EventError)) throw error;
    return {
      ...shown,
      problem: error.message,
      startsMs: 0,
      durationSeconds: 0,
      rrule: null,
      zone: 'UTC',
      exceptMs: [],
    };
  }
}

const clean = (text: string): string =>
  text
    .normalize('NFC')
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim();
const cleanLines = (text: string): string => text.replaceAll(/[^\P{Cc}\t\n\r]/gu, ' ').trim();

function timesOf(lines: readonly ContentLine[], find: (name: string) => ContentLine | undefined) {
  const start = find('DTSTART');
  if (start === undefined) throw new EventError('the event has no DTSTART');
  if (find('RECURRENCE-ID') !== undefined)
    throw new EventError('one occurrence of a series that was moved (RECURRENCE-ID): plan it by itself');
  const rule = find('RRULE')?.value.trim() ?? null;
  const begin = timeOf(start);
  const exceptMs = lines.filter(({ name }) => name === 'EXDATE').flatMap((line) => eachOf(line).map(({ ms }) => ms));
  // A date of its own is taken where it replaces one that clocks skip: then the rule gives it, shifted.
  const added = lines.filter(({ name }) => name === 'RDATE').flatMap((line) => eachOf(line).map(({ ms }) => ms));
  if (added.some((ms) => !exceptMs.includes(ms)))
    throw new EventError('the event has dates beside its rule (RDATE): plan them by themselves');
  return {
    startsMs: begin.ms,
    durationSeconds: durationOf(find, begin),
    rrule: rule,
    zone: begin.zone,
    exceptMs: rule === null ? [] : exceptMs.filter((ms) => !added.includes(ms)),
  };
}

type Time = { readonly ms: number; readonly zone: string; readonly isDate: boolean };

function eachOf(line: ContentLine): Time[] {
  return line.value.split(',').map((value) => timeOf({ ...line, value }));
}

function timeOf({ value, parameters, name }: ContentLine): Time {
  const match = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?$/.exec(value.trim().toUpperCase());
  if (match === null) throw new EventError(`${name} is no date: ${value.slice(0, 40)}`);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const zone = match[7] === 'Z' ? 'UTC' : (parameters.get('TZID') ?? 'UTC');
  const isDate = match[4] === undefined;
  try {
    const { ms } = instantOf({ year, month, day, hour, minute, second }, zone);
    if (Number.isNaN(ms)) throw new RangeError('no date');
    return { ms, zone, isDate };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new EventError(`the time zone ${zone.slice(0, 100)} is none of IANA's`);
  }
}

function durationOf(find: (name: string) => ContentLine | undefined, begin: Time): number {
  const end = find('DTEND');
  if (end !== undefined) return Math.round((timeOf(end).ms - begin.ms) / 1_000);
  const duration = find('DURATION');
  // A whole day where there is neither (section 3.6.1).
  if (duration === undefined) return begin.isDate ? 86_400 : 0;
  const match = /^\+?P(?:(\d{1,5})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,7})H)?(?:(\d{1,7})M)?(?:(\d{1,9})S)?)?$/.exec(
    duration.value.trim().toUpperCase(),
  );
  if (match === null) throw new EventError(`DURATION is none: ${duration.value.slice(0, 40)}`);
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match.slice(1).map((part) => Number(part ?? 0));
  return weeks * 604_800 + days * 86_400 + hours * 3_600 + minutes * 60 + seconds;
}
