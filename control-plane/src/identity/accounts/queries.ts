import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';

const proofRow = z.object({
  email: z.string().nullable(),
  locale: z.enum(['en', 'ru']),
  password_hash: z.string().nullable(),
  /** Since the sign-in of the session that asks; null without one. */
  signed_in_seconds: z.number().nullable(),
});
/** What an account proves itself by. */
export type ProofRow = z.output<typeof proofRow>;

/** What the scope's user proves themselves by, and where mails go. */
export async function readProof(
  scope: Scope,
  transaction: Transaction,
  sessionId: string | undefined,
): Promise<ProofRow> {
  return transaction.one(sql.type(proofRow)`
    select users.email, users.locale, users.password_hash,
      (select extract(epoch from now() - sessions.created_at)::float8 from sessions
       where sessions.id = ${sessionId ?? null}::uuid and sessions.user_id = users.id) as signed_in_seconds
    from users where users.id = ${scope.userId}`);
}

/** Locks the account of the scope's user until the transaction ends, so that changes of its credentials come one after the other. */
export async function lockAccount(scope: Scope, transaction: Transaction): Promise<void> {
  await transaction.query(sql.unsafe`select 1 from users where id = ${scope.userId} for no key update`);
}

/**
 * Ends the living sessions of the scope's user but one.
 * @param kept the session that goes on; undefined: none does
 * @returns how many ended
 */
export async function endOtherSessions(
  scope: Scope,
  transaction: Transaction,
  kept: string | undefined,
  reason: 'password' | 'deleted',
): Promise<number> {
  const { rowCount } = await transaction.query(sql.unsafe`
    update sessions set revoked_at = now(), revoked_reason = ${reason}
    where user_id = ${scope.userId} and revoked_at is null and id is distinct from ${kept ?? null}::uuid`);
  return rowCount;
}

const livingRow = z.object({ n: z.number() });

/** How many API keys and personal access tokens of the scope's user are good. */
export async function countApiKeys(scope: Scope, transaction: Transaction): Promise<number> {
  const isGood = sql.fragment`user_id = ${scope.userId} and revoked_at is null and coalesce(expires_at > now(), true)`;
  return transaction.oneFirst(sql.type(livingRow)`
    select (select count(*) from api_keys where ${isGood})::integer + (select count(*) from access_tokens where ${isGood})::integer as n`);
}

/** Revokes the API keys and the personal access tokens of the scope's user. @returns how many */
export async function revokeApiKeys(
  scope: Scope,
  transaction: Transaction,
): Promise<{ readonly apiKeys: number; readonly accessTokens: number }> {
  const keys = await transaction.query(sql.unsafe`
    update api_keys set revoked_at = now() where user_id = ${scope.userId} and revoked_at is null`);
  const tokens = await transaction.query(sql.unsafe`
    update access_tokens set revoked_at = now() where user_id = ${scope.userId} and revoked_at is null`);
  return { apiKeys: keys.rowCount, accessTokens: tokens.rowCount };
}

/** Removes every way into the account of the scope's user but its password: linked identities, passkeys and second factors. @returns how many */
export async function removeOtherWays(
  scope: Scope,
  transaction: Transaction,
): Promise<{ readonly identities: number; readonly passkeys: number; readonly authenticators: number }> {
  const remove = async (table: string): Promise<number> => {
    const { rowCount } = await transaction.query(sql.unsafe`
      delete from ${sql.identifier([table])} where user_id = ${scope.userId}`);
    return rowCount;
  };
  const identities = await remove('identities');
  const passkeys = await remove('passkeys');
  const authenticators = await remove('totp_factors');
  await remove('recovery_codes');
  return { identities, passkeys, authenticators };
}

const ownerRow = z.object({ email: z.string().nullable(), email_verified: z.boolean(), locale: z.enum(['en', 'ru']) });

/** Where the scope's user is told of what happens to their account. */
export async function readOwner(scope: Scope, transaction: Transaction): Promise<z.output<typeof ownerRow>> {
  return transaction.one(
    sql.type(ownerRow)`select email, email_verified, locale from users where id = ${scope.userId}`,
  );
}
