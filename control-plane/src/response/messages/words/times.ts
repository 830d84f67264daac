import type { DurationParts } from './words.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** A duration as people say it: its two largest units. Negative ones are 0. */
export function durationParts(ms: number): DurationParts {
  const whole = Math.max(0, ms);
  if (whole < minuteMs) return nonZero(['s', Math.floor(whole / 1000)]);
  if (whole < hourMs) return nonZero(['min', Math.floor(whole / minuteMs)]);
  if (whole < dayMs)
    return nonZero(['h', Math.floor(whole / hourMs)], ['min', Math.floor((whole % hourMs) / minuteMs)]);
  return nonZero(['d', Math.floor(whole / dayMs)], ['h', Math.floor((whole % dayMs) / hourMs)]);
}

/** Whole days from two on: nobody plans a renewal by the hour. */
export function untilParts(ms: number): DurationParts {
  return ms >= 2 * dayMs ? [['d', Math.floor(ms / dayMs)]] : durationParts(ms);
}

function nonZero(...parts: readonly (readonly ['d' | 'h' | 'min' | 's', number])[]): DurationParts {
  return parts.filter(([, count]) => count > 0);
}

/** By language, zone and shape; a process serves few of each. */
const formats = new Map<string, Intl.DateTimeFormat>();
const mostFormats = 500;

function formatOf(language: string, zone: string, shape: 'time' | 'day'): Intl.DateTimeFormat {
  const key = `${language} ${zone} ${shape}`;
  const known = formats.get(key);
  if (known !== undefined) return known;
  if (formats.size >= mostFormats) formats.clear();
  // Short months have a full stop in Russian, which would end sentences.
  const month = shape === 'time' ? {} : ({ month: language.startsWith('ru') ? 'long' : 'short' } as const);
  const made = new Intl.DateTimeFormat(language, { timeZone: zone, ...shapes[shape], ...month });
  formats.set(key, made);
  return made;
}

const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZoneName: 'short' } as const;
const day = { day: 'numeric', year: 'numeric' } as const;
const shapes = { time, day } as const;

/** The zone as it may be used; UTC in place of what is none. */
export function knownZone(zone: string): string {
  try {
    formatOf('en-GB', zone, 'day');
    return zone;
  } catch {
    return 'UTC';
  }
}

/** "14:03 CET" when it is the day of `nowMs` in the zone, else "23 Nov 2026, 14:03 CET". */
export function momentOf(language: string, zone: string, ms: number, nowMs: number): string {
  const days = formatOf(language, zone, 'day');
  return days.format(ms) === days.format(nowMs)
    ? formatOf(language, zone, 'time').format(ms)
    : wholeMomentOf(language, zone, ms);
}

/** "23 Nov 2026, 14:03 CET", whichever day it is. */
export function wholeMomentOf(language: string, zone: string, ms: number): string {
  return `${dayOf(language, zone, ms)}, ${formatOf(language, zone, 'time').format(ms)}`;
}

/** "30 Nov 2026". */
export function dayOf(language: string, zone: string, ms: number): string {
  return withoutYearMark(formatOf(language, zone, 'day').format(ms));
}

/** Russian writes «2026 г.»; the full stop would double the one of a sentence. */
function withoutYearMark(text: string): string {
  return text.replace(/\sг\.?/u, '');
}
