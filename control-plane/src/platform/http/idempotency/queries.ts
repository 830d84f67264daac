import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../database/pools.ts';
import type { Transaction } from '../../database/pools.ts';
import { inScope } from '../../database/scope.ts';
import type { Scope } from '../../database/scope.ts';

/** How long a key is kept. */
export const keptHours = 24;
/** An attempt that says nothing for so long may be taken over; should it still run, it can commit nothing more. Seconds. */
const leaseSeconds = 60;

/** A request under a key. */
export type KeyedRequest = {
  readonly userId: number;
  readonly route: string;
  readonly key: string;
  readonly sealedDigest: Buffer;
  readonly workspaceIds: readonly number[];
  readonly attempt: string;
};

/** The row of a key that this attempt has. */
export type Claim = { readonly id: bigint; readonly attempt: string; readonly userId: number };

const claimedRow = z.object({ id: z.bigint() });
const storedRow = z.object({
  sealed_digest: z.instanceof(Buffer),
  workspace_ids: z.array(z.number()),
  is_done: z.boolean(),
  answer: z.instanceof(Buffer).nullable(),
});
/** A key that another request has, or had. */
export type StoredRequest = z.output<typeof storedRow>;

const ownScope = (userId: number): Scope => ({ userId, workspaceIds: [] });

/**
 * Takes a key: one that is new, too old, or of an attempt that was given up and did nothing. The unique index settles who of many has it.
 * @returns the claim, or what is known of the request that has it; undefined when it was set free just now: try again
 */
export async function claimKey(
  pool: DatabasePool,
  request: KeyedRequest,
): Promise<{ readonly claim: Claim } | { readonly stored: StoredRequest } | undefined> {
  const { userId, route, key, attempt } = request;
  return inScope(pool, ownScope(userId), async (tx) => {
    const claimed = await tx.maybeOne(sql.type(claimedRow)`
      insert into idempotency_keys as k (user_id, route, key, sealed_digest, workspace_ids, attempt, lease_until)
      values (${userId}, ${route}, ${key}, ${sql.binary(request.sealedDigest)}, ${sql.array(request.workspaceIds, 'int4')},
        ${attempt}::uuid, now() + ${leaseSeconds} * interval '1 second')
      on conflict (user_id, route, key) do update set sealed_digest = excluded.sealed_digest,
        workspace_ids = excluded.workspace_ids, attempt = excluded.attempt, lease_until = excluded.lease_until,
        is_done = false, answer = null, begun_at = now()
      where k.begun_at <= now() - ${keptHours} * interval '1 hour'
        or (k.answer is null and not k.is_done and k.lease_until <= now())
      returning k.id`);
    if (claimed !== null) return { claim: { id: claimed.id, attempt, userId } };
    const stored = await tx.maybeOne(sql.type(storedRow)`
      select sealed_digest, workspace_ids, is_done, answer from idempotency_keys
      where user_id = ${userId} and route = ${route} and key = ${key}`);
    return stored === null ? undefined : { stored };
  });
}

/**
 * Notes, as the last step of a transaction of the request, that something of it is done, if the transaction has written anything.
 * @returns false when another attempt has taken over: nothing of this one may be committed
 */
export async function noteDone(transaction: Transaction, claim: Claim): Promise<boolean> {
  // Evaluated before this very update makes the transaction one that has written.
  const { rowCount } = await transaction.query(sql.unsafe`
    update idempotency_keys set is_done = is_done or pg_current_xact_id_if_assigned() is not null
    where id = ${claim.id} and attempt = ${claim.attempt}::uuid`);
  return rowCount > 0;
}

/** Keeps the answer. */
export async function keepAnswer(pool: DatabasePool, claim: Claim, sealed: Buffer): Promise<void> {
  await inScope(pool, ownScope(claim.userId), (tx) =>
    tx.query(sql.unsafe`
      update idempotency_keys set answer = ${sql.binary(sealed)}, is_done = true
      where id = ${claim.id} and attempt = ${claim.attempt}::uuid`),
  );
}

/** Sets a key free, unless `unlessDone` and something of the request is done. */
export async function freeKey(pool: DatabasePool, claim: Claim, unlessDone: boolean): Promise<void> {
  await inScope(pool, ownScope(claim.userId), (tx) =>
    tx.query(sql.unsafe`
      delete from idempotency_keys
      where id = ${claim.id} and attempt = ${claim.attempt}::uuid and not (${unlessDone} and is_done)`),
  );
}

/** Removes some of the keys that are too old. For the worker login. @returns how many */
export async function sweepKeys(worker: CommonQueryMethods, most: number): Promise<number> {
  const { rowCount } = await worker.query(sql.unsafe`
    delete from idempotency_keys where id in (
      select id from idempotency_keys where begun_at <= now() - ${keptHours} * interval '1 hour'
      order by begun_at limit ${most} for update skip locked)`);
  return rowCount;
}
