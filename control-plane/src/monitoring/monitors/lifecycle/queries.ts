import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { enqueue } from '../../../platform/outbox/enqueue.ts';
import { closeAssignments, touchAssignments } from '../../assignments/index.ts';
import { diagnosisRows } from '../../diagnostics/index.ts';
import { setActive } from '../queries.ts';

/** Acts, in the transaction that deletes a monitor, on what another capability keeps about it. */
export type OnMonitorDeleted = (transaction: Transaction, monitorId: number) => Promise<void>;

/**
 * Pauses or resumes a monitor whose row the caller has locked: the pause interval, its probes, and the news for others.
 * @returns the probes to be hinted after the commit
 */
export async function switchMonitor(
  transaction: Transaction,
  monitor: { readonly id: number; readonly workspace_id: number },
  isActive: boolean,
): Promise<number[]> {
  const atMs = await setActive(transaction, monitor.id, isActive);
  await enqueue(transaction, {
    key: `monitor:${monitor.id}`,
    kind: isActive ? 'monitor.resumed' : 'monitor.paused',
    payload: { monitor_id: monitor.id, workspace_id: monitor.workspace_id, at: new Date(atMs).toISOString() },
  });
  return touchAssignments(transaction, monitor.id);
}

const deletableRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  shard: z.number(),
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
    select m.id, m.workspace_id, m.shard, m.version, m.deleted_at is not null as is_deleted,
      m.emptied_at is not null as is_emptied, m.deletion_told
    from monitors m
    where m.id = ${monitorId} and m.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})
    for update`);
}

/**
 * Marks a monitor as deleted: it answers 404 from then on, its name is free, its secrets and settings are gone, and its probes
 * let go of it. Its results are emptied afterwards, by batches.
 * @returns the probes to be hinted after the commit
 */
export async function markDeleted(
  transaction: Transaction,
  monitorId: number,
  hooks: readonly OnMonitorDeleted[],
): Promise<number[]> {
  await transaction.query(sql.unsafe`
    update monitors set deleted_at = clock_timestamp(), updated_at = clock_timestamp(), version = version + 1,
      changed_xid = pg_current_xact_id(), sealed_secrets = null, secret_fields = '{}', settings = '{}', description = '',
      url = 'deleted'
    where id = ${monitorId}`);
  for (const hook of hooks) await hook(transaction, monitorId);
  return closeAssignments(transaction, monitorId);
}

/** An hour of one monitor at an interval of a second and three probes is 10,800 rows. */
const hourOfResults = (monitorId: number) => sql.unsafe`
  delete from check_results r using (select min(e) as e from check_results where monitor_id = ${monitorId}) first
  where r.monitor_id = ${monitorId} and r.e >= first.e and r.e < first.e + interval '1 hour'`;

const rowsAtOnce = 5_000;

const evidenceRows = (monitorId: number) => sql.unsafe`
  delete from result_evidence where ctid = any(array(
    select ctid from result_evidence where monitor_id = ${monitorId} limit ${rowsAtOnce}))`;

const rangeRows = (monitorId: number) => sql.unsafe`
  delete from status_ranges where ctid = any(array(
    select ctid from status_ranges where monitor_id = ${monitorId} limit ${rowsAtOnce}))`;

const probeRangeRows = (monitorId: number) => sql.unsafe`
  delete from probe_ranges where ctid = any(array(
    select ctid from probe_ranges where monitor_id = ${monitorId} limit ${rowsAtOnce}))`;

/**
 * Empties a deleted monitor batch by batch, each committed on its own.
 * @param worker a pool of the worker login: requests may not delete results
 * @param mayGoOn asked before each batch
 * @returns true when nothing is left; false when it was stopped
 */
export async function emptyMonitor(worker: DatabasePool, monitorId: number, mayGoOn: () => boolean): Promise<boolean> {
  for (const batch of [hourOfResults, evidenceRows, rangeRows, probeRangeRows, diagnosisRows]) {
    for (let left = true; left; ) {
      if (!mayGoOn()) return false;
      left = (await worker.query(batch(monitorId))).rowCount > 0;
    }
  }
  return true;
}

/** Records that a deleted monitor was found empty, and whether the client is being told so. */
export async function recordEmptied(worker: DatabasePool, monitorId: number, isTold: boolean): Promise<void> {
  await worker.query(sql.unsafe`
    update monitors set emptied_at = clock_timestamp(), deletion_told = deletion_told or ${isTold}
    where id = ${monitorId} and deleted_at is not null`);
}

/**
 * Deleted monitors that have something left: not emptied yet, though no request can be at it any more; or emptied so soon after
 * the deletion that results already on their way may have been stored since.
 */
export async function monitorsToEmpty(connection: CommonQueryMethods): Promise<readonly number[]> {
  return connection.anyFirst(sql.type(z.object({ id: z.number() }))`
    select id from monitors
    where deleted_at is not null and (
      (emptied_at is null and deleted_at < now() - interval '25 seconds')
      or (emptied_at < deleted_at + interval '60 seconds' and deleted_at < now() - interval '60 seconds'))
    order by deleted_at limit 100`);
}
