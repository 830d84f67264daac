import type { Maintenance } from '@parallax/api-contract';
import { occurrencesOf, scheduleOf } from '../recurrence/occurrences.ts';
import { localTime } from '../recurrence/zone.ts';
import { escapeText, foldLine } from './lines.ts';

const pad = (value: number, length = 2): string => String(value).padStart(length, '0');

/** An instant in UTC (RFC 5545, section 3.3.5, form 2). */
export const utcText = (ms: number): string =>
  new Date(ms)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(/[-:]/g, '');

function localText(ms: number, zone: string): string {
  const { year, month, day, hour, minute, second } = localTime(ms, zone);
  return `${pad(year, 4)}${pad(month)}${pad(day)}T${pad(hour)}${pad(minute)}${pad(second)}`;
}

const uidOf = (windowId: number, host: string): string => `maintenance-${windowId}@${host}`;

/** The number of the window that such a calendar gives a UID; null for one of elsewhere. */
export function windowOfUid(uid: string | null, host: string): number | null {
  const id = Number(/^maintenance-(\d{1,9})@/.exec(uid ?? '')?.[1] ?? Number.NaN);
  return uid === uidOf(id, host) ? id : null;
}

/** Shifted occurrences are written so far ahead; calendars ask again long before. */
const shiftsAheadMs = 2 * 366 * 86_400_000;

/**
 * Windows as a calendar (RFC 5545). A series recurs by its rule in its zone; zones are named as IANA does, which calendars know, without
 * VTIMEZONE (RFC 7809). An occurrence in the gap of daylight saving, over which programs disagree, is given by an RDATE in UTC in place of
 * the one of the rule.
 */
export function writeCalendar(windows: readonly Maintenance[], host: string, nowMs: number): string {
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Parallax//Maintenance//EN',
    'CALSCALE:GREGORIAN',
    'METHOD:PUBLISH',
    'X-WR-CALNAME:Maintenance',
    'REFRESH-INTERVAL;VALUE=DURATION:PT15M',
    'X-PUBLISHED-TTL:PT15M',
    ...windows.flatMap((window) => eventOf(window, host, nowMs)),
    'END:VCALENDAR',
  ];
  return lines.map(foldLine).join('');
}

function eventOf(window: Maintenance, host: string, nowMs: number): string[] {
  const startsMs = Date.parse(window.starts_at);
  const zone = window.timezone;
  const isSeries = window.rrule !== null && zone !== 'UTC';
  const start = isSeries ? `DTSTART;TZID=${zone}:${localText(startsMs, zone)}` : `DTSTART:${utcText(startsMs)}`;
  const status = window.status === 'cancelled' ? 'CANCELLED' : 'CONFIRMED';
  return [
    'BEGIN:VEVENT',
    `UID:${uidOf(window.id, host)}`,
    `DTSTAMP:${utcText(Date.parse(window.updated_at))}`,
    `SEQUENCE:${window.version}`,
    start,
    `DURATION:PT${window.duration_seconds}S`,
    ...(window.rrule === null ? [] : [`RRULE:${window.rrule.replace(/^RRULE:/i, '').toUpperCase()}`]),
    ...window.exdates.map((text) => `EXDATE:${utcText(Date.parse(text))}`),
    ...shifts(window, nowMs),
    `SUMMARY:${escapeText(window.title)}`,
    ...(window.description === '' ? [] : [`DESCRIPTION:${escapeText(window.description)}`]),
    `STATUS:${status}`,
    'TRANSP:TRANSPARENT',
    'END:VEVENT',
  ];
}

/** The shifted occurrences of a series: the local time that does not exist is left out, and the instant is named. */
function shifts(window: Maintenance, nowMs: number): string[] {
  if (window.rrule === null) return [];
  const schedule = scheduleOf({
    startsMs: Date.parse(window.starts_at),
    durationMs: window.duration_seconds * 1_000,
    rrule: window.rrule,
    zone: window.timezone,
    exceptMs: window.exdates.map((text) => Date.parse(text)),
  });
  const lines: string[] = [];
  const nominal = localText(schedule.startsMs, schedule.zone).slice(8);
  for (const occurrence of occurrencesOf(schedule)) {
    if (occurrence.startsMs > nowMs + shiftsAheadMs) break;
    if (!occurrence.isShifted) continue;
    const day = localText(occurrence.startsMs, schedule.zone).slice(0, 8);
    lines.push(`EXDATE;TZID=${schedule.zone}:${day}${nominal}`, `RDATE:${utcText(occurrence.startsMs)}`);
  }
  return lines;
}
