import { scheduledReportLimits } from '@parallax/api-contract';
import type { Period, ReportFrequency } from '@parallax/api-contract';
import { instantOf, wallOf } from '../../response/maintenance/index.ts';
import { periodAt } from '../statistics/index.ts';

/** When a report is made, and of which calendar. */
export type Schedule = {
  readonly frequency: ReportFrequency;
  readonly timezone: string;
  readonly weekStarts: number;
  /** Wall clock, `08:00`. */
  readonly sendAt: string;
};

/** Half-open, milliseconds since the epoch. */
export type ReportPeriod = { readonly fromMs: number; readonly toMs: number };

/** A run of a schedule: when it is due, and what it reports on. */
export type DueRun = ReportPeriod & { readonly dueMs: number };

const dayMs = 86_400_000;
const hourMs = 3_600_000;

const units = { daily: 'day', weekly: 'week', monthly: 'month', quarterly: 'quarter' } as const satisfies Record<
  ReportFrequency,
  Period
>;

const closed = { daily: 'last_day', weekly: 'last_week', monthly: 'last_month', quarterly: 'last_quarter' } as const;

/** The last calendar period that is closed at an instant. */
export function lastClosed(schedule: Schedule, atMs: number): ReportPeriod {
  return periodAt(closed[schedule.frequency], atMs, schedule);
}

/** The run of the period that closes at an instant: at the wall time of that very day. */
function runAfterClosing(schedule: Schedule, closingMs: number): DueRun {
  const [hours = 0, minutes = 0] = schedule.sendAt.split(':').map(Number);
  // Of a day without a midnight the period closes later; its wall time still counts from the midnight that is missing.
  const wallDayMs = Math.floor(wallOf(closingMs, schedule.timezone) / dayMs) * dayMs;
  const { ms } = instantOf(wallDayMs + hours * hourMs + minutes * 60_000, schedule.timezone);
  return { ...lastClosed(schedule, closingMs), dueMs: Math.max(ms, closingMs) };
}

/** The first run that is due after an instant. */
export function nextRun(schedule: Schedule, afterMs: number): DueRun {
  const { fromMs, toMs } = periodAt(units[schedule.frequency], afterMs, schedule);
  const present = runAfterClosing(schedule, fromMs);
  return present.dueMs > afterMs ? present : runAfterClosing(schedule, toMs);
}

/** A run that is due at exactly that instant, as `next_run_at` keeps it. */
export function runAt(schedule: Schedule, dueMs: number): DueRun {
  return nextRun(schedule, dueMs - 1);
}

/** From when on a run counts as late. */
const lateAfterMs = hourMs;

/** What becomes of the runs of a schedule that are due. */
export type DueStep =
  | { readonly kind: 'run'; readonly run: DueRun; readonly isLate: boolean; readonly nextMs: number }
  /** Its time is another one than was noted, since the rules of its zone have changed meanwhile. */
  | { readonly kind: 'wait'; readonly nextMs: number }
  /** Periods whose time passed too long ago, taken together. */
  | { readonly kind: 'skip'; readonly period: ReportPeriod; readonly nextMs: number };

/**
 * The next step of a schedule whose run was due. A missed period is made up for, once, for a week; what is older is skipped.
 * @param dueMs `next_run_at`, not in the future
 */
export function dueStep(schedule: Schedule, dueMs: number, nowMs: number): DueStep {
  const run = runAt(schedule, dueMs);
  if (run.dueMs > nowMs) return { kind: 'wait', nextMs: run.dueMs };
  const oldestMs = nowMs - scheduledReportLimits.lateDays * dayMs;
  if (run.dueMs >= oldestMs) {
    const nextMs = nextRun(schedule, run.dueMs).dueMs;
    return { kind: 'run', run, isLate: nowMs - run.dueMs > lateAfterMs, nextMs };
  }
  const next = nextRun(schedule, oldestMs - 1);
  return { kind: 'skip', period: { fromMs: run.fromMs, toMs: next.fromMs }, nextMs: next.dueMs };
}
