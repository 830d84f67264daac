import { webhookLimits } from '@parallax/api-contract';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { waitingWebhooks } from '../sending/claim.queries.ts';

const at = (ms: number) => sql.timestamp(new Date(ms));
const dayMs = 86_400_000;
const batch = 5_000;

/** What waits for webhooks that are switched off is missed; what is under way may still arrive. */
export async function missQueued(pool: DatabasePool, webhookIds?: readonly number[]): Promise<void> {
  const which =
    webhookIds === undefined
      ? sql.fragment`w.id in (with recursive hooks (id) as (${waitingWebhooks}) select id from hooks where id is not null)`
      : sql.fragment`w.id = any(${sql.array([...webhookIds], 'int4')})`;
  await pool.query(sql.unsafe`
    update webhook_deliveries d set state = 'missed', leased_by = null, is_replay = false, tries = 0
    from webhooks w
    where ${which} and not w.is_active and w.deleted_at is null and d.webhook_id = w.id and d.state = 'queued'`);
}

/** Switches off webhooks for which too much waits. */
export async function switchOffFull(pool: DatabasePool): Promise<void> {
  await pool.query(sql.unsafe`
    with recursive hooks (id) as (${waitingWebhooks})
    update webhooks w set is_active = false, disabled_reason = 'queue_full'
    from hooks where w.id = hooks.id and w.is_active and exists (
      select from webhook_deliveries d where d.webhook_id = w.id and d.state = 'queued' offset ${webhookLimits.queued - 1} limit 1)`);
}

const failingRow = z.object({
  id: z.number(),
  name: z.string(),
  origin: z.string(),
  workspace_name: z.string(),
  failing_since: z.number(),
  last_failure_at: z.number(),
  failures: z.number(),
  mails_sent: z.number(),
});
export type FailingWebhook = z.output<typeof failingRow>;

/** Webhooks that have failed since at least a day, locked until the transaction ends. */
export async function lockFailing(transaction: Transaction, nowMs: number): Promise<readonly FailingWebhook[]> {
  return transaction.any(sql.type(failingRow)`
    select w.id, w.name, w.origin, s.name as workspace_name, w.failing_since, w.last_failure_at, w.failures, w.mails_sent
    from webhooks w join workspaces s on s.id = w.workspace_id
    where w.failing_since <= ${at(nowMs - dayMs)} and w.is_active and w.deleted_at is null and w.mails_sent < 3
    order by w.id limit 100 for no key update of w skip locked`);
}

const readerRow = z.object({ email: z.string(), locale: z.enum(['en', 'ru']) });

/** Who is told that a webhook fails: who made it, while a member, and the owner of its workspace. */
export async function readersOf(
  transaction: Transaction,
  webhookId: number,
): Promise<readonly z.output<typeof readerRow>[]> {
  return transaction.any(sql.type(readerRow)`
    select distinct u.email, u.locale from webhooks w join workspaces s on s.id = w.workspace_id
      join workspace_members m on m.workspace_id = w.workspace_id and m.user_id in (w.maker_id, s.owner_id)
      join users u on u.id = m.user_id
    where w.id = ${webhookId} and u.email is not null and u.email_verified`);
}

/** Notes that mails were sent, and whether the webhook is switched off by that. */
export async function noteMailed(transaction: Transaction, id: number, mails: number, isOff: boolean): Promise<void> {
  await transaction.query(sql.unsafe`
    update webhooks set mails_sent = ${mails}, is_active = is_active and not ${isOff},
      disabled_reason = case when ${isOff} then 'failing' else disabled_reason end
    where id = ${id}`);
}

/** Removes what is no longer kept, some of it at a time. @returns how many rows it took */
export async function sweepOnce(pool: DatabasePool, nowMs: number): Promise<number> {
  const old = await pool.query(sql.unsafe`
    delete from webhook_deliveries where id = any(array(
      select id from webhook_deliveries
      where created_at < ${at(nowMs - 7 * dayMs)} and (is_test or created_at < ${at(nowMs - 30 * dayMs)})
        and state <> 'queued' and (is_test or failed_at is null or failed_at < ${at(nowMs - 30 * dayMs)})
      limit ${batch}))`);
  const answers = await pool.query(sql.unsafe`
    update webhook_deliveries set has_answers = false,
      history = (select coalesce(jsonb_agg(one || '{"answer": null}' order by place), '[]')
        from jsonb_array_elements(history) with ordinality as h (one, place))
    where id = any(array(
      select id from webhook_deliveries where has_answers and created_at < ${at(nowMs - 7 * dayMs)} and state <> 'queued' limit ${batch}))`);
  const deleted = await pool.query(sql.unsafe`
    delete from webhook_deliveries where id = any(array(
      select d.id from webhooks w join webhook_deliveries d on d.webhook_id = w.id where w.deleted_at is not null limit ${batch}))`);
  await pool.query(sql.unsafe`
    delete from webhooks w where w.deleted_at is not null
      and not exists (select from webhook_deliveries d where d.webhook_id = w.id)`);
  await pool.query(sql.unsafe`delete from webhook_hours where hour < ${at(nowMs - 31 * dayMs)}`);
  await pool.query(sql.unsafe`delete from webhook_latencies where hour < ${at(nowMs - 31 * dayMs)}`);
  return old.rowCount + answers.rowCount + deleted.rowCount;
}

/** Hook of the deletion of a monitor: it leaves the scopes that name it. */
export async function leaveWebhooksOfDeleted(tx: Transaction, monitorId: number): Promise<void> {
  await tx.query(sql.unsafe`delete from webhook_subjects where monitor_id = ${monitorId}`);
}

/** A webhook that a monitor has left. */
export type LeftWebhook = {
  readonly monitorId: number;
  readonly dropped: { readonly type: 'webhook'; readonly id: number };
};

/** Hook of the move of monitors to another workspace: no webhook of the old one names them any more. */
export async function leaveWebhooksOfMoved(
  tx: Transaction,
  monitors: readonly { readonly id: number }[],
): Promise<readonly LeftWebhook[]> {
  const ids = sql.array(
    monitors.map(({ id }) => id),
    'int4',
  );
  const left = await tx.any(sql.type(z.object({ monitor_id: z.number(), webhook_id: z.number() }))`
    delete from webhook_subjects where monitor_id = any(${ids}) returning monitor_id, webhook_id`);
  return left.map((row) => ({ monitorId: row.monitor_id, dropped: { type: 'webhook', id: row.webhook_id } }));
}

/** Hook of a deleted workspace whose monitors are gone. For the worker login. */
export async function removeWebhooksOfWorkspace(worker: DatabasePool, workspaceId: number): Promise<void> {
  await worker.query(sql.unsafe`
    delete from webhook_deliveries where webhook_id = any(array(select id from webhooks where workspace_id = ${workspaceId}))`);
  await worker.query(sql.unsafe`delete from webhooks where workspace_id = ${workspaceId}`);
}
