import { UniqueIntegrityConstraintViolationError } from 'slonik';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { ReportPeriod } from '../periods.ts';
import type { ReportRow } from '../row.ts';

const at = (ms: number) => sql.timestamp(new Date(ms));

/** A report `r` of a workspace `w` that has a next run, and no run under way that it would have to wait for. */
const isWaiting = sql.fragment`r.next_run_at is not null and r.deleted_at is null and w.deleted_at is null
  and not exists (select from scheduled_report_runs n where n.report_id = r.id and n.status in ('queued', 'running'))`;

const instantRow = z.object({ at: z.number().nullable() });

/** When something is due next: a report by its schedule, or a run that waits or whose lease runs out. */
export async function nextDueMs(worker: DatabasePool): Promise<number | null> {
  return worker.oneFirst(sql.type(instantRow)`
    select least(
      (select min(r.next_run_at) from scheduled_reports r join workspaces w on w.id = r.workspace_id where ${isWaiting}),
      (select min(due_at) from scheduled_report_runs where status in ('queued', 'running'))) as at`);
}

/** Reports whose time has come and that no run is under way of, those first that have waited for longest. */
export async function dueReportIds(worker: DatabasePool, nowMs: number): Promise<readonly number[]> {
  return worker.anyFirst(sql.typeAlias('id')`
    select r.id from scheduled_reports r join workspaces w on w.id = r.workspace_id
    where r.next_run_at <= ${at(nowMs)} and ${isWaiting}
    order by r.next_run_at limit 100`);
}

/** Moves a report on to another time without a run. */
export async function moveOn(
  worker: DatabasePool,
  report: Pick<ReportRow, 'id' | 'next_run_at'>,
  nextMs: number,
): Promise<void> {
  if (report.next_run_at === null) return;
  await worker.query(sql.unsafe`
    update scheduled_reports set next_run_at = ${at(nextMs)} where id = ${report.id} and next_run_at = ${at(report.next_run_at)}`);
}

/** What a step of a schedule notes. */
export type NotedRun = ReportPeriod & {
  readonly isLate: boolean;
  /** Present: it is skipped, for this reason. */
  readonly skipped?: string;
};

/**
 * Moves a report on to its next run and notes the one that was due: whoever moves it has begun that run, and nobody else does. Nothing happens where
 * another process was faster, or a run by hand has begun.
 */
export async function takeStep(
  worker: DatabasePool,
  report: Pick<ReportRow, 'id' | 'workspace_id' | 'next_run_at'>,
  nextMs: number,
  run: NotedRun,
): Promise<boolean> {
  if (report.next_run_at === null) return false;
  const moving = worker.query(sql.unsafe`
    with moved as (
      update scheduled_reports r set next_run_at = ${at(nextMs)}
      where r.id = ${report.id} and r.next_run_at = ${at(report.next_run_at)} and r.deleted_at is null
        and not exists (select from scheduled_report_runs n where n.report_id = r.id and n.status in ('queued', 'running'))
      returning r.id)
    insert into scheduled_report_runs (workspace_id, report_id, from_at, to_at, trigger, is_late, status, error, finished_at)
    select ${report.workspace_id}, moved.id, ${at(run.fromMs)}, ${at(run.toMs)}, 'schedule', ${run.isLate},
      ${run.skipped === undefined ? 'queued' : 'skipped'}, ${run.skipped ?? null},
      case when ${run.skipped !== undefined} then clock_timestamp() end
    from moved`);
  try {
    return (await moving).rowCount === 1;
  } catch (error) {
    // A run by hand began in the same moment; the report waits for it where it stands.
    if (error instanceof UniqueIntegrityConstraintViolationError) return false;
    throw error;
  }
}
