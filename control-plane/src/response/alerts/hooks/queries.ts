import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { endOccasionsOf } from '../occasions/queries.ts';

/* What becomes of alerts when what they cover is deleted, reset or moved. Heartbeats and webhook checks tell of their deletion themselves, and the
   rows that name a group go with it. */

/** Hook of the deletion of a monitor: it leaves what names it, and what lasts of it ends. */
export async function leaveAlertsOfDeleted(tx: Transaction, monitorId: number): Promise<void> {
  await tx.query(sql.unsafe`delete from alert_subjects where monitor_id = ${monitorId}`);
  await endOccasionsOf(tx, { type: 'monitor', id: monitorId }, 'deleted', Date.now());
}

/** An alert that a monitor has left. */
export type LeftAlert = {
  readonly monitorId: number;
  readonly dropped: { readonly type: 'alert'; readonly id: number };
};

const leftRow = z.object({ monitor_id: z.number(), alert_id: z.number() });

/**
 * Hook of the move of monitors to another workspace, before they and their incidents are there: no alert of the old one names them any more, and
 * what they still had to tell there is over without a word, but for services that keep alarms open. What lasts is told in the new one.
 */
export async function leaveAlertsOfMoved(
  tx: Transaction,
  monitors: readonly { readonly id: number }[],
  toWorkspaceId: number,
): Promise<readonly LeftAlert[]> {
  const ids = sql.array(
    monitors.map(({ id }) => id),
    'int4',
  );
  const isMoved = sql.fragment`(u.subject_type = 'monitor' and u.subject_id = any(${ids}))`;
  // Of an incident only when nobody of the old workspace stays in it.
  // In the order of their numbers, so that two who do this wait for each other.
  await tx.query(sql.unsafe`
    update alert_occasions set ended_at = greatest(clock_timestamp(), started_at), resolution = 'moved', seq = seq + 1,
      due_at = clock_timestamp(), pending = '[]'
    where id = any(array(
      select o.id from alert_occasions o
      where o.ended_at is null and o.workspace_id <> ${toWorkspaceId} and (
        (o.subject_type = 'monitor' and o.subject_id = any(${ids}))
        or (exists (select from incident_members u where u.incident_id = o.incident_id and ${isMoved})
          and not exists (select from incident_members u where u.incident_id = o.incident_id and not ${isMoved})))
      order by o.id for update))`);
  const left = await tx.any(sql.type(leftRow)`
    delete from alert_subjects where monitor_id = any(${ids}) returning monitor_id, alert_id`);
  return left.map((row) => ({ monitorId: row.monitor_id, dropped: { type: 'alert', id: row.alert_id } }));
}

/** Hook of a deleted workspace whose monitors are gone. For the worker login. */
export async function removeAlertsOfWorkspace(worker: DatabasePool, workspaceId: number): Promise<void> {
  await worker.query(sql.unsafe`delete from alert_occasions where workspace_id = ${workspaceId}`);
  await worker.query(sql.unsafe`delete from deliveries where workspace_id = ${workspaceId}`);
  await worker.query(sql.unsafe`delete from alerts where workspace_id = ${workspaceId}`);
}

/**
 * Hook of a deleted account: what is under way to its targets is not sent, and no address of theirs stays but masked in histories. For the worker
 * login.
 */
export async function forgetTargetsOf(transaction: Transaction, ownerId: number, nowMs: number): Promise<void> {
  const at = sql.timestamp(new Date(nowMs));
  // In the order in which planner and sender lock.
  await transaction.query(sql.unsafe`
    update deliveries set status = 'cancelled', done_at = ${at}, target = null, lease_until = null, leased_by = null
    where id = any(array(
      select id from deliveries where owner_id = ${ownerId} and status = 'queued' order by id for update))`);
  await transaction.query(sql.unsafe`
    update alert_told t set target = t.target || '{"target": ""}'
    from (
      select occasion_id, target_key from alert_told where owner_id = ${ownerId} order by occasion_id, target_key for update) g
    where t.occasion_id = g.occasion_id and t.target_key = g.target_key`);
  await transaction.query(sql.unsafe`
    update notifications set target = null, due_at = null, reason = case when status in ('held', 'queued') then 'owner_left' else reason end,
      done_at = coalesce(done_at, ${at}), status = case when status in ('held', 'queued') then 'suppressed' else status end
    where id = any(array(
      select id from notifications where owner_id = ${ownerId} and target is not null order by id for update))`);
}
