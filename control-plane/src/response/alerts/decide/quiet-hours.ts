import { severities } from '../alert.ts';
import type { QuietHours, QuietWindow, Severity } from '../alert.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;

/**
 * Until when quiet hours last that cover an instant, milliseconds since the epoch; null when none do, or when this is severe enough to be told
 * all the same. Windows that touch or overlap are one silence. After a week it is looked at again: windows may leave no gap.
 */
export function quietUntil(quiet: QuietHours | null, severity: Severity, nowMs: number): number | null {
  if (quiet === null || isExcepted(quiet, severity)) return null;
  const horizonMs = nowMs + 7 * dayMs;
  let untilMs = nowMs;
  for (;;) {
    const endMs = endOfSilence(quiet, untilMs);
    if (endMs === null) return untilMs === nowMs ? null : untilMs;
    if (endMs >= horizonMs) return horizonMs;
    untilMs = endMs;
  }
}

function isExcepted({ except_severity: least }: QuietHours, severity: Severity): boolean {
  return least !== null && severities.indexOf(severity) >= severities.indexOf(least);
}

/** The latest end of the windows that cover an instant. */
function endOfSilence({ windows, timezone }: QuietHours, atMs: number): number | null {
  const today = wallClock(timezone, atMs).dayMs;
  let latestMs: number | null = null;
  // One that began yesterday may last. Clocks are put back by an hour at most, so no other day matters.
  for (const startDayMs of [today - dayMs, today]) {
    for (const window of windows) {
      if (!window.days.includes(isoWeekday(startDayMs))) continue;
      const { startMs, endMs } = instants(window, timezone, startDayMs);
      if (startMs <= atMs && atMs < endMs && (latestMs === null || endMs > latestMs)) latestMs = endMs;
    }
  }
  return latestMs;
}

function instants(window: QuietWindow, timezone: string, startDayMs: number) {
  const [start, end] = [minutesOf(window.start), minutesOf(window.end)];
  const endDayMs = end <= start ? startDayMs + dayMs : startDayMs;
  return {
    startMs: instantOf(timezone, startDayMs + start * minuteMs, 'first'),
    endMs: instantOf(timezone, endDayMs + end * minuteMs, 'last'),
  };
}

/**
 * The instant at which clocks of a zone show a time, given as if it were UTC. What clocks show twice means the first or the last of both; what
 * they skip, the moment at which they do.
 */
function instantOf(timezone: string, localMs: number, which: 'first' | 'last'): number {
  const around = [localMs - dayMs, localMs + dayMs].map((ms) => wallClock(timezone, ms).offsetMs);
  const candidates = [...new Set(around)].map((offsetMs) => localMs - offsetMs);
  const shown = candidates.filter((ms) => ms + wallClock(timezone, ms).offsetMs === localMs);
  if (shown.length > 0) return which === 'first' ? Math.min(...shown) : Math.max(...shown);
  return gapEnd(timezone, Math.min(...candidates), Math.max(...candidates));
}

/** The first instant of the later offset between two instants. */
function gapEnd(timezone: string, fromMs: number, toMs: number): number {
  const before = wallClock(timezone, fromMs).offsetMs;
  let [low, high] = [fromMs, toMs];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (wallClock(timezone, middle).offsetMs === before) low = middle;
    else high = middle;
  }
  return high;
}

const minutesOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5));

const isoWeekday = (utcDayMs: number): number => ((new Date(utcDayMs).getUTCDay() + 6) % 7) + 1;

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timezone: string): Intl.DateTimeFormat {
  let format = formats.get(timezone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(timezone, format);
  }
  return format;
}

/** Clocks are moved at full quarters of an hour. */
const quarterMs = 15 * minuteMs;
const mostOffsets = 20_000;
const offsets = new Map<string, number>();

/** How far the clocks of a zone are ahead of UTC. Asked often for the same quarters: formatting a date costs more than all the rest here. */
function offsetOf(timezone: string, atMs: number): number {
  const quarter = Math.floor(atMs / quarterMs);
  const key = `${quarter} ${timezone}`;
  let offsetMs = offsets.get(key);
  if (offsetMs === undefined) {
    const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
    const startMs = quarter * quarterMs;
    for (const { type, value } of formatOf(timezone).formatToParts(startMs)) parts[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    offsetMs = Date.UTC(year, month - 1, day, hour, minute, second) - startMs;
    if (offsets.size >= mostOffsets) offsets.clear();
    offsets.set(key, offsetMs);
  }
  return offsetMs;
}

/** What clocks of a zone show: the day, as its beginning in UTC, and how far they are ahead of UTC. */
function wallClock(timezone: string, atMs: number): { readonly dayMs: number; readonly offsetMs: number } {
  const offsetMs = offsetOf(timezone, atMs);
  return { dayMs: Math.floor((atMs + offsetMs) / dayMs) * dayMs, offsetMs };
}
