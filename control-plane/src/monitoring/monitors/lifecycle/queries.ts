import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { enqueue } from '../../../platform/outbox/enqueue.ts';
import { closeAssignments, touchAssignments } from '../../assignments/index.ts';
import { pausedByGroup, setActive } from '../queries.ts';

/** Acts, in the transaction that deletes a monitor, on what another capability keeps about it. */
export type OnMonitorDeleted = (transaction: Transaction, monitorId: number) => Promise<void>;

/**
 * Pauses or resumes monitors whose rows the caller has locked: the pause intervals, their probes, and the news for others.
 * @returns the probes to be hinted after the commit
 */
export async function switchMonitors(
  transaction: Transaction,
  monitors: readonly { readonly id: number; readonly workspace_id: number }[],
  isActive: boolean,
): Promise<number[]> {
  const ids = monitors.map((monitor) => monitor.id);
  const times = await setActive(transaction, ids, isActive);
  // Paused by a group, it was paused before and stays so: that is no news.
  const held = await pausedByGroup(transaction, ids);
  const switched = monitors.filter(({ id }) => !held.has(id));
  const news = switched.map((monitor) => ({
    key: `monitor:${monitor.id}`,
    kind: isActive ? 'monitor.resumed' : 'monitor.paused',
    tellsActor: true as const,
    payload: {
      monitor_id: monitor.id,
      workspace_id: monitor.workspace_id,
      at: new Date(times.get(monitor.id) ?? Number.NaN).toISOString(),
    },
  }));
  await enqueue(transaction, ...news);
  return touchAssignments(transaction, ...ids);
}

/** The same for one monitor. */
export function switchMonitor(
  transaction: Transaction,
  monitor: { readonly id: number; readonly workspace_id: number },
  isActive: boolean,
): Promise<number[]> {
  return switchMonitors(transaction, [monitor], isActive);
}

const deletableRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  shard: z.number(),
  protocol: z.string(),
  version: z.number(),
  is_deleted: z.boolean(),
  is_emptied: z.boolean(),
  deletion_told: z.boolean(),
});
export type DeletableMonitor = z.infer<typeof deletableRow>;

/** A monitor of the scope, deleted ones included, locked until the transaction ends; null when there is none. */
export async function lockDeletable(
  transaction: Transaction,
  scope: Scope,
  monitorId: number,
): Promise<DeletableMonitor | null> {
  return transaction.maybeOne(sql.type(deletableRow)`
    select m.id, m.workspace_id, m.shard, m.protocol, m.version, m.deleted_at is not null as is_deleted,
      m.emptied_at is not null as is_emptied, m.deletion_told
    from monitors m
    where m.id = ${monitorId} and m.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})
    for update`);
}

/**
 * Marks monitors as deleted: they answer 404 from then on, their names are free, their secrets and settings are gone, and their probes
 * let go of them. Their results are emptied afterwards, by batches. The rows are locked by the caller.
 * @returns the probes to be hinted after the commit
 */
export async function markAllDeleted(
  transaction: Transaction,
  monitorIds: readonly number[],
  hooks: readonly OnMonitorDeleted[],
): Promise<number[]> {
  await transaction.query(sql.unsafe`
    update monitors set deleted_at = clock_timestamp(), updated_at = clock_timestamp(), version = version + 1,
      changed_xid = pg_current_xact_id(), sealed_secrets = null, secret_fields = '{}', settings = '{}', description = '',
      url = 'deleted'
    where id = any(${sql.array(monitorIds, 'int4')})`);
  for (const monitorId of monitorIds) for (const hook of hooks) await hook(transaction, monitorId);
  return closeAssignments(transaction, ...monitorIds);
}

/** The same for one monitor. */
export function markDeleted(
  transaction: Transaction,
  monitorId: number,
  hooks: readonly OnMonitorDeleted[],
): Promise<number[]> {
  return markAllDeleted(transaction, [monitorId], hooks);
}
