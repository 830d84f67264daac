import { parseCalendar } from './calendar-expression.ts';
import { nextCalendar } from './calendar-next.ts';
import { parseCron } from './cron-expression.ts';
import { nextCron } from './cron-next.ts';
import { ScheduleError } from './schedule-error.ts';
import { zoneClock } from './zone-clock.ts';

/** What says when a signal is expected. */
export type ScheduleSettings = {
  readonly schedule_type: 'period' | 'cron' | 'on_calendar';
  /** The expression of a cron or calendar schedule. */
  readonly schedule: string | null;
  readonly timezone: string;
  /** Of a period. */
  readonly expected_interval_seconds: number;
};

export type Schedule = {
  /** When the next signal is expected after an instant, milliseconds; undefined: never more. */
  readonly next: (afterMs: number) => number | undefined;
};

const known = new Map<string, Schedule>();

/**
 * The schedule of some settings; made once for equal ones.
 * @throws ScheduleError when the expression or the zone cannot be read
 */
export function scheduleOf(settings: ScheduleSettings): Schedule {
  const { schedule_type: type, schedule, timezone, expected_interval_seconds: seconds } = settings;
  if (type === 'period') return { next: (afterMs) => afterMs + seconds * 1_000 };
  const key = JSON.stringify([type, schedule, timezone]);
  const made = known.get(key) ?? read(type, schedule ?? '', timezone);
  if (known.size > 10_000) known.clear();
  known.set(key, made);
  return made;
}

function read(type: 'cron' | 'on_calendar', text: string, timezone: string): Schedule {
  if (text.length > 200) throw new ScheduleError('the schedule is longer than 200 characters');
  if (type === 'cron') {
    const cron = parseCron(text);
    const zone = clockOf(timezone);
    return { next: (afterMs) => nextCron(cron, zone, afterMs) };
  }
  const calendar = parseCalendar(text);
  const zone = clockOf(calendar.zone ?? timezone);
  return { next: (afterMs) => nextCalendar(calendar, zone, afterMs) };
}

function clockOf(timezone: string) {
  try {
    return zoneClock(timezone);
  } catch (error) {
    throw new ScheduleError(`${timezone.slice(0, 60)} is no time zone of the IANA database`, { cause: error });
  }
}

/**
 * Judges a schedule before it is kept.
 * @throws ScheduleError also for one that never comes after `nowMs`, such as 30 February
 */
export function requireSchedule(settings: ScheduleSettings, nowMs: number): Schedule {
  const schedule = scheduleOf(settings);
  if (schedule.next(nowMs) === undefined) throw new ScheduleError('this never comes: no date fits, or all have passed');
  return schedule;
}
