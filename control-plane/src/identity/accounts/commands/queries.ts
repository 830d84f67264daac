import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { PlanName } from '../../plans/index.ts';

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
