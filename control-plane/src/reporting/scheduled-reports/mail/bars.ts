import type { Availability } from '../../statistics/index.ts';
import { totalOf } from '../making/content.ts';
import type { Line } from '../making/content.ts';

/** How good a bar is, by its uptime. */
export type BarLook = 'full' | 'some' | 'bad' | 'unmeasured';

/** A wider row of cells than this makes mail programs cut the mail. */
const mostBars = 31;

/** From which uptime on a bar is not bad. */
const goodEnough = 0.99;

export function lookOf({ uptime }: Pick<Availability, 'uptime'>): BarLook {
  if (uptime === null) return 'unmeasured';
  if (uptime >= 1) return 'full';
  return uptime >= goodEnough ? 'some' : 'bad';
}

/** The days of a subject as bars, so many days to each that there are no more than 31. Fewer than two say nothing that the figure does not. */
export function barsOf({ days }: Pick<Line, 'days'>): readonly BarLook[] {
  const size = Math.ceil(days.length / mostBars);
  if (days.length < 2) return [];
  const bars: BarLook[] = [];
  for (let from = 0; from < days.length; from += size) bars.push(lookOf(totalOf(days.slice(from, from + size))));
  return bars;
}
