import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { AlertTarget } from '../alert.ts';
import { targetShape } from '../rules/row.ts';

const at = (ms: number) => sql.timestamp(new Date(ms));

/** The condition for a notification that is due and that no message has yet. */
export const isWaiting = (nowMs: number) =>
  sql.fragment`status = 'queued' and delivery_id is null and due_at <= ${at(nowMs)}`;

/** Whether anything waits to become a message. */
export async function isAnyWaiting(pool: DatabasePool, nowMs: number): Promise<boolean> {
  return pool.exists(sql.unsafe`select from notifications where ${isWaiting(nowMs)}`);
}

const keyRow = z.object({ target_key: z.string() });

/** Targets for which something waits that belongs to no message, those that have waited longest first; nobody else bundles for them meanwhile. */
export async function claimTargets(transaction: Transaction, nowMs: number, most: number): Promise<readonly string[]> {
  const keys = await transaction.anyFirst(sql.type(keyRow)`
    select target_key from notifications where ${isWaiting(nowMs)}
    group by target_key order by min(due_at) limit ${most}`);
  if (keys.length === 0) return [];
  // In a statement of its own: a lock is tried once for each, whatever the plan.
  return transaction.anyFirst(sql.type(keyRow)`
    select target_key from unnest(${sql.array([...keys], 'text')}) as given (target_key)
    where pg_try_advisory_xact_lock(hashtextextended('alerts ' || target_key, 0))`);
}

const waitingRow = z.object({
  id: z.bigint(),
  workspace_id: z.number(),
  owner_id: z.number(),
  target_key: z.string(),
  target: targetShape,
  target_masked: z.string(),
  kind: z.string(),
  after_quiet: z.boolean(),
  created_at: z.number(),
});
export type WaitingRow = Omit<z.output<typeof waitingRow>, 'id' | 'target'> & {
  readonly id: number;
  readonly target: AlertTarget;
};

/** What waits for targets, in the order in which it is to be told. */
export async function waitingFor(
  transaction: Transaction,
  keys: readonly string[],
  nowMs: number,
): Promise<WaitingRow[]> {
  const rows = await transaction.any(sql.type(waitingRow)`
    select id, workspace_id, owner_id, target_key, target, target_masked, kind, after_quiet, created_at from notifications
    where target_key = any(${sql.array([...keys], 'text')}) and status = 'queued' and delivery_id is null
      and (due_at <= ${at(nowMs)} or not after_quiet)
    order by id`);
  return rows.map((row) => ({ ...row, id: Number(row.id), target: row.target }));
}

const latelyRow = z.object({
  target_key: z.string(),
  workspace_id: z.number(),
  own: z.number(),
  digest_at: z.number().nullable(),
});

/** What targets were sent in the last minute, by workspace. */
export async function sentLately(transaction: Transaction, keys: readonly string[], nowMs: number) {
  const rows = await transaction.any(sql.type(latelyRow)`
    select target_key, workspace_id, (count(*) filter (where kind not in ('digest', 'after_quiet', 'test')))::integer as own,
      max(created_at) filter (where kind = 'digest') as digest_at
    from deliveries
    where target_key = any(${sql.array([...keys], 'text')}) and created_at > ${at(nowMs - 60_000)} and status <> 'cancelled'
    group by target_key, workspace_id`);
  return rows.map((row) => ({
    targetKey: row.target_key,
    workspaceId: row.workspace_id,
    own: row.own,
    digestMs: row.digest_at,
  }));
}

/** A message to be sent, and the notifications that it carries. */
export type NewDelivery = {
  readonly of: WaitingRow;
  readonly kind: string;
  readonly notificationIds: readonly number[];
};

const idRow = z.object({ id: z.bigint() });

/** Writes messages to be sent now, in their order, and lets what waits longer wait until then. */
export async function writeDeliveries(
  transaction: Transaction,
  deliveries: readonly NewDelivery[],
  waits: readonly { readonly ids: readonly number[]; readonly untilMs: number }[],
  nowMs: number,
): Promise<void> {
  const waiting = waits.flatMap(({ ids, untilMs }) => ids.map((id) => [String(id), new Date(untilMs).toISOString()]));
  if (waiting.length > 0) {
    await transaction.query(sql.unsafe`
      update notifications n set due_at = g.due_at
      from ${sql.unnest(waiting, ['int8', 'timestamptz'])} as g (id, due_at) where n.id = g.id`);
  }
  if (deliveries.length === 0) return;
  const ids = await transaction.anyFirst(sql.type(idRow)`
    select nextval('deliveries_id_seq') as id from generate_series(1, ${deliveries.length})`);
  const rows = deliveries.map(({ of, kind }, index) => ({
    id: Number(ids[index]),
    workspace_id: of.workspace_id,
    owner_id: of.owner_id,
    target_key: of.target_key,
    target: of.target,
    channel: of.target.channel,
    config_id: of.target.config_id,
    target_masked: of.target_masked,
    kind,
    first_notification_id: Math.min(...(deliveries[index]?.notificationIds ?? [0])),
  }));
  const gathered = deliveries
    .filter(({ kind }) => kind === 'digest' || kind === 'after_quiet')
    .flatMap(({ notificationIds }) => notificationIds.map(String));
  // What waited for company could not be sent before: only from now on it may be late. Locked before messages, as everybody does.
  await transaction.query(sql.unsafe`
    update alert_told t set queued_at = ${at(nowMs)}
    where (t.occasion_id, t.target_key) in (
      select u.occasion_id, u.target_key from alert_told u join notifications n on n.occasion_id = u.occasion_id and n.target_key = u.target_key
      where n.id = any(${sql.array(gathered, 'int8')}) and u.state = 'problem' and u.sent_at is null
      order by u.occasion_id, u.target_key for update of u)`);
  await transaction.query(sql.unsafe`
    insert into deliveries (id, workspace_id, owner_id, target_key, target, channel, config_id, target_masked, kind,
      first_notification_id, next_attempt_at, created_at)
      overriding system value
    select g.id, g.workspace_id, g.owner_id, g.target_key, g.target, g.channel, g.config_id, g.target_masked, g.kind,
      g.first_notification_id, ${at(nowMs)}, ${at(nowMs)}
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as g (id bigint, workspace_id integer, owner_id integer, target_key text, target jsonb,
      channel text, config_id integer, target_masked text, kind text, first_notification_id bigint)`);
  const pairs = deliveries.flatMap(({ notificationIds }, index) =>
    notificationIds.map((id) => [String(id), String(ids[index])]),
  );
  await transaction.query(sql.unsafe`
    update notifications n set delivery_id = g.delivery_id
    from ${sql.unnest(pairs, ['int8', 'int8'])} as g (id, delivery_id) where n.id = g.id and n.status = 'queued'`);
}
