import { payloadRuleSchema } from '@parallax/api-contract';
import type { PayloadStatus, RefusalReason, SilentReason } from '@parallax/api-contract';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { signingFields, stateFields } from '../row.ts';
import type { StateRow } from '../row.ts';

const receiverRow = z.object({ ...signingFields, rules: z.array(payloadRuleSchema) });
export type ReceiverRow = z.output<typeof receiverRow>;

/** What deliveries to a URL are judged by; null where there is no check. Before the tenant is known. */
export async function findReceiver(pool: DatabasePool, slugHash: Buffer): Promise<ReceiverRow | null> {
  return pool.maybeOne(sql.type(receiverRow)`
    select id, workspace_id, signature, custom_hmac, sealed_secret, sealed_previous, previous_until, rules
    from identity_webhook_check(${sql.binary(slugHash)})`);
}

const ofScope = (scope: Scope) => sql.fragment`workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})`;

/** The state of a check of the scope, locked until the transaction ends; null when it is gone. */
export async function lockStateOf(scope: Scope, tx: Transaction, checkId: number): Promise<StateRow | null> {
  return tx.maybeOne(sql.type(z.object(stateFields))`
    select id, workspace_id, name, expected_interval_seconds, grace_period_seconds, rules, status, status_since, reason, last_received_at,
      expects_from, next_expected_at, deadline_at
    from webhook_checks where id = ${checkId} and ${ofScope(scope)} and deleted_at is null for update`);
}

/** Whether a delivery of this name was accepted since an instant. The check is locked by the caller, so two at once come one after another. */
export async function wasDelivered(
  scope: Scope,
  tx: Transaction,
  checkId: number,
  deliveryId: string,
  sinceMs: number,
): Promise<boolean> {
  return tx.exists(sql.type(z.object({}))`
    select from webhook_check_events
    where check_id = ${checkId} and ${ofScope(scope)} and delivery_id = ${deliveryId} and accepted
      and reason is distinct from 'duplicate' and received_at > ${sql.timestamp(new Date(sinceMs))}`);
}

/** A delivery as it is kept. */
export type NewEvent = {
  readonly receivedMs: number;
  readonly deliveryId: string | null;
  readonly accepted: boolean;
  readonly reason: RefusalReason | SilentReason | null;
  readonly status: PayloadStatus | null;
  readonly rule: number | null;
  /** Null: not kept. */
  readonly body: { readonly text: string; readonly isCut: boolean } | null;
  readonly bodyBytes: number;
  readonly remoteAddress: string;
};

/** How many are kept: refused deliveries, and bodies of accepted ones, of each check. */
const mostKept = 100;

/**
 * Keeps a delivery to a check, and no more than so many of its kind: of refused ones the rows, of accepted ones the bodies.
 * @returns its number
 */
export async function insertEvent(
  scope: Scope,
  tx: Transaction,
  check: { readonly id: number; readonly workspace_id: number },
  event: NewEvent,
): Promise<number> {
  const id = await tx.oneFirst(sql.type(z.object({ id: z.bigint() }))`
    insert into webhook_check_events (
      check_id, workspace_id, received_at, delivery_id, accepted, reason, status, rule, body, body_truncated, body_bytes, remote_address)
    values (
      ${check.id}, ${check.workspace_id}, ${sql.timestamp(new Date(event.receivedMs))}, ${event.deliveryId}, ${event.accepted},
      ${event.reason}, ${event.status}, ${event.rule}, ${event.body?.text ?? null}, ${event.body?.isCut ?? false}, ${event.bodyBytes},
      ${event.remoteAddress})
    returning id`);
  const older = sql.fragment`check_id = ${check.id} and ${ofScope(scope)} and accepted = ${event.accepted} and id <= (
    select last.id from webhook_check_events last where last.check_id = ${check.id} and last.accepted = ${event.accepted}
    order by last.id desc offset ${mostKept} limit 1)`;
  await tx.query(
    event.accepted
      ? sql.unsafe`update webhook_check_events set body = null where body is not null and ${older}`
      : sql.unsafe`delete from webhook_check_events where ${older}`,
  );
  return Number(id);
}
