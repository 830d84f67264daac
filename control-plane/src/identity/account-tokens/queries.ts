import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { accountTokenHash, makeAccountToken } from './token.ts';

/** What a token is good for: a new password, or confirming the address that it was mailed to. */
export type TokenPurpose = 'password' | 'email';

const lives = { password: '30 minutes', email: '1 day' } as const;

const keptAfterEnd = '30 days';

/** Makes a token of the scope's user that is to be mailed to an address. @returns the token, which is not kept */
export async function issueToken(
  scope: Scope,
  transaction: Transaction,
  purpose: TokenPurpose,
  email: string,
): Promise<string> {
  const { token, hash } = makeAccountToken();
  await transaction.query(sql.unsafe`
    insert into account_tokens (user_id, purpose, token_hash, email, expires_at)
    values (${scope.userId}, ${purpose}, ${sql.binary(hash)}, ${email}, now() + ${lives[purpose]}::interval)`);
  return token;
}

/** How many tokens for a purpose the scope's user was mailed in the last hour. */
export async function tokensInLastHour(scope: Scope, transaction: Transaction, purpose: TokenPurpose): Promise<number> {
  return transaction.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from account_tokens
    where user_id = ${scope.userId} and purpose = ${purpose} and created_at > now() - interval '1 hour'`);
}

const accountRow = z.object({
  user_id: z.number().nullable(),
  email: z.string().nullable(),
  mailed_to: z.string().nullable(),
});

/** Whose a living token is. `email` is that of the account now, null when it has none. */
export type TokenAccount = { readonly userId: number; readonly email: string | null; readonly mailedTo: string };

/** Whose a token is; undefined for any that is not good: unknown, used, too old, for another purpose. Before the tenant is known. */
export async function findTokenAccount(
  pool: DatabasePool,
  token: string,
  purpose: TokenPurpose,
): Promise<TokenAccount | undefined> {
  const hash = accountTokenHash(token);
  if (hash === undefined) return undefined;
  const row = await pool.one(sql.type(accountRow)`
    select user_id, email, mailed_to from identity_account_token(${sql.binary(hash)}, ${purpose})`);
  return row.user_id === null || row.mailed_to === null
    ? undefined
    : { userId: row.user_id, email: row.email, mailedTo: row.mailed_to };
}

/** Uses up a token of the scope's user. Of several that try at once exactly one is told true. */
export async function takeToken(
  scope: Scope,
  transaction: Transaction,
  token: string,
  purpose: TokenPurpose,
): Promise<boolean> {
  const hash = accountTokenHash(token);
  if (hash === undefined) return false;
  const { rowCount } = await transaction.query(sql.unsafe`
    update account_tokens set used_at = clock_timestamp()
    where token_hash = ${sql.binary(hash)} and purpose = ${purpose} and user_id = ${scope.userId}
      and used_at is null and expires_at > now()`);
  return rowCount === 1;
}

/**
 * Makes void what could still change the account of the scope's user: links to a new password, and to another address than the present one.
 * The user's row must be locked, so that two that do so at once do not wait for each other.
 */
export async function voidTokens(scope: Scope, transaction: Transaction): Promise<void> {
  await transaction.query(sql.unsafe`
    update account_tokens set used_at = clock_timestamp()
    where user_id = ${scope.userId} and used_at is null
      and (purpose = 'password' or email is distinct from (select email from users where id = ${scope.userId}))`);
}

/** Removes tokens that ended a month ago. */
export async function sweepTokens(worker: DatabasePool): Promise<void> {
  await worker.query(sql.unsafe`delete from account_tokens where expires_at < now() - ${keptAfterEnd}::interval`);
}
