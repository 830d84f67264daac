import { nameSchema } from '@parallax/api-contract';
import { occurrencesOf } from '../recurrence/occurrences.ts';
import { instantOf, isZone } from '../recurrence/zone.ts';
import { judgeSchedule } from '../schedule.ts';
import type { Planned } from '../schedule.ts';
import type { ContentLine } from './lines.ts';
import { textOf } from './read.ts';
import type { CalendarEvent } from './read.ts';
import { readDuration, readTime } from './times.ts';
import type { CalendarTime } from './times.ts';

/** An event as a maintenance, or why it is none. `skipped` is no fault of the file. */
export type ReadEvent = {
  readonly uid: string | null;
  readonly name: string | null;
  readonly warnings: readonly string[];
} & (
  | { readonly kind: 'planned'; readonly description: string; readonly planned: Planned; readonly title: string }
  | { readonly kind: 'skipped' | 'failed'; readonly code: string; readonly reason: string }
);

const dayMs = 86_400_000;
const mostUid = 500;
const mostName = 200;
const mostDescription = 2_000;

class EventError extends Error {
  override readonly name = 'EventError';
  readonly code: string;
  readonly kind: 'skipped' | 'failed';

  constructor(code: string, message: string, kind: 'skipped' | 'failed' = 'failed') {
    super(message);
    this.code = code;
    this.kind = kind;
  }
}

/**
 * Reads an event.
 * @param zone of times that name none
 * @param nowMs milliseconds since the epoch
 */
export function readEvent(event: CalendarEvent, zone: string, nowMs: number): ReadEvent {
  const warnings: string[] = [];
  const uid = cleanText(textOf(event, 'UID') ?? '')
    .slice(0, mostUid)
    .toWellFormed()
    .trim();
  const summary = textOf(event, 'SUMMARY');
  const named = nameSchema.safeParse((summary ?? '').replaceAll(/\s+/g, ' ').trim().slice(0, mostName).toWellFormed());
  const name = named.success ? named.data : null;
  const facts = { uid: uid === '' ? null : uid, name, warnings };
  try {
    requireWhole(event);
    if (name === null) warnings.push('it has no name that can be used, so it is called "Maintenance"');
    else if ((summary ?? '').length > mostName) warnings.push(`the name is cut at ${mostName} characters`);
    const description = cleanText(textOf(event, 'DESCRIPTION') ?? '');
    if (description.length > mostDescription) warnings.push(`the description is cut at ${mostDescription} characters`);
    const planned = scheduleOfEvent(event, zone, nowMs, warnings);
    return {
      ...facts,
      kind: 'planned',
      title: name ?? 'Maintenance',
      description: description.slice(0, mostDescription).toWellFormed(),
      planned,
    };
  } catch (error) {
    if (!(error instanceof EventError)) throw error;
    return { ...facts, kind: error.kind, code: error.code, reason: error.message };
  }
}

// Tabs and line ends stay.
const cleanText = (text: string): string => text.replaceAll(/[^\P{Cc}\t\n]/gu, '');

function requireWhole(event: CalendarEvent): void {
  const status = textOf(event, 'STATUS')?.toUpperCase();
  if (status === 'CANCELLED') throw new EventError('cancelled', 'the event is cancelled', 'skipped');
  if (textOf(event, 'RECURRENCE-ID') !== null) {
    const reason = 'it moves one instance of a series; leave that out of the series by an exdate and plan it by itself';
    throw new EventError('moved_instance', reason, 'skipped');
  }
  for (const name of ['DTSTART', 'DTEND', 'DURATION', 'RRULE']) {
    const count = event.lines.filter((line) => line.name === name).length;
    if (count > 1) throw new EventError('doubled', `${name} stands ${count} times`);
  }
}

function scheduleOfEvent(event: CalendarEvent, fallback: string, nowMs: number, warnings: string[]): Planned {
  const find = (name: string) => event.lines.find((line) => line.name === name);
  const startLine = find('DTSTART');
  if (startLine === undefined) throw new EventError('no_start', 'DTSTART is missing');
  const start = timesOf(startLine, fallback)[0];
  if (start === undefined) throw new EventError('no_start', 'DTSTART is empty');
  const zone = start.time.kind === 'instant' ? 'UTC' : start.zone;
  if (start.isShifted)
    warnings.push('daylight saving leaps over its start, so it begins later by the length of the gap');
  const durationMs = durationOf(find('DTEND'), find('DURATION'), start, fallback);
  const judged = judgeSchedule(
    {
      starts_at: new Date(start.ms).toISOString(),
      duration_seconds: durationMs / 1_000,
      rrule: find('RRULE')?.value.trim() ?? null,
      timezone: zone,
      exdates: event.lines
        .filter((line) => line.name === 'EXDATE')
        .flatMap((line) => timesOf(line, fallback))
        .map(({ ms }) => new Date(ms).toISOString()),
    },
    { nowMs },
  );
  if ('errors' in judged) {
    const [first] = judged.errors;
    const code = first?.code ?? 'invalid_input';
    const reason = `${fieldOf(first?.path ?? '')}${first?.message ?? 'the schedule is not valid'}`;
    throw new EventError(code, reason, code === 'in_the_past' ? 'skipped' : 'failed');
  }
  if (judged.stored.exdatesMs.length > 500)
    throw new EventError('too_many_exdates', 'it leaves out more than 500 instances');
  if (judged.next === undefined) throw new EventError('in_the_past', 'nothing of it is still to come', 'skipped');
  noteExtraDates(event, judged, fallback, warnings);
  return judged;
}

const fieldOf = (path: string): string =>
  ({ '/starts_at': 'DTSTART ', '/rrule': 'RRULE: ', '/duration_seconds': 'the duration: ' })[path] ?? '';

/** Instances that daylight saving shifts stand in our own calendar as dates of their own, and are made anew; others are not taken. */
function noteExtraDates(event: CalendarEvent, { schedule }: Planned, fallback: string, warnings: string[]): void {
  const extra = event.lines.filter((line) => line.name === 'RDATE').flatMap((line) => timesOf(line, fallback));
  if (extra.length === 0) return;
  const lastMs = Math.max(...extra.map(({ ms }) => ms));
  const known = new Set<number>();
  for (const { startsMs } of occurrencesOf(schedule, schedule.startsMs)) {
    if (startsMs > lastMs) break;
    known.add(startsMs);
  }
  const left = extra.filter(({ ms }) => !known.has(ms)).length;
  if (left > 0) warnings.push(`${left} additional dates (RDATE) are left out; plan them by themselves`);
}

type ZonedTime = {
  readonly time: CalendarTime;
  readonly zone: string;
  readonly ms: number;
  readonly isShifted: boolean;
};

/** The times of a property, which may be a list. */
function timesOf(line: ContentLine, fallback: string): ZonedTime[] {
  const zone = zoneOf(line.parameters.get('TZID'), fallback);
  return line.value.split(',').map((text) => {
    const time = readTime(text);
    if (time === undefined) throw new EventError('no_time', `${line.name}: "${text.slice(0, 40)}" is no time`);
    const placed = time.kind === 'instant' ? { ms: time.ms, isShifted: false } : instantOf(time.ms, zone);
    return { time, zone, ...placed };
  });
}

/** Some programs put a path before the name of the zone. */
function zoneOf(given: string | undefined, fallback: string): string {
  if (given === undefined) return fallback;
  const parts = given.split('/');
  const candidates = [given, parts.slice(-3).join('/'), parts.slice(-2).join('/')];
  const found = candidates.find((name) => name.length <= 100 && isZone(name));
  if (found !== undefined) return found;
  throw new EventError(
    'unknown_timezone',
    `there is no time zone "${given.slice(0, 100)}"; use a name such as Europe/Berlin`,
  );
}

/** A whole day lasts one day unless it says otherwise; days of a wall clock are as long as they are. */
function durationOf(
  end: ContentLine | undefined,
  duration: ContentLine | undefined,
  start: ZonedTime,
  fallback: string,
): number {
  if (end !== undefined && duration !== undefined)
    throw new EventError('doubled', 'DTEND and DURATION exclude each other');
  if (duration !== undefined) {
    const ms = readDuration(duration.value);
    if (ms === undefined) throw new EventError('no_duration', `DURATION: "${duration.value.slice(0, 40)}" is none`);
    return ms;
  }
  if (end !== undefined) {
    const last = timesOf(end, fallback)[0];
    if (last === undefined) throw new EventError('no_end', 'DTEND is empty');
    if (last.ms <= start.ms) throw new EventError('ends_before_start', 'DTEND is not later than DTSTART');
    return last.ms - start.ms;
  }
  if (start.time.kind === 'day') return dayMs;
  throw new EventError('no_end', 'DTEND or DURATION is missing');
}
