import { invalidInput, longestWindowDays } from '@parallax/api-contract';
import type { RunScheduledReport } from '@parallax/api-contract';
import { lastClosed } from '../periods.ts';
import type { ReportPeriod, Schedule } from '../periods.ts';

const longestMs = longestWindowDays * 86_400_000;

/**
 * What a run by hand reports on.
 * @throws Problem `invalid_input` for a window that is empty, too long or not over
 */
export function askedPeriod(schedule: Schedule, body: RunScheduledReport, nowMs: number): ReportPeriod {
  if (body?.from === undefined) {
    if (body?.to === undefined) return lastClosed(schedule, nowMs);
    throw invalidInput('body', '/to', 'unexpected', 'is taken beside from only');
  }
  const fromMs = Date.parse(body.from);
  const toMs = body.to === undefined ? Math.floor(nowMs) : Date.parse(body.to);
  if (toMs > nowMs) throw invalidInput('body', '/to', 'too_far', 'must not lie in the future');
  if (fromMs >= toMs) throw invalidInput('body', '/from', 'empty_window', 'must be before to and before now');
  if (toMs - fromMs > longestMs) {
    throw invalidInput('body', '/from', 'window_too_long', `must be at most ${longestWindowDays} days before to`);
  }
  return { fromMs, toMs };
}
