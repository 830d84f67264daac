import type { DatabasePool } from 'slonik';
import type { RowsOfMonitor } from '../../monitoring/monitors/index.ts';
import { sql } from '../../platform/database/pools.ts';
import { dayOf } from './day-row.ts';

/** Days of a deleted monitor; after a reset those of before it. */
export const removeSubjectDays: RowsOfMonitor = async (worker, monitorId, beforeMs) => {
  const older = beforeMs === null ? sql.fragment`true` : sql.fragment`d.day < ${dayOf(beforeMs)}`;
  const { rowCount } = await worker.query(sql.unsafe`
    delete from subject_days d where d.subject_type = 'monitor' and d.subject_id = ${monitorId} and ${older}`);
  return { wasAny: rowCount > 0, wasHeld: false, removed: {} };
};

/** Hook of a deleted workspace whose monitors are gone. For the worker login. */
export async function removeDaysOfWorkspace(worker: DatabasePool, workspaceId: number): Promise<void> {
  await worker.query(sql.unsafe`delete from subject_days where workspace_id = ${workspaceId}`);
}
