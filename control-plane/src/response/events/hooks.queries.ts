import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { enqueueHeld } from '../../platform/outbox/enqueue.ts';

/** Hook of the deletion of a monitor: other systems are told. The caller has locked the row, which keeps the order. */
export async function announceDeletion(transaction: Transaction, monitorId: number): Promise<void> {
  const workspaceId = await transaction.maybeOneFirst(sql.type(z.object({ workspace_id: z.number() }))`
    select workspace_id from monitors where id = ${monitorId}`);
  if (workspaceId === null) return;
  await enqueueHeld(transaction, [
    {
      key: `monitor:${monitorId}`,
      kind: 'monitor.deleted',
      tellsActor: true,
      payload: { monitor_id: monitorId, workspace_id: workspaceId },
    },
  ]);
}

/** Hook of a move of monitors: the workspace that they leave is told. */
export async function announceMove(
  transaction: Transaction,
  monitors: readonly { readonly id: number; readonly workspace_id: number }[],
): Promise<readonly never[]> {
  await enqueueHeld(
    transaction,
    monitors.map(({ id, workspace_id: workspaceId }) => ({
      key: `monitor:${id}`,
      kind: 'monitor.moved',
      tellsActor: true,
      payload: { monitor_id: id, workspace_id: workspaceId },
    })),
  );
  return [];
}
