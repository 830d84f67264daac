import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { enqueue } from '../../../platform/outbox/enqueue.ts';
import type { PlanName } from '../../plans/index.ts';
import { secondFactorReset } from './consumer.ts';

// What the operator does at the command line, by the worker login: row-level security does not apply, and every write names its account.

const accountRow = z.object({
  id: z.number(),
  email: z.string().nullable(),
  display_name: z.string().nullable(),
  plan: z.enum(['free', 'paid', 'self_hosted']),
  is_administrator: z.boolean(),
  email_verified: z.boolean(),
  created_at: z.number(),
  /** The last refresh or sign-in of any session that is still kept. */
  last_seen_at: z.number().nullable(),
});
/** An account as the operator sees it; times in milliseconds since the epoch. */
export type AccountRow = z.output<typeof accountRow>;

const columns = sql.fragment`
  users.id, users.email, users.display_name, users.plan, users.is_administrator, users.email_verified, users.created_at,
  (select max(sessions.last_used_at) from sessions where sessions.user_id = users.id) as last_seen_at`;

/** All accounts that are not deleted, the oldest first. */
export async function listAccounts(worker: DatabasePool): Promise<readonly AccountRow[]> {
  return worker.any(sql.type(accountRow)`
    select ${columns} from users where users.deleted_at is null order by users.id`);
}

/** The account with a number or an address; null when there is none. */
export async function findAccount(
  worker: DatabasePool,
  wanted: { readonly id: number } | { readonly email: string },
): Promise<AccountRow | null> {
  const condition =
    'id' in wanted ? sql.fragment`users.id = ${wanted.id}` : sql.fragment`users.email = ${wanted.email}`;
  return worker.maybeOne(sql.type(accountRow)`
    select ${columns} from users where ${condition} and users.deleted_at is null`);
}

/** Sets a password, ends all sessions and makes mailed links void. @returns how many sessions ended */
export async function setPassword(worker: DatabasePool, userId: number, passwordHash: string): Promise<number> {
  return worker.transaction(async (transaction) => {
    await transaction.query(sql.unsafe`
      update users set password_hash = ${passwordHash}, version = version + 1, updated_at = now() where id = ${userId}`);
    await transaction.query(sql.unsafe`
      update account_tokens set used_at = clock_timestamp() where user_id = ${userId} and used_at is null`);
    const { rowCount } = await transaction.query(sql.unsafe`
      update sessions set revoked_at = now(), revoked_reason = 'password' where user_id = ${userId} and revoked_at is null`);
    await recordCommand(transaction, userId, 'password.reset', { ended_sessions: rowCount });
    return rowCount;
  });
}

/** What is left of an account's second factors: how many were removed, and how many sessions ended. */
export type SecondFactorReset = { readonly removed: number; readonly endedSessions: number };

/**
 * Removes the authenticator app, the recovery codes and the passkeys of an account, ends its sessions and has that told by mail.
 * @returns undefined, and nothing is done, where a passkey is the only way into the account
 */
export async function resetSecondFactor(worker: DatabasePool, userId: number): Promise<SecondFactorReset | undefined> {
  return worker.transaction(async (transaction) => {
    // Locked as by whoever removes a way in, so that two removals at once do not each leave the other's.
    const hasOtherWay = await transaction.oneFirst(sql.type(z.object({ has: z.boolean() }))`
      with locked as (select id, email, password_hash from users where id = ${userId} for update)
      select (email is not null and password_hash is not null)
        or exists (select from identities where identities.user_id = locked.id) as has from locked`);
    const hasPasskey = await transaction.exists(sql.unsafe`select from passkeys where user_id = ${userId}`);
    if (hasPasskey && !hasOtherWay) return undefined;
    const apps = await transaction.query(sql.unsafe`delete from totp_factors where user_id = ${userId}`);
    await transaction.query(sql.unsafe`delete from recovery_codes where user_id = ${userId}`);
    const passkeys = await transaction.query(sql.unsafe`delete from passkeys where user_id = ${userId}`);
    await transaction.query(sql.unsafe`delete from sign_in_challenges where user_id = ${userId}`);
    const { rowCount: endedSessions } = await transaction.query(sql.unsafe`
      update sessions set revoked_at = now(), revoked_reason = 'ended' where user_id = ${userId} and revoked_at is null`);
    const detail = { authenticator_apps: apps.rowCount, passkeys: passkeys.rowCount, ended_sessions: endedSessions };
    await recordCommand(transaction, userId, 'second_factor.reset', detail);
    const payload = { user_id: userId };
    await enqueue(transaction, { key: `account:${userId}`, kind: secondFactorReset, payload });
    return { removed: apps.rowCount + passkeys.rowCount, endedSessions };
  });
}

/** Makes an account an administrator of the installation, or takes that away. */
export async function setAdministrator(worker: DatabasePool, userId: number, isAdministrator: boolean): Promise<void> {
  await worker.transaction(async (transaction) => {
    await transaction.query(sql.unsafe`
      update users set is_administrator = ${isAdministrator}, version = version + 1, updated_at = now() where id = ${userId}`);
    await recordCommand(transaction, userId, 'user.administrator_set', { is_administrator: isAdministrator });
  });
}

/** Gives an account another plan. */
export async function setPlan(worker: DatabasePool, userId: number, plan: PlanName): Promise<void> {
  await worker.transaction(async (transaction) => {
    await transaction.query(sql.unsafe`
      update users set plan = ${plan}, version = version + 1, updated_at = now() where id = ${userId}`);
    await recordCommand(transaction, userId, 'user.plan_set', { plan });
  });
}

/** Writes down that an account was made at the command line. */
export async function recordMade(worker: DatabasePool, userId: number): Promise<void> {
  await worker.transaction(async (transaction) => recordCommand(transaction, userId, 'user.created', {}));
}

async function recordCommand(
  transaction: Transaction,
  userId: number,
  action: string,
  detail: Readonly<Record<string, string | number | boolean>>,
): Promise<void> {
  await transaction.query(sql.unsafe`
    insert into audit_log (user_id, actor, action, subject_type, subject_id, detail)
    values (${userId}, 'command', ${action}, 'user', ${String(userId)}, ${sql.jsonb(detail)})`);
}
