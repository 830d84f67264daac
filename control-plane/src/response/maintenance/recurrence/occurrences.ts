import { daysBackTo, daysOf } from './days.ts';
import { dayOf } from './rule.ts';
import type { Rule } from './rule.ts';
import { instantOf, wallOf } from './zone.ts';
import type { Placed } from './zone.ts';

/** When a maintenance is: once, or again and again by the wall clock of a zone. Times in milliseconds since the epoch. */
export type Schedule = {
  readonly startsMs: number;
  readonly durationMs: number;
  readonly rule: Rule | null;
  /** IANA. */
  readonly zone: string;
  /** Starts that are left out. */
  readonly exceptMs: readonly number[];
};

/** One time of maintenance, half-open. */
export type Occurrence = {
  readonly startsMs: number;
  readonly endsMs: number;
  /** The wall clock leaps over the time of its start (daylight saving begins): it is later by the length of the gap. */
  readonly isShifted: boolean;
};

const dayMs = 86_400_000;
/** No occurrence lasts longer, nor do several that overlap. */
export const longestMs = 31 * dayMs;
/** How far ahead the next one is looked for: 29 February comes again after eight years at the latest, until 2096. */
const horizonMs = 9 * 366 * dayMs;

/**
 * The instances of a schedule that end after a time, ascending; bounded, since it looks nine years ahead of that time at most. Those that
 * overlap are told apart: `windowsOf` merges them. The duration is exact: it does not change with daylight saving.
 */
export function* occurrencesOf(schedule: Schedule, afterMs: number): Generator<Occurrence, void> {
  const { startsMs, durationMs } = schedule;
  if (schedule.rule === null) {
    if (startsMs + durationMs > afterMs) yield { startsMs, endsMs: startsMs + durationMs, isShifted: false };
    return;
  }
  const except = new Set(schedule.exceptMs);
  for (const { ms, isShifted } of startsOf(schedule, schedule.rule, afterMs)) {
    if (ms + durationMs <= afterMs || except.has(ms)) continue;
    yield { startsMs: ms, endsMs: ms + durationMs, isShifted };
  }
}

/** The starts of a series before exceptions; those that end long before a time may be left out. */
function* startsOf(schedule: Schedule, rule: Rule, afterMs: number): Generator<Placed, void> {
  const { startsMs, durationMs, zone } = schedule;
  const firstWallMs = wallOf(startsMs, zone);
  const firstDay = dayOf(firstWallMs);
  const timeOfDayMs = firstWallMs - firstDay * dayMs;
  const lastDay = dayOf(Math.max(afterMs, startsMs) + horizonMs);
  // What is counted is counted from its beginning.
  const fromDay = rule.count === null ? dayOf(afterMs - durationMs) - 2 : firstDay;
  let count = 0;
  let lastMs = Number.NEGATIVE_INFINITY;
  for (const day of daysOf(rule, firstDay, lastDay, fromDay)) {
    if (rule.count !== null && count >= rule.count) return;
    count += 1;
    const wallMs = day * dayMs + timeOfDayMs;
    if (rule.until?.kind === 'wall' && wallMs > rule.until.ms) return;
    const placed = instantOf(wallMs, zone);
    if (rule.until?.kind === 'instant' && placed.ms > rule.until.ms) return;
    // Where a zone leaves out a whole day, the shifted instance is that of the next day.
    if (placed.ms <= lastMs) continue;
    lastMs = placed.ms;
    yield placed;
  }
}

/**
 * The times of a schedule that end after `afterMs`, ascending and disjoint: instances that overlap or touch are one, up to 31
 * days, behind which the rest is the next. What is under way at `afterMs` begins there.
 */
export function* windowsOf(schedule: Schedule, afterMs: number): Generator<Occurrence, void> {
  let open: Occurrence | undefined;
  for (const next of occurrencesOf(schedule, afterMs)) {
    const startsMs = Math.max(next.startsMs, afterMs);
    if (open === undefined) open = { ...next, startsMs };
    else if (startsMs > open.endsMs) {
      yield open;
      open = { ...next, startsMs };
    } else if (next.endsMs - open.startsMs <= longestMs) {
      open = { ...open, endsMs: Math.max(open.endsMs, next.endsMs) };
    } else {
      const { endsMs } = open;
      yield open;
      open = { ...next, startsMs: endsMs };
    }
  }
  if (open !== undefined) yield open;
}

/** The first of these, or undefined when the schedule is over. */
export function nextWindow(schedule: Schedule, afterMs: number): Occurrence | undefined {
  return windowsOf(schedule, afterMs).next().value ?? undefined;
}

/** The first so many items. */
export function take<Item>(items: Iterable<Item>, count: number): Item[] {
  const taken: Item[] = [];
  for (const item of items) {
    if (taken.length >= count) break;
    taken.push(item);
  }
  return taken;
}

/** When a series would have been within a time before it began, in its rhythm; a maintenance that is once has been nowhere else. */
export function pastWindows(schedule: Schedule, fromMs: number, toMs: number): Occurrence[] {
  const { rule, zone, durationMs } = schedule;
  if (rule === null) return [];
  const firstWallMs = wallOf(schedule.startsMs, zone);
  const firstDay = dayOf(firstWallMs);
  const timeOfDayMs = firstWallMs - firstDay * dayMs;
  const windows: Occurrence[] = [];
  for (const day of daysBackTo(rule, firstDay, dayOf(fromMs - durationMs) - 1, dayOf(toMs) + 1)) {
    const { ms, isShifted } = instantOf(day * dayMs + timeOfDayMs, zone);
    const startsMs = Math.max(ms, fromMs);
    const endsMs = Math.min(ms + durationMs, toMs);
    const last = windows.at(-1);
    if (endsMs <= startsMs) continue;
    if (last !== undefined && startsMs <= last.endsMs) windows[windows.length - 1] = { ...last, endsMs };
    else windows.push({ startsMs, endsMs, isShifted });
  }
  return windows;
}
