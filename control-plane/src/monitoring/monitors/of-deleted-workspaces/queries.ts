import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { revokeProbe } from '../../probes/index.ts';
import { markDeleted } from '../lifecycle/queries.ts';
import type { OnMonitorDeleted } from '../lifecycle/queries.ts';

const monitorRow = z.object({ id: z.number(), shard: z.number() });

/** A monitor that was deleted, and the probes that let go of it. */
export type DeletedMonitor = { readonly shard: number; readonly probeIds: readonly number[] };

/**
 * Deletes the next monitors of a deleted workspace, as their own route would, in one transaction. Those that somebody holds come later.
 * For the worker login.
 * @param count how many at most
 * @returns what was deleted; `isLast` when nothing is left
 */
export async function deleteSomeMonitors(
  worker: DatabasePool,
  workspaceId: number,
  count: number,
  hooks: readonly OnMonitorDeleted[],
): Promise<{ readonly deleted: readonly DeletedMonitor[]; readonly isLast: boolean }> {
  return worker.transaction(async (transaction) => {
    const found = await transaction.any(sql.type(monitorRow)`
      select id, shard from monitors where workspace_id = ${workspaceId} and deleted_at is null
      order by id limit ${count} for update skip locked`);
    const deleted: DeletedMonitor[] = [];
    for (const { id, shard } of found) deleted.push({ shard, probeIds: await markDeleted(transaction, id, hooks) });
    const isLast = !(await transaction.exists(sql.unsafe`
      select from monitors where workspace_id = ${workspaceId} and deleted_at is null`));
    return { deleted, isLast };
  });
}

/** Revokes the private probes of a deleted workspace and voids its join tokens. For the worker login. @returns the probes revoked */
export async function revokeProbesOf(worker: DatabasePool, workspaceId: number): Promise<readonly number[]> {
  const scope: Scope = { userId: null, workspaceIds: [workspaceId] };
  return worker.transaction(async (transaction) => {
    await transaction.query(sql.unsafe`delete from join_tokens where workspace_id = ${workspaceId}`);
    const ids = await transaction.anyFirst(sql.typeAlias('id')`
      select id from probes where workspace_id = ${workspaceId} and revoked_at is null order by id for update`);
    for (const id of ids) await revokeProbe(scope, transaction, id);
    return ids;
  });
}
