import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import type { RowsOfMonitor } from '../../../monitoring/monitors/index.ts';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { tellReleased } from '../cover/queries.ts';

/** Rows that are removed at once. */
const atOnce = 5_000;

/** Hook of the deletion of a monitor: it leaves what names it; what covers it lets go of it within seconds. */
export async function leaveMaintenanceOfDeleted(tx: Transaction, monitorId: number): Promise<void> {
  await tx.query(sql.unsafe`delete from maintenance_monitors where monitor_id = ${monitorId}`);
}

/** A maintenance that a monitor has left. */
export type LeftMaintenance = {
  readonly monitorId: number;
  readonly dropped: { readonly type: 'maintenance'; readonly id: number };
};

const leftRow = z.object({ monitor_id: z.number(), maintenance_id: z.number() });
const releasedRow = z.object({ occurrence_id: z.number(), workspace_id: z.number() });

/**
 * Hook of the move of monitors to another workspace, before they are there: nothing of the old one covers or names them any more. Their time under
 * maintenance goes along, as do their incidents, of which what was held is looked at there.
 */
export async function leaveMaintenanceOfMoved(
  tx: Transaction,
  monitors: readonly { readonly id: number }[],
  toWorkspaceId: number,
): Promise<readonly LeftMaintenance[]> {
  const ids = sql.array(
    monitors.map(({ id }) => id),
    'int4',
  );
  const released = await tx.any(sql.type(releasedRow)`
    update maintenance_subjects set ended_at = greatest(clock_timestamp(), started_at + interval '1 microsecond'),
      workspace_id = ${toWorkspaceId}
    where subject_type = 'monitor' and subject_id = any(${ids}) and ended_at is null returning occurrence_id, workspace_id`);
  await tx.query(sql.unsafe`
    update maintenance_subjects set workspace_id = ${toWorkspaceId}
    where subject_type = 'monitor' and subject_id = any(${ids}) and workspace_id <> ${toWorkspaceId}`);
  await tellReleased(tx, released, Date.now());
  const left = await tx.any(sql.type(leftRow)`
    delete from maintenance_monitors where monitor_id = any(${ids}) returning monitor_id, maintenance_id`);
  return left.map((row) => ({
    monitorId: row.monitor_id,
    dropped: { type: 'maintenance', id: row.maintenance_id },
  }));
}

/** Hook of a deleted workspace whose monitors are gone. For the worker login. */
export async function removeMaintenanceOfWorkspace(worker: DatabasePool, workspaceId: number): Promise<void> {
  await worker.query(sql.unsafe`delete from maintenance_subjects where workspace_id = ${workspaceId}`);
  await worker.query(sql.unsafe`delete from calendar_tokens where workspace_id = ${workspaceId}`);
  await worker.query(sql.unsafe`delete from maintenance where workspace_id = ${workspaceId}`);
}

/** When a monitor was under maintenance: removed in the background with it, and after a reset what ended before. */
export const removeMonitorMaintenance: RowsOfMonitor = async (worker, monitorId, beforeMs) => {
  const older =
    beforeMs === null ? sql.fragment`true` : sql.fragment`mm.ended_at <= ${sql.timestamp(new Date(beforeMs))}`;
  const { rowCount } = await worker.query(sql.unsafe`
    delete from maintenance_subjects where id = any(array(
      select mm.id from maintenance_subjects mm where mm.subject_type = 'monitor' and mm.subject_id = ${monitorId} and ${older}
      limit ${atOnce}))`);
  return { wasAny: rowCount > 0, wasHeld: false, removed: {} };
};
