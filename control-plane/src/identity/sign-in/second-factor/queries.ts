import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { firstPauseSeconds, freeFailures, longestPauseSeconds } from './pauses.ts';

const bytes = z.instanceof(Buffer);
const totpRow = z.object({ secret: bytes, confirmed_at: z.number().nullable() });

/** The authenticator app of the scope's user, its secret sealed; null when there is none. */
export async function findTotp(scope: Scope, transaction: Transaction): Promise<z.output<typeof totpRow> | null> {
  return transaction.maybeOne(sql.type(totpRow)`
    select secret, confirmed_at from totp_factors where user_id = ${scope.userId}`);
}

/** Keeps a new secret, which still is to be confirmed. False when one is confirmed. */
export async function beginTotp(scope: Scope, transaction: Transaction, secret: Buffer): Promise<boolean> {
  const { rowCount } = await transaction.query(sql.unsafe`
    insert into totp_factors as present (user_id, secret) values (${scope.userId}, ${sql.binary(secret)})
    on conflict (user_id) do update set secret = excluded.secret, created_at = now() where present.confirmed_at is null`);
  return rowCount > 0;
}

/** Confirms the very secret that a code was compared with. False when it is confirmed already or was replaced meanwhile. */
export async function confirmTotp(
  scope: Scope,
  transaction: Transaction,
  sealedSecret: Buffer,
  step: number,
): Promise<boolean> {
  const { rowCount } = await transaction.query(sql.unsafe`
    update totp_factors set confirmed_at = now(), last_step = ${step}
    where user_id = ${scope.userId} and confirmed_at is null and secret = ${sql.binary(sealedSecret)}`);
  return rowCount > 0;
}

/** Uses a step up. False when a code of it, or of a later one, counted before. */
export async function useTotpStep(scope: Scope, transaction: Transaction, step: number): Promise<boolean> {
  const { rowCount } = await transaction.query(sql.unsafe`
    update totp_factors set last_step = ${step}
    where user_id = ${scope.userId} and confirmed_at is not null and last_step < ${step}`);
  return rowCount > 0;
}

/** Removes the authenticator app, confirmed or not. False when there is none. */
export async function removeTotp(scope: Scope, transaction: Transaction): Promise<boolean> {
  const { rowCount } = await transaction.query(sql.unsafe`delete from totp_factors where user_id = ${scope.userId}`);
  return rowCount > 0;
}

/** Puts these codes in place of all others. */
export async function replaceRecoveryCodes(
  scope: Scope,
  transaction: Transaction,
  hashes: readonly Buffer[],
): Promise<void> {
  await transaction.query(sql.unsafe`delete from recovery_codes where user_id = ${scope.userId}`);
  const rows = hashes.map((hash) => sql.fragment`(${scope.userId}, ${sql.binary(hash)})`);
  await transaction.query(sql.unsafe`
    insert into recovery_codes (user_id, code_hash) values ${sql.join(rows, sql.fragment`, `)}`);
}

/** How many codes are left, and how many there were; both zero without any. */
export async function countRecoveryCodes(
  scope: Scope,
  transaction: Transaction,
): Promise<{ readonly left: number; readonly made: number }> {
  return transaction.one(sql.type(z.object({ left: z.number(), made: z.number() }))`
    select (count(*) filter (where used_at is null))::integer as left, count(*)::integer as made
    from recovery_codes where user_id = ${scope.userId}`);
}

/** Uses a code up. False when there is none with this hash, or it was used. */
export async function useRecoveryCode(scope: Scope, transaction: Transaction, hash: Buffer): Promise<boolean> {
  const { rowCount } = await transaction.query(sql.unsafe`
    update recovery_codes set used_at = now()
    where user_id = ${scope.userId} and code_hash = ${sql.binary(hash)} and used_at is null`);
  return rowCount > 0;
}

/** Removes all codes: they stand in for a factor, and there is none any more. */
export async function removeRecoveryCodes(scope: Scope, transaction: Transaction): Promise<void> {
  await transaction.query(sql.unsafe`delete from recovery_codes where user_id = ${scope.userId}`);
}

const accountRow = z.object({ email: z.string().nullable(), password_hash: z.string().nullable() });

/** What the scope's user is called in an authenticator, and what their password is compared with. */
export async function readAccount(scope: Scope, transaction: Transaction): Promise<z.output<typeof accountRow>> {
  return transaction.one(sql.type(accountRow)`select email, password_hash from users where id = ${scope.userId}`);
}

/** The pause that a row stands for, as `pauseSeconds` computes it. */
const pause = sql.fragment`make_interval(secs => case when f.failures < ${freeFailures} then 0
  else least(${firstPauseSeconds}::float8 * 2 ^ least(f.failures - ${freeFailures}, 30), ${longestPauseSeconds}::float8) end)`;

const triedRow = z.object({ failures: z.number().nullable(), wait: z.number() });

/**
 * Counts a try as a wrong one before it is judged, so that many at once are no way around a pause; one that is right clears the count. A day
 * without a try forgets.
 * @returns how many there were, or how many seconds are to be waited when the pause is not over
 */
export async function countTry(
  scope: Scope,
  transaction: Transaction,
  key: Buffer,
): Promise<{ readonly failures: number } | { readonly waitSeconds: number }> {
  const { failures, wait } = await transaction.one(sql.type(triedRow)`
    with tried as (
      insert into second_factor_failures as f (key, user_id, failures, last_failed_at)
      values (${sql.binary(key)}, ${scope.userId}, 1, clock_timestamp())
      on conflict (key) do update set last_failed_at = clock_timestamp(),
        failures = case when f.last_failed_at < clock_timestamp() - interval '1 day' then 1 else f.failures + 1 end
      where f.user_id = ${scope.userId} and f.last_failed_at + ${pause} <= clock_timestamp()
      returning f.failures
    )
    select (select failures from tried) as failures,
      coalesce((select extract(epoch from f.last_failed_at + ${pause} - clock_timestamp())::float8
                from second_factor_failures f where f.key = ${sql.binary(key)}), 1) as wait`);
  return failures === null ? { waitSeconds: Math.max(1, Math.ceil(wait)) } : { failures };
}

/** Forgets what was counted under these keys. */
export async function clearTries(scope: Scope, transaction: Transaction, keys: readonly Buffer[]): Promise<void> {
  await transaction.query(sql.unsafe`
    delete from second_factor_failures
    where user_id = ${scope.userId} and key = any (${sql.array([...keys], 'bytea')})`);
}
