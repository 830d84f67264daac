import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { installationKey } from '../../platform/crypto/sealed-keys.ts';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import type { RequestFacts } from '../../platform/http/handler.ts';
import type { PlanName } from '../plans/index.ts';
import { accessTokenKeys } from './access-token.ts';
import type { AccessTokenKeys } from './access-token.ts';

/** Idle life of a session, and its life in all. */
export const sessionLife = { idle: '14 days', absolute: '30 days' } as const;

/** How long the immediate predecessor of a refresh token is answered like the token itself. */
export const refreshLeeway = '10 seconds';

/** Keys of the installation that tokens are made with. */
export type TokenKeys = { readonly access: AccessTokenKeys; readonly refresh: Buffer };

const loaded = new WeakMap<Context, Promise<TokenKeys>>();

/** The keys, read once for each process; tried again when the database was away. */
export async function tokenKeys(context: Context): Promise<TokenKeys> {
  const known = loaded.get(context);
  if (known !== undefined) return known;
  const loading = loadTokenKeys(context);
  loaded.set(context, loading);
  try {
    return await loading;
  } catch (error) {
    loaded.delete(context);
    throw error;
  }
}

async function loadTokenKeys({ database, sealer }: Context): Promise<TokenKeys> {
  const access = await installationKey(database.worker, sealer, 'access_token', async () => {
    const pair = generateKeyPairSync('ed25519');
    return {
      secret: pair.privateKey.export({ format: 'der', type: 'pkcs8' }),
      publicPart: pair.publicKey.export({ format: 'pem', type: 'spki' }).toString(),
    };
  });
  const refresh = await installationKey(database.worker, sealer, 'refresh_token', async () => ({
    secret: randomBytes(32),
  }));
  return { access: accessTokenKeys(access.secret), refresh: refresh.secret };
}

type Origin = Pick<RequestFacts, 'remoteAddress' | 'requestId'>;

/** Whether any account exists. Before the tenant is known. */
export async function hasAccounts(pool: DatabasePool): Promise<boolean> {
  return pool.oneFirst(sql.type(z.object({ found: z.boolean() }))`select identity_has_accounts() as found`);
}

const registered = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('created'), user_id: z.number() }),
  z.object({ outcome: z.enum(['email_taken', 'setup_token_required', 'closed']), user_id: z.null() }),
]);

/** Makes an account with its default workspace. Before the tenant is known. */
export async function registerAccount(
  pool: DatabasePool,
  account: { readonly email: string; readonly passwordHash: string; readonly plan: PlanName; readonly pingKey: string },
  allowed: { readonly asFirst: boolean; readonly asLater: boolean },
  origin: Origin,
): Promise<z.output<typeof registered>> {
  return pool.one(sql.type(registered)`
    select outcome, user_id
    from identity_register(
      ${account.email}, ${account.passwordHash}, ${account.plan}, ${account.pingKey},
      ${allowed.asFirst}, ${allowed.asLater}, ${origin.remoteAddress}, ${origin.requestId}
    )
  `);
}

const loginRow = z.object({ user_id: z.number().nullable(), password_hash: z.string().nullable() });

/** What a login compares with; nulls for an unknown address. Before the tenant is known. */
export async function findLogin(pool: DatabasePool, email: string): Promise<z.output<typeof loginRow>> {
  return pool.one(sql.type(loginRow)`select user_id, password_hash from identity_login(${email})`);
}

/** Notes a failed login in the audit log. Before the tenant is known. */
export async function recordFailedLogin(pool: DatabasePool, email: string, origin: Origin): Promise<void> {
  await pool.query(sql.unsafe`select identity_login_failed(${email}, ${origin.remoteAddress}, ${origin.requestId})`);
}

/** The salt of a session, for checking the proof of a refresh token; null when there is none. Before the tenant is known. */
export async function findSessionSalt(pool: DatabasePool, sessionId: string): Promise<Buffer | null> {
  return pool.oneFirst(sql.type(z.object({ salt: z.instanceof(Buffer).nullable() }))`
    select identity_session_salt(${sessionId}::uuid) as salt
  `);
}

const refreshed = z.discriminatedUnion('outcome', [
  z.object({
    outcome: z.enum(['rotated', 'repeated']),
    counter: z.number(),
    rotated_at: z.number(),
    user_id: z.number(),
  }),
  z.object({ outcome: z.enum(['reused', 'limited']), user_id: z.number() }),
  z.object({ outcome: z.literal('ended') }),
]);

/** Takes a refresh token whose proof was checked. Before the tenant is known. */
export async function refreshSession(
  pool: DatabasePool,
  claim: { readonly sessionId: string; readonly counter: number },
  perMinute: number,
  origin: Origin,
): Promise<z.output<typeof refreshed>> {
  return pool.one(sql.type(refreshed)`
    select outcome, counter, rotated_at, user_id
    from identity_refresh(
      ${claim.sessionId}::uuid, ${claim.counter}::integer, ${refreshLeeway}::interval, ${sessionLife.idle}::interval,
      ${perMinute}::integer, ${origin.remoteAddress}, ${origin.requestId}
    )
  `);
}

const sessionRow = z.object({ id: z.string(), counter: z.number(), rotated_at: z.number() });

/** Starts a session of the scope's user. */
export async function startSession(
  scope: Scope,
  transaction: Transaction,
  session: { readonly salt: Buffer; readonly userAgent: string | undefined; readonly remoteAddress: string },
): Promise<z.output<typeof sessionRow>> {
  return transaction.one(sql.type(sessionRow)`
    insert into sessions (user_id, salt, idle_until, absolute_until, user_agent, remote_address)
    values (
      ${scope.userId}, ${sql.binary(session.salt)}, now() + ${sessionLife.idle}::interval,
      now() + ${sessionLife.absolute}::interval, ${session.userAgent?.slice(0, 300) ?? null}, ${session.remoteAddress}
    )
    returning id, counter, rotated_at
  `);
}

/** Ends a session of the scope's user; a session that has ended stays as it is. True when there is such a session. */
export async function endSession(scope: Scope, transaction: Transaction, sessionId: string): Promise<boolean> {
  const { rowCount } = await transaction.query(sql.unsafe`
    update sessions set revoked_at = coalesce(revoked_at, now()), revoked_reason = coalesce(revoked_reason, 'logout')
    where id = ${sessionId}::uuid and user_id = ${scope.userId}
  `);
  return rowCount > 0;
}

/** Ends all sessions of the scope's user; the number of those that lived. */
export async function endAllSessions(scope: Scope, transaction: Transaction): Promise<number> {
  const { rowCount } = await transaction.query(sql.unsafe`
    update sessions set revoked_at = now(), revoked_reason = 'logout_all'
    where user_id = ${scope.userId} and revoked_at is null
  `);
  return rowCount;
}

const userRow = z.object({
  id: z.number(),
  email: z.string().nullable(),
  display_name: z.string().nullable(),
  locale: z.enum(['en', 'ru']),
  timezone: z.string(),
  plan: z.enum(['free', 'paid', 'self_hosted']),
  is_administrator: z.boolean(),
  email_verified: z.boolean(),
  created_at: z.number(),
  updated_at: z.number(),
  version: z.number(),
});
export type UserRow = z.output<typeof userRow>;

/** The account of the scope's user. */
export async function readUser(scope: Scope, transaction: Transaction): Promise<UserRow> {
  return transaction.one(sql.type(userRow)`
    select id, email, display_name, locale, timezone, plan, is_administrator, email_verified, created_at, updated_at, version
    from users
    where id = ${scope.userId}
  `);
}

/** Removes sessions that ended more than 30 days ago. */
export async function sweepSessions(pool: DatabasePool): Promise<void> {
  await pool.query(sql.unsafe`
    delete from sessions where least(absolute_until, idle_until, revoked_at) < now() - interval '30 days'
  `);
}
