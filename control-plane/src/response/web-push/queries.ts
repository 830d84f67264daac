import { mostPushSubscriptions } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';

const subscriptionRow = z.object({
  id: z.number(),
  name: z.string(),
  user_agent: z.string().nullable(),
  service: z.string(),
  endpoint_hash: z.instanceof(Buffer),
  expires_at: z.number().nullable(),
  created_at: z.number(),
  seen_at: z.number(),
  last_delivered_at: z.number().nullable(),
});
export type SubscriptionRow = z.output<typeof subscriptionRow>;

const columns = sql.fragment`id, name, user_agent, service, endpoint_hash, expires_at, created_at, seen_at, last_delivered_at`;
const instant = (ms: number | null) => (ms === null ? null : sql.timestamp(new Date(ms)));

/** A page of the subscriptions of the scope's user, the one seen last first; and how many there are. */
export async function listSubscriptions(
  scope: Scope,
  tx: Transaction,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ readonly rows: readonly SubscriptionRow[]; readonly total: number }> {
  const rows = await tx.any(sql.type(subscriptionRow)`
    select ${columns} from push_subscriptions where user_id = ${scope.userId}
    order by seen_at desc, id desc limit ${page.limit} offset ${page.offset}`);
  const total = await tx.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from push_subscriptions where user_id = ${scope.userId}`);
  return { rows, total };
}

/** Makes those that subscribe browsers of one user wait for each other, so that their number can be bounded. */
export async function lockSubscriptions(scope: Scope, tx: Transaction): Promise<void> {
  await tx.query(sql.unsafe`select pg_advisory_xact_lock(hashtext('push_subscriptions'), ${scope.userId}::integer)`);
}

/** What is kept of a subscription, and by what it is known. */
export type KeptSubscription = {
  readonly endpointHash: Buffer;
  readonly keysHash: Buffer;
  /** Null keeps the name that it has. */
  readonly name: string | null;
  readonly userAgent: string | null;
  readonly service: string;
  readonly expiresAtMs: number | null;
};

/** The number of a subscription of the scope's user that has this endpoint, or null. */
export async function findByEndpoint(scope: Scope, tx: Transaction, endpointHash: Buffer): Promise<number | null> {
  return tx.maybeOneFirst(sql.typeAlias('id')`
    select id from push_subscriptions where user_id = ${scope.userId} and endpoint_hash = ${sql.binary(endpointHash)} for update`);
}

/** Sees a subscription again, which may have new keys. */
export async function renewSubscription(
  scope: Scope,
  tx: Transaction,
  id: number,
  kept: KeptSubscription,
  sealed: Buffer,
  nowMs: number,
): Promise<SubscriptionRow> {
  return tx.one(sql.type(subscriptionRow)`
    update push_subscriptions set
      name = coalesce(${kept.name}, name), user_agent = ${kept.userAgent}, service = ${kept.service}, keys_hash = ${sql.binary(kept.keysHash)},
      sealed = ${sql.binary(sealed)}, expires_at = ${instant(kept.expiresAtMs)}, seen_at = greatest(seen_at, ${instant(nowMs)}::timestamptz)
    where id = ${id} and user_id = ${scope.userId}
    returning ${columns}`);
}

/**
 * Frees an endpoint that another account has with the same keys. False when it is not to be had: its keys are others.
 * Row-level security hides other accounts' rows, so this is a function of the closed list.
 */
export async function releaseEndpoint(tx: Transaction, endpointHash: Buffer, keysHash: Buffer): Promise<boolean> {
  return tx.oneFirst(sql.type(z.object({ free: z.boolean() }))`
    select identity_release_push_subscription(${sql.binary(endpointHash)}, ${sql.binary(keysHash)}) as free`);
}

/** The number of a subscription that is to be made: what it seals is bound to it. */
export async function nextSubscriptionId(tx: Transaction): Promise<number> {
  return tx.oneFirst(sql.typeAlias('id')`select nextval('push_subscriptions_id_seq')::integer as id`);
}

/** Keeps a new subscription of the scope's user; null when another one has taken the endpoint meanwhile. */
export async function insertSubscription(
  scope: Scope,
  tx: Transaction,
  id: number,
  kept: KeptSubscription & { readonly name: string },
  sealed: Buffer,
  nowMs: number,
): Promise<SubscriptionRow | null> {
  return tx.maybeOne(sql.type(subscriptionRow)`
    insert into push_subscriptions
      (id, user_id, name, user_agent, service, endpoint_hash, keys_hash, sealed, expires_at, created_at, seen_at)
    overriding system value
    values (
      ${id}, ${scope.userId}, ${kept.name}, ${kept.userAgent}, ${kept.service}, ${sql.binary(kept.endpointHash)},
      ${sql.binary(kept.keysHash)}, ${sql.binary(sealed)}, ${instant(kept.expiresAtMs)}, ${instant(nowMs)}, ${instant(nowMs)})
    on conflict (endpoint_hash) do nothing
    returning ${columns}`);
}

const removedRow = z.object({ id: z.number(), name: z.string() });

/** Removes what the scope's user has beyond the bound, those first that were not seen for the longest. The number given stays. */
export async function removeOldest(
  scope: Scope,
  tx: Transaction,
  keep: number,
): Promise<readonly z.output<typeof removedRow>[]> {
  return tx.any(sql.type(removedRow)`
    delete from push_subscriptions where user_id = ${scope.userId} and id in (
      select id from push_subscriptions where user_id = ${scope.userId}
      order by id = ${keep} desc, seen_at desc, id desc offset ${mostPushSubscriptions})
    returning id, name`);
}

/** Removes a subscription of the scope's user, by its endpoint or its number; null when there is none. */
export async function removeSubscription(
  scope: Scope,
  tx: Transaction,
  which: { readonly endpointHash: Buffer } | { readonly id: number },
): Promise<z.output<typeof removedRow> | null> {
  const named =
    'id' in which ? sql.fragment`id = ${which.id}` : sql.fragment`endpoint_hash = ${sql.binary(which.endpointHash)}`;
  return tx.maybeOne(sql.type(removedRow)`
    delete from push_subscriptions where user_id = ${scope.userId} and ${named} returning id, name`);
}

const sealedRow = z.object({ id: z.number(), name: z.string(), sealed: z.instanceof(Buffer) });

/** What is needed to send to the browsers of the scope's user, or to one of them, that have not expired. @param id null: all */
export async function readSealed(
  scope: Scope,
  connection: CommonQueryMethods,
  id: number | null,
  nowMs: number,
): Promise<readonly z.output<typeof sealedRow>[]> {
  return connection.any(sql.type(sealedRow)`
    select id, name, sealed from push_subscriptions
    where user_id = ${scope.userId} and (${id}::integer is null or id = ${id}) and (expires_at is null or expires_at > ${instant(nowMs)})
    order by id limit ${mostPushSubscriptions}`);
}

/** Removes subscriptions of the scope's user whose push service says that they are gone. */
export async function removeGone(scope: Scope, connection: CommonQueryMethods, ids: readonly number[]): Promise<void> {
  await connection.query(sql.unsafe`
    delete from push_subscriptions where user_id = ${scope.userId} and id = any(${sql.array([...ids], 'int4')})`);
}

/** Notes that push services took a message for these. */
export async function noteDelivered(
  scope: Scope,
  connection: CommonQueryMethods,
  ids: readonly number[],
  nowMs: number,
): Promise<void> {
  await connection.query(sql.unsafe`
    update push_subscriptions set last_delivered_at = ${instant(nowMs)}
    where user_id = ${scope.userId} and id = any(${sql.array([...ids], 'int4')})`);
}
