import { scheduledReportLimits } from '@parallax/api-contract';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';

const batch = 500;
const filesAtOnce = 50;

/** Removes a batch of runs and files that are too old, and of what deleted reports have left. For the worker login. @returns how many rows */
export async function sweepOnce(worker: DatabasePool): Promise<number> {
  const { runDays, fileDays } = scheduledReportLimits;
  const files = await worker.query(sql.unsafe`
    delete from scheduled_report_files where (run_id, format) in (
      select run_id, format from scheduled_report_files where created_at < now() - make_interval(days => ${fileDays}) limit ${filesAtOnce})`);
  const runs = await worker.query(sql.unsafe`
    delete from scheduled_report_runs where id in (
      select id from scheduled_report_runs where created_at < now() - make_interval(days => ${runDays})
        and status not in ('queued', 'running') limit ${batch})`);
  const deleted = await worker.query(sql.unsafe`
    delete from scheduled_report_runs where id in (
      select n.id from scheduled_reports r join scheduled_report_runs n on n.report_id = r.id
      where r.deleted_at is not null and n.due_at < now() limit ${filesAtOnce})`);
  const reports = await worker.query(sql.unsafe`
    delete from scheduled_reports r where r.deleted_at is not null
      and not exists (select from scheduled_report_runs n where n.report_id = r.id)`);
  return files.rowCount + runs.rowCount + deleted.rowCount + reports.rowCount;
}

/** Hook of the deletion of a monitor: it leaves the scopes that name it. */
export async function leaveReportsOfDeleted(tx: Transaction, monitorId: number): Promise<void> {
  await tx.query(sql.unsafe`delete from scheduled_report_subjects where monitor_id = ${monitorId}`);
}

/** A report that a monitor has left. */
export type LeftReport = {
  readonly monitorId: number;
  readonly dropped: { readonly type: 'scheduled_report'; readonly id: number };
};

/** Hook of the move of monitors to another workspace: no report of the old one names them any more. */
export async function leaveReportsOfMoved(
  tx: Transaction,
  monitors: readonly { readonly id: number }[],
): Promise<readonly LeftReport[]> {
  const ids = sql.array(
    monitors.map(({ id }) => id),
    'int4',
  );
  const left = await tx.any(sql.type(z.object({ monitor_id: z.number(), report_id: z.number() }))`
    delete from scheduled_report_subjects where monitor_id = any(${ids}) returning monitor_id, report_id`);
  return left.map((row) => ({ monitorId: row.monitor_id, dropped: { type: 'scheduled_report', id: row.report_id } }));
}

/** Hook of a deleted workspace whose monitors are gone. For the worker login. */
export async function removeReportsOfWorkspace(worker: DatabasePool, workspaceId: number): Promise<void> {
  await worker.query(sql.unsafe`delete from scheduled_report_runs where workspace_id = ${workspaceId}`);
  await worker.query(sql.unsafe`delete from scheduled_reports where workspace_id = ${workspaceId}`);
}
