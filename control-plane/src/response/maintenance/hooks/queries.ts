import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';

/* What becomes of windows when a monitor or a workspace goes. */

/** Hook of the deletion of a monitor: windows name it no longer, and its times go with its results. */
export async function leaveMaintenanceOfDeleted(transaction: Transaction, monitorId: number): Promise<void> {
  await transaction.query(sql.unsafe`
    delete from maintenance_scopes where subject_type = 'monitor' and subject_id = ${monitorId}`);
  await transaction.query(sql.unsafe`
    delete from maintenance_subjects where subject_type = 'monitor' and subject_id = ${monitorId}`);
}

const leftRow = z.object({ subject_id: z.number(), window_id: z.number() });

/**
 * Hook of the move of monitors to another workspace: windows of the old one name them no longer, which is reported. Times in which they were in
 * maintenance come along, without their windows; what is under way ends for them.
 */
export async function leaveMaintenanceOfMoved(
  transaction: Transaction,
  monitors: readonly { readonly id: number }[],
  toWorkspaceId: number,
): Promise<
  readonly { readonly monitorId: number; readonly dropped: { readonly type: 'maintenance'; readonly id: number } }[]
> {
  const ids = sql.array(
    monitors.map(({ id }) => id),
    'int4',
  );
  const left = await transaction.any(sql.type(leftRow)`
    delete from maintenance_scopes where subject_type = 'monitor' and subject_id = any(${ids}) returning subject_id, window_id`);
  await transaction.query(sql.unsafe`
    update maintenance_subjects set workspace_id = ${toWorkspaceId}, occurrence_id = null,
      ended_at = coalesce(ended_at, greatest(started_at, clock_timestamp()))
    where subject_type = 'monitor' and subject_id = any(${ids})`);
  return left.map((row) => ({ monitorId: row.subject_id, dropped: { type: 'maintenance', id: row.window_id } }));
}

/** Hook of a deleted workspace whose monitors are gone. For the worker login. */
export async function removeMaintenanceOfWorkspace(worker: DatabasePool, workspaceId: number): Promise<void> {
  await worker.query(sql.unsafe`delete from maintenance_windows where workspace_id = ${workspaceId}`);
  await worker.query(sql.unsafe`delete from maintenance_subjects where workspace_id = ${workspaceId}`);
  await worker.query(sql.unsafe`delete from calendar_tokens where workspace_id = ${workspaceId}`);
}
