import type { Database } from '../../../platform/database/pools.ts';
import { emptyMonitor, recordResetEmpty } from '../emptying/queries.ts';
import { markReset } from './queries.ts';

/**
 * For tests: a reset as the API does it; what is committed at once when this resolves.
 * @returns its time, and the removal of what was before
 */
export async function resetMonitor(
  database: Database,
  monitor: { readonly id: number; readonly workspaceId: number },
  nowMs: number,
): Promise<{ readonly atMs: number; readonly empty: () => Promise<void> }> {
  const { atMs } = await database.worker.transaction((tx) =>
    markReset(tx, { id: monitor.id, workspace_id: monitor.workspaceId }, nowMs),
  );
  return {
    atMs,
    empty: async () => {
      await emptyMonitor(database.worker, { monitorId: monitor.id, beforeMs: atMs, more: [] }, () => true);
      await recordResetEmpty(database.worker, monitor.id, atMs);
    },
  };
}
