import type { Period } from '@parallax/api-contract';
import { instantOf, wallOf } from '../../response/maintenance/index.ts';

export type CalendarUnit = 'day' | 'week' | 'month' | 'quarter' | 'year';

/** A calendar: the wall clock of a zone, and the day on which weeks begin, 1 for Monday to 7 for Sunday. */
export type Calendar = { readonly timezone: string; readonly weekStarts: number };

const dayMs = 86_400_000;
const utcMonth = (wallMs: number): [number, number] => {
  const date = new Date(wallMs);
  return [date.getUTCFullYear(), date.getUTCMonth()];
};

/**
 * When the unit of a wall time begins, as a wall time, or a number of units later.
 * @param size units that are taken together; those of days are counted from the epoch
 */
function wallStart(wallMs: number, unit: CalendarUnit, size: number, weekStarts: number, later: number): number {
  const [year, month] = utcMonth(wallMs);
  switch (unit) {
    case 'day': {
      const lengthMs = size * dayMs;
      return (Math.floor(wallMs / lengthMs) + later) * lengthMs;
    }
    case 'week': {
      const day = Math.floor(wallMs / dayMs);
      // 1970 began on a Thursday, the fourth day of a week that begins on Monday.
      const since = (((day + 4 - weekStarts) % 7) + 7) % 7;
      return (day - since + 7 * later) * dayMs;
    }
    case 'month':
      return Date.UTC(year, month + later, 1);
    case 'quarter':
      return Date.UTC(year, month - (month % 3) + 3 * later, 1);
    case 'year':
      return Date.UTC(year + later, 0, 1);
  }
}

/** The calendar period that is meant at an instant: the present one, or the last that is closed. */
export function periodAt(
  period: Period,
  nowMs: number,
  { timezone, weekStarts }: Calendar,
): { readonly fromMs: number; readonly toMs: number } {
  const isClosed = period.startsWith('last_');
  const unit = period.replace('last_', '') as CalendarUnit;
  const wallMs = wallOf(nowMs, timezone);
  const edge = (later: number): number => instantOf(wallStart(wallMs, unit, 1, weekStarts, later), timezone).ms;
  return isClosed ? { fromMs: edge(-1), toMs: edge(0) } : { fromMs: edge(0), toMs: edge(1) };
}

/**
 * The instants inside a window at which units of a calendar begin, in order.
 * @param most no more than these are looked for
 */
export function unitStarts(
  { unit, size }: { readonly unit: CalendarUnit; readonly size: number },
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  { timezone, weekStarts }: Calendar,
  most: number,
): number[] {
  const starts: number[] = [];
  const wallMs = wallOf(fromMs, timezone);
  for (let later = 1; starts.length <= most; later += 1) {
    const { ms } = instantOf(wallStart(wallMs, unit, size, weekStarts, later), timezone);
    if (ms >= toMs) break;
    if (ms > fromMs) starts.push(ms);
  }
  return starts;
}

/** The days of a zone that fill a window, the first and the last as far as they lie in it. */
export function daysOfZone(
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  timezone: string,
): { readonly day: string; readonly fromMs: number; readonly toMs: number }[] {
  if (fromMs >= toMs) return [];
  const most = Math.ceil((toMs - fromMs) / dayMs) + 2;
  const starts = [fromMs, ...unitStarts({ unit: 'day', size: 1 }, { fromMs, toMs }, { timezone, weekStarts: 1 }, most)];
  return starts.map((startMs, index) => ({
    day: new Date(wallOf(startMs, timezone)).toISOString().slice(0, 10),
    fromMs: startMs,
    toMs: starts[index + 1] ?? toMs,
  }));
}
