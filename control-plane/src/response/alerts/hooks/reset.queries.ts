import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { OccasionChange } from '../occasions/change.ts';
import { endOccasions } from '../occasions/queries.ts';

/* What becomes of alerts when the statistics of a monitor are reset: people are told nothing, histories forget what was told of it, and services that
   keep an alarm open close it. What fails afterwards is an occasion of its own. */

type Condition = ReturnType<typeof sql.fragment>;

/**
 * Hook of the reset of a monitor's statistics. What is under way is not sent any more. An incident of the monitor says itself what becomes of it:
 * see `forgetReset`.
 */
export async function removeAlertHistoryOfReset(tx: Transaction, monitorId: number, atMs: number): Promise<void> {
  const ofMonitor = sql.fragment`subject_type = 'monitor' and subject_id = ${monitorId}`;
  await forget(
    tx,
    ofMonitor,
    sql.fragment`
    select id from alert_occasions where ${ofMonitor} union select occasion_id from notifications where ${ofMonitor}`,
  );
  // What nobody was told of has nothing to be closed.
  await tx.query(sql.unsafe`
    delete from alert_occasions o where ${ofMonitor} and (ended_at is not null or not is_lasting or not exists (
      select from alert_told t where t.occasion_id = o.id and t.state = 'problem'))`);
  await endOccasions(tx, [{ subject: { type: 'monitor', id: monitorId }, atMs, resolution: 'reset' }], Date.now());
}

/**
 * Forgets what was told of incidents of which a reset has left nothing. Their members are gone, so nothing else would name what such rows of the
 * history are about, and no later reset would find them.
 */
export async function forgetReset(tx: Transaction, changes: readonly OccasionChange[]): Promise<void> {
  const incidentIds = changes.flatMap(({ resolution, incidentId }) =>
    resolution === 'reset' && incidentId !== null ? [incidentId] : [],
  );
  if (incidentIds.length === 0) return;
  const occasions = sql.fragment`select id from alert_occasions where incident_id = any(${sql.array(incidentIds, 'int4')})`;
  await forget(tx, sql.fragment`occasion_id in (${occasions})`, occasions);
}

const forgottenRow = z.object({
  occasion_id: z.bigint(),
  target_key: z.string(),
  delivery_id: z.bigint().nullable(),
});

/** Removes notifications, and the messages that carry nothing else; what somebody is sending just now arrives. */
async function forget(tx: Transaction, notifications: Condition, occasions: Condition): Promise<void> {
  // In the order in which planner and sender lock: occasions, messages, what was told, notifications.
  await tx.query(sql.unsafe`
    select from alert_occasions where id = any(array(${occasions})) order by id for update`);
  await tx.query(sql.unsafe`
    select from deliveries where id = any(array(
      select delivery_id from notifications where ${notifications} and delivery_id is not null)) order by id for update`);
  const forgotten = await tx.any(sql.type(forgottenRow)`
    delete from notifications where id = any(array(
      select id from notifications where ${notifications} order by id for update))
    returning occasion_id, target_key, delivery_id`);
  const rows = forgotten.map((row) => [String(row.occasion_id), row.target_key, row.delivery_id?.toString() ?? null]);
  const gone = sql.fragment`${sql.unnest(rows, ['int8', 'text', 'int8'])} as g (occasion_id, target_key, delivery_id)`;
  // A digest that told of others too stays with them.
  await tx.query(sql.unsafe`
    delete from deliveries d where d.id in (select g.delivery_id from ${gone})
      and d.lease_until is null and not exists (select from notifications n where n.delivery_id = d.id)`);
  // Whom nothing has reached, nor is about to, is told of no end.
  await tx.query(sql.unsafe`
    delete from alert_told t using ${gone}
    where t.occasion_id = g.occasion_id and t.target_key = g.target_key and t.sent_at is null
      and not exists (select from deliveries d where d.id = g.delivery_id and d.lease_until is not null)`);
}

/** Removes what a reset has left for the sake of services alone, when they have been told. @returns how many rows went */
export async function sweepReset(pool: DatabasePool, most: number): Promise<number> {
  const { rowCount } = await pool.query(sql.unsafe`
    delete from alert_occasions where id in (
      select id from alert_occasions o where resolution = 'reset' and due_at is null
        and not exists (select from notifications n where n.occasion_id = o.id and n.status in ('held', 'queued'))
        and not exists (select from incident_members u where u.incident_id = o.incident_id)
      order by id limit ${most} for update skip locked)`);
  return rowCount;
}
