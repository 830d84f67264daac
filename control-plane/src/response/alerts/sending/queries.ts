import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { notificationKinds } from '../decide/occasion.ts';
import type { ClaimedDelivery } from './claim/queries.ts';

const at = (ms: number) => sql.timestamp(new Date(ms));
const ids = (some: readonly number[]) => sql.array([...some], 'int8');

const partRow = z.object({
  delivery_id: z.bigint(),
  notification_id: z.bigint(),
  alert_name: z.string(),
  kind: z.enum(notificationKinds),
  seq: z.number(),
  decided_at: z.number(),
  occasion_id: z.bigint(),
  key: z.string(),
  /** Drawn when it was made, and of no other occasion of any installation. */
  uid: z.string(),
  event: z.string(),
  occasion_event: z.string(),
  subject_type: z.string().nullable(),
  subject_id: z.number().nullable(),
  incident_id: z.number().nullable(),
  title: z.string(),
  facts: z.record(z.string(), z.unknown()),
  severity: z.enum(['minor', 'major', 'critical']),
  is_lasting: z.boolean(),
  started_at: z.number(),
  ended_at: z.number().nullable(),
  resolution: z.string().nullable(),
  acknowledged_at: z.number().nullable(),
  /** It is over, and nobody has decided yet what its target is told of that. */
  is_undecided: z.boolean(),
  /** What it is to be told is held back. */
  is_held: z.boolean(),
  is_snoozed: z.boolean(),
  /** When it was found, and when its message was queued. */
  found_at: z.number(),
  queued_at: z.number().nullable(),
  /** The message of the problem did not arrive. */
  is_lost: z.boolean(),
  reason: z.string().nullable(),
});
export type Part = Omit<z.output<typeof partRow>, 'delivery_id' | 'notification_id' | 'occasion_id'> & {
  readonly deliveryId: number;
  readonly notificationId: number;
  readonly occasionId: number;
};

/** What messages carry, with the occasions as they are now; by message, in their order. */
export async function partsOf(
  connection: CommonQueryMethods,
  deliveryIds: readonly number[],
  nowMs: number,
): Promise<ReadonlyMap<number, readonly Part[]>> {
  const rows = await connection.any(sql.type(partRow)`
    select n.delivery_id, n.id as notification_id, n.alert_name, n.kind, n.seq, n.created_at as decided_at, o.id as occasion_id, o.key, o.uid::text as uid, n.event,
      o.event as occasion_event, o.subject_type, o.subject_id, o.incident_id, o.title, o.facts, o.severity, o.is_lasting, o.started_at, o.ended_at,
      o.resolution, o.acknowledged_at, 
      coalesce(o.is_lasting and o.ended_at is not null and t.state = 'problem', false) as is_undecided, t.held_at is not null as is_held,
      coalesce((select i.created_at from incidents i where i.id = o.incident_id), o.created_at) as found_at, t.queued_at,
      coalesce(t.snoozed_until > ${at(nowMs)}, false) as is_snoozed,
      coalesce(t.lost_at is not null and t.sent_at is null, false) as is_lost, n.reason
    from notifications n join alert_occasions o on o.id = n.occasion_id
      left join alert_told t on t.occasion_id = n.occasion_id and t.target_key = n.target_key
    where n.delivery_id = any(${ids(deliveryIds)}) and n.status = 'queued'
    order by n.delivery_id, n.id`);
  return Map.groupBy(
    rows.map(({ delivery_id, notification_id, occasion_id, ...row }) => ({
      ...row,
      deliveryId: Number(delivery_id),
      notificationId: Number(notification_id),
      occasionId: Number(occasion_id),
    })),
    ({ deliveryId }) => deliveryId,
  );
}

/** Notes that a message arrived, with all that it carried. */
export async function noteSent(
  pool: DatabasePool,
  deliveryId: number,
  sent: { readonly latencyMs: number; readonly reference: string | null; readonly text: string },
  nowMs: number,
): Promise<void> {
  await pool.transaction(async (transaction) => {
    await transaction.query(sql.unsafe`
      update deliveries set status = 'sent', done_at = ${at(nowMs)}, target = null, lease_until = null, leased_by = null, error = null,
        error_code = null, error_fault = null, latency_ms = ${Math.round(sent.latencyMs)}, reference = ${sent.reference?.slice(0, 300) ?? null},
        text = ${sent.text.slice(0, 4_000)}
      where id = ${deliveryId} and status = 'queued'`);
    await lockTold(transaction, deliveryId);
    await transaction.query(sql.unsafe`
      update alert_told t set sent_at = coalesce(t.sent_at, ${at(nowMs)}), lost_at = null
      from (
        select n.occasion_id, n.target_key from notifications n
        where n.delivery_id = ${deliveryId} and n.status = 'queued' and n.kind not in ('resolved', 'recovered', 'was_down')) n
      where t.occasion_id = n.occasion_id and t.target_key = n.target_key`);
    await transaction.query(sql.unsafe`
      update notifications set status = 'sent', done_at = ${at(nowMs)}, target = null where delivery_id = ${deliveryId} and status = 'queued'`);
  });
}

export type Failure = {
  readonly code: string;
  readonly fault: string;
  readonly message: string;
  readonly latencyMs: number;
};

/** Notes that a message did not arrive. @param retryMs when it is tried again; null: never, and whoever stands in is told instead */
export async function noteFailed(
  pool: DatabasePool,
  { id: deliveryId, attempts }: Pick<ClaimedDelivery, 'id' | 'attempts'>,
  failure: Failure,
  retryMs: number | null,
  nowMs: number,
): Promise<void> {
  // Whoever comes after the end of the lease says nothing of an attempt that another makes meanwhile.
  const isOurs = sql.fragment`id = ${deliveryId} and status = 'queued' and attempts = ${attempts}`;
  const error = sql.fragment`error_code = ${failure.code}, error_fault = ${failure.fault}, error = ${failure.message.slice(0, 1_000)},
    latency_ms = ${Math.round(failure.latencyMs)}, lease_until = null, leased_by = null`;
  if (retryMs !== null) {
    await pool.query(sql.unsafe`
      update deliveries set ${error}, next_attempt_at = ${at(retryMs)} where ${isOurs}`);
    return;
  }
  await pool.transaction(async (transaction) => {
    const { rowCount } = await transaction.query(sql.unsafe`
      update deliveries set ${error}, status = 'failed', done_at = ${at(nowMs)}, target = null where ${isOurs}`);
    if (rowCount === 0) return;
    await lockTold(transaction, deliveryId);
    await transaction.query(sql.unsafe`
      update alert_told t set lost_at = ${at(nowMs)}
      from (
        select n.occasion_id, n.target_key from notifications n
        where n.delivery_id = ${deliveryId} and n.status = 'queued') n
      where t.occasion_id = n.occasion_id and t.target_key = n.target_key and t.sent_at is null`);
    await transaction.query(sql.unsafe`
      update notifications set status = 'failed', done_at = ${at(nowMs)}, target = null where delivery_id = ${deliveryId} and status = 'queued'`);
  });
  // Apart from the above: the planner locks occasions first, and what targets were told after them.
  await pool.query(sql.unsafe`
    update alert_occasions set due_at = least(due_at, ${at(nowMs)})
    where (ended_at is null or due_at is not null) and id = any(array(
      select o.id from alert_occasions o join notifications n on n.occasion_id = o.id where n.delivery_id = ${deliveryId}
      order by o.id for update of o))`);
}

/** What targets were told of all that a message carries, in the order in which the planner locks it. */
async function lockTold(transaction: Transaction, deliveryId: number): Promise<void> {
  await transaction.query(sql.unsafe`
    select from alert_told t join notifications n on n.occasion_id = t.occasion_id and n.target_key = t.target_key
    where n.delivery_id = ${deliveryId} and n.status = 'queued' order by t.occasion_id, t.target_key for update of t`);
}

/** Gives a message back that was not sent, as if it had not been claimed. */
export async function giveBack(pool: DatabasePool, deliveryId: number, nextMs: number): Promise<void> {
  await pool.query(sql.unsafe`
    update deliveries set lease_until = null, leased_by = null, attempts = greatest(attempts - 1, 0), next_attempt_at = ${at(nextMs)}
    where id = ${deliveryId} and status = 'queued'`);
}

/** What does not hold any more is not sent; a message that carries nothing else is cancelled. */
export async function suppress(
  pool: DatabasePool,
  parts: readonly { readonly notificationId: number; readonly reason: string }[],
  cancelledIds: readonly number[],
  nowMs: number,
): Promise<void> {
  if (parts.length === 0 && cancelledIds.length === 0) return;
  await pool.transaction(async (transaction) => {
    await transaction.query(sql.unsafe`
      update deliveries set status = 'cancelled', done_at = ${at(nowMs)}, target = null, lease_until = null, leased_by = null
      where id = any(${ids(cancelledIds)}) and status = 'queued'`);
    await transaction.query(sql.unsafe`
      update notifications n set status = 'suppressed', reason = g.reason, done_at = ${at(nowMs)}, target = null
      from ${sql.unnest(
        parts.map(({ notificationId, reason }) => [String(notificationId), reason]),
        ['int8', 'text'],
      )} as g (id, reason) where n.id = g.id and n.status = 'queued'`);
  });
}
