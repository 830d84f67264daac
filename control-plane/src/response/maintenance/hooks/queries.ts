import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import type { RowsOfMonitor } from '../../../monitoring/monitors/index.ts';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { forgetAnnounced } from '../holds/queries.ts';

/** Rows that are removed at once. */
const atOnce = 5_000;

/** Hook of the deletion of a monitor: it leaves what covers it, and nothing is told of it any more. */
export async function leaveMaintenanceOfDeleted(tx: Transaction, monitorId: number): Promise<void> {
  await tx.query(sql.unsafe`delete from maintenance_monitors where monitor_id = ${monitorId}`);
  await forgetAnnounced(tx, monitorId);
}

/** Hook of the reset of a monitor's statistics: what was told rests on what is void now. What covers it goes on. */
export async function forgetAnnouncedOfReset(tx: Transaction, monitorId: number): Promise<void> {
  await forgetAnnounced(tx, monitorId);
}

/** A maintenance that a monitor has left. */
export type LeftMaintenance = {
  readonly monitorId: number;
  readonly dropped: { readonly type: 'maintenance'; readonly id: number };
};

/**
 * Hook of the move of monitors to another workspace, before they are there: they leave what names them. What the old workspace covered
 * otherwise lets go of them within seconds, as of everybody who is not covered any more; their time under maintenance stays theirs.
 */
export async function leaveMaintenanceOfMoved(
  tx: Transaction,
  monitors: readonly { readonly id: number }[],
): Promise<readonly LeftMaintenance[]> {
  const ids = sql.array(
    monitors.map(({ id }) => id),
    'int4',
  );
  const left = await tx.any(sql.type(z.object({ monitor_id: z.number(), maintenance_id: z.number() }))`
    delete from maintenance_monitors where monitor_id = any(${ids}) returning monitor_id, maintenance_id`);
  return left.map((row) => ({
    monitorId: row.monitor_id,
    dropped: { type: 'maintenance', id: row.maintenance_id },
  }));
}

/** Hook of a deleted workspace whose monitors are gone. For the worker login. */
export async function removeMaintenanceOfWorkspace(worker: DatabasePool, workspaceId: number): Promise<void> {
  await worker.query(sql.unsafe`delete from calendar_tokens where workspace_id = ${workspaceId}`);
  await worker.query(sql.unsafe`delete from maintenance where workspace_id = ${workspaceId}`);
}

/** When a monitor was under maintenance: removed in the background with it, and after a reset what ended before. */
export const removeMonitorMaintenance: RowsOfMonitor = async (worker, monitorId, beforeMs) => {
  const older =
    beforeMs === null ? sql.fragment`true` : sql.fragment`mm.ended_at <= ${sql.timestamp(new Date(beforeMs))}`;
  const { rowCount } = await worker.query(sql.unsafe`
    delete from monitor_maintenance where id = any(array(
      select mm.id from monitor_maintenance mm where mm.monitor_id = ${monitorId} and ${older}
      limit ${atOnce}))`);
  return { wasAny: rowCount > 0, wasHeld: false, removed: {} };
};
