import type { CronExpression } from './cron-expression.ts';
import type { ZoneClock } from './zone-clock.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** 29 February on a given weekday comes within 40 years. */
const mostYears = 50;

/** Clocks that are set by no more than this are what cron(8) handles; more counts as a correction of the clock, and what was skipped is not made up for. */
const handledMs = 3 * hourMs;

/**
 * When a job is run next after an instant, strictly: by cron(8) of Debian ("Local time changes of less than three hours"). Jobs with `*` in minute or
 * hour follow the wall. Others run once: those of an hour that is left out right after it, those of an hour that is lived twice the first time.
 * @returns undefined when it never is
 */
export function nextCron(cron: CronExpression, zone: ZoneClock, afterMs: number): number | undefined {
  return cron.isWild ? nextWild(cron, zone, afterMs) : nextFixed(cron, zone, afterMs);
}

function nextWild(cron: CronExpression, zone: ZoneClock, afterMs: number): number | undefined {
  let atMs = nextMinute(afterMs);
  // Beyond this nothing that was shown before can be shown again, so what lies between here and the next match need not be looked at.
  const walkedMs = atMs + 2 * dayMs;
  let found: { readonly fromMs: number; readonly wallMs: number } | undefined;
  for (;;) {
    const { offsetMs, untilMs } = zone.segmentAt(atMs);
    const wallMs = ceilMinute(atMs + offsetMs);
    if (found === undefined || wallMs < found.fromMs || wallMs > found.wallMs) {
      const next = nextWall(cron, wallMs);
      if (next === undefined) return undefined;
      found = { fromMs: wallMs, wallMs: next };
    }
    const instantMs = found.wallMs - offsetMs;
    if (instantMs < untilMs) return instantMs;
    atMs = untilMs >= walkedMs ? Math.max(untilMs, instantMs - 2 * dayMs) : untilMs;
  }
}

function nextFixed(cron: CronExpression, zone: ZoneClock, afterMs: number): number | undefined {
  const { offsetMs } = zone.segmentAt(afterMs);
  const highestMs = zone.highestWallBefore(afterMs, handledMs);
  // Clocks that were set back by more start anew.
  const isRepeated = highestMs - (afterMs + offsetMs) < handledMs;
  const present = nextMinute(afterMs) + offsetMs;
  let wallMs: number | undefined = nextWall(cron, ceilMinute(isRepeated ? Math.max(present, highestMs) : present));
  while (wallMs !== undefined) {
    const instantMs = zone.firstInstantOf(wallMs);
    if (instantMs !== undefined) {
      if (instantMs > afterMs) return instantMs;
      wallMs = nextWall(cron, wallMs + minuteMs);
      continue;
    }
    const gap = zone.gapAt(wallMs);
    if (gap.sizeMs <= handledMs) return gap.atMs;
    wallMs = nextWall(cron, ceilMinute(gap.toWallMs));
  }
  return undefined;
}

/** The first minute of the calendar that fits, at or after a wall time, which need not be shown by any clock. */
export function nextWall(cron: CronExpression, fromMs: number): number | undefined {
  const from = new Date(fromMs);
  let dayStartMs = Date.UTC(from.getUTCFullYear(), from.getUTCMonth(), from.getUTCDate());
  const endMs = Date.UTC(from.getUTCFullYear() + mostYears, 0, 1);
  while (dayStartMs < endMs) {
    const day = new Date(dayStartMs);
    if (cron.months[day.getUTCMonth() + 1] !== 1) {
      dayStartMs = Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 1);
      continue;
    }
    if (isOnDay(cron, day)) {
      const minute = nextInDay(cron, Math.max(0, (fromMs - dayStartMs) / minuteMs));
      if (minute !== undefined) return dayStartMs + minute * minuteMs;
    }
    dayStartMs += dayMs;
  }
  return undefined;
}

function isOnDay(cron: CronExpression, day: Date): boolean {
  const isDay = cron.days[day.getUTCDate()] === 1;
  const isWeekday = cron.weekdays[day.getUTCDay()] === 1;
  return cron.needsBothDays ? isDay && isWeekday : isDay || isWeekday;
}

function nextInDay(cron: CronExpression, fromMinute: number): number | undefined {
  for (let hour = Math.floor(fromMinute / 60); hour < 24; hour += 1) {
    if (cron.hours[hour] !== 1) continue;
    const first = hour === Math.floor(fromMinute / 60) ? fromMinute % 60 : 0;
    for (let minute = first; minute < 60; minute += 1) if (cron.minutes[minute] === 1) return hour * 60 + minute;
  }
  return undefined;
}

const nextMinute = (ms: number): number => (Math.floor(ms / minuteMs) + 1) * minuteMs;
const ceilMinute = (ms: number): number => Math.ceil(ms / minuteMs) * minuteMs;
