import { lastYear } from './calendar-expression.ts';
import type { CalendarExpression, Component } from './calendar-expression.ts';
import type { ZoneClock } from './zone-clock.ts';

const secondMs = 1_000;
const dayMs = 86_400_000;

/**
 * When a calendar event elapses next after an instant, strictly: as systemd does it, at each time that the wall shows, the first time that it shows it.
 * What is left out when clocks are set forward does not happen, and what is lived twice happens once.
 * @returns undefined when it never does
 */
export function nextCalendar(calendar: CalendarExpression, zone: ZoneClock, afterMs: number): number | undefined {
  const afterWallMs = Math.floor(zone.wallOf(afterMs) / secondMs) * secondMs + secondMs;
  const shownMs = Math.ceil(zone.highestWallBefore(afterMs, dayMs) / secondMs) * secondMs;
  let wallMs: number | undefined = nextWall(calendar, Math.max(afterWallMs, shownMs));
  while (wallMs !== undefined) {
    const instantMs = zone.firstInstantOf(wallMs);
    if (instantMs !== undefined && instantMs > afterMs) return instantMs;
    wallMs = nextWall(calendar, instantMs === undefined ? zone.gapAt(wallMs).toWallMs : wallMs + secondMs);
  }
  return undefined;
}

/** Far more than any event takes that comes within the years of the calendar. */
const mostSteps = 100_000;

/**
 * The first second of the calendar that fits, at or after a wall time. A step that leads beyond the end of its component (minute 75 of `*:0/25`) is
 * carried over as systemd carries it: what is left over stays where the carry goes further than one place, so that after 23:50 follows 00:25. A timer of
 * systemd does not start anything at 00:00 then, so nothing is expected either.
 */
export function nextWall(calendar: CalendarExpression, fromMs: number): number | undefined {
  let wall = wallOf(new Date(fromMs));
  for (let step = 0; step < mostSteps; step += 1) {
    const next = advance(calendar, wall);
    if (next === undefined || next.isFound) return next?.isFound === true ? msOf(next.wall) : undefined;
    // Values beyond their end, such as day 32, become what they mean.
    wall = wallOf(new Date(msOf(next.wall)));
  }
  return undefined;
}

type Wall = {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
};

const midnight = { hour: 0, minute: 0, second: 0 };

/** Moves the first component that does not fit, with all below it at their least; found when all fit. */
function advance(
  calendar: CalendarExpression,
  at: Wall,
): { readonly wall: Wall; readonly isFound: boolean } | undefined {
  const to = (change: Partial<Wall>) => ({ wall: { ...at, ...change }, isFound: false });

  const year = nextOf(calendar.years, at.year);
  if (year === undefined || year > lastYear) return undefined;
  if (year !== at.year) return to({ year, month: 1, day: 1, ...midnight });

  const month = nextOf(calendar.months, at.month);
  if (month === undefined || month > 12) return to({ year: year + 1, month: 1, day: 1, ...midnight });
  if (month !== at.month) return to({ month, day: 1, ...midnight });

  const lastDay = new Date(Date.UTC(year, month, 0)).getUTCDate();
  const day = nextOf(daysOf(calendar, lastDay), at.day);
  if (day === undefined) return to({ month: month + 1, day: 1, ...midnight });
  if (day > lastDay) return to({ month: month + 1, day: month === 12 ? day - lastDay : 1, ...midnight });
  if (day !== at.day) return to({ day, ...midnight });
  // 0 is Monday there and Sunday here.
  const weekday = (new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 6) % 7;
  if (calendar.weekdays?.has(weekday) === false) return to({ day: day + 1, ...midnight });

  const hour = nextOf(calendar.hours, at.hour);
  if (hour === undefined) return to({ day: day + 1, ...midnight });
  if (hour > 23) return to({ day: day + 1, ...midnight, hour: day === lastDay ? hour - 24 : 0 });
  if (hour !== at.hour) return to({ hour, minute: 0, second: 0 });

  const minute = nextOf(calendar.minutes, at.minute);
  if (minute === undefined) return to({ hour: hour + 1, minute: 0, second: 0 });
  if (minute > 59) return to({ hour: hour + 1, minute: hour === 23 ? minute - 60 : 0, second: 0 });
  if (minute !== at.minute) return to({ minute, second: 0 });

  const second = nextOf(calendar.seconds, at.second);
  if (second === undefined) return to({ minute: minute + 1, second: 0 });
  if (second > 59) return to({ minute: minute + 1, second: minute === 59 ? second - 60 : 0 });
  return { wall: { ...at, second }, isFound: true };
}

function daysOf(calendar: CalendarExpression, lastDay: number): Component {
  if (!calendar.isFromEnd) return calendar.days;
  return calendar.days?.map(({ start, stop, step }) =>
    stop === undefined
      ? { start: lastDay + 1 - start, stop, step }
      : { start: lastDay + 1 - stop, stop: lastDay + 1 - start, step },
  );
}

/** The least value of a component from `from` on, which may lie beyond its end. */
function nextOf(component: Component, from: number): number | undefined {
  if (component === undefined) return from;
  let least: number | undefined;
  for (const { start, stop, step } of component) {
    const value = from <= start ? start : start + Math.ceil((from - start) / step) * step;
    if ((stop === undefined || value <= stop) && (least === undefined || value < least)) least = value;
  }
  return least;
}

function wallOf(date: Date): Wall {
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
  };
}

function msOf({ year, month, day, hour, minute, second }: Wall): number {
  return Date.UTC(year, month - 1, day, hour, minute, second);
}
