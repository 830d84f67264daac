import type { Context } from '../../../context.ts';
import { dueStep } from '../periods.ts';
import { findAnyReport } from '../queries.ts';
import { disabledReason, scheduleOf } from '../row.ts';
import { dueReportIds, moveOn, takeStep } from './schedule.queries.ts';

/**
 * Queues the runs of reports whose time has come, and skips those whose time passed too long ago or that something hinders.
 * @returns how many reports were moved on
 */
export async function queueDueRuns(context: Pick<Context, 'database' | 'now'>): Promise<number> {
  const { worker } = context.database;
  const nowMs = context.now();
  let moved = 0;
  for (const id of await dueReportIds(worker, nowMs)) {
    const report = await findAnyReport(worker, id);
    // Somebody may have been faster.
    if (report === null || report.next_run_at === null || report.next_run_at > nowMs) continue;
    const step = dueStep(scheduleOf(report), report.next_run_at, nowMs);
    if (step.kind === 'wait') {
      await moveOn(worker, report, step.nextMs);
      continue;
    }
    const hindered = disabledReason(report);
    const isTaken = await takeStep(
      worker,
      report,
      step.nextMs,
      step.kind === 'skip'
        ? { ...step.period, isLate: true, skipped: 'too_late' }
        : {
            fromMs: step.run.fromMs,
            toMs: step.run.toMs,
            isLate: step.isLate,
            ...(hindered === null ? {} : { skipped: hindered }),
          },
    );
    if (isTaken) moved += 1;
  }
  return moved;
}
