import { randomBytes } from 'node:crypto';
import { Problem } from '@parallax/api-contract';
import type { TokenPair } from '@parallax/api-contract';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import type { RequestFacts } from '../../../platform/http/handler.ts';
import { recordAudit } from '../../audit/index.ts';
import { startSession, tokenPairOf } from '../../auth/index.ts';
import { hashOf, makeSecretToken } from './secret-token.ts';
import type { Factor, Way } from './way.ts';

/** How long a second factor, or the answer of a passkey, is waited for. */
export const challengeLife = '5 minutes';

/** An account and the way by which it was shown that the caller has it. */
export type Entry = {
  readonly userId: number;
  readonly way: Way;
  /** The hash that the password was compared with. It must still be that of the account when the entry counts. */
  readonly provenHash?: string | undefined;
};

/** What an entry comes to: tokens, or the question for a second factor. */
export type Entered =
  | { readonly kind: 'signed_in'; readonly tokens: TokenPair }
  | { readonly kind: 'second_factor'; readonly mfaToken: string; readonly factors: readonly Factor[] };

/**
 * What is used up in the transaction that starts the session: a code, a challenge. Throws `Problem` when it does not hold.
 * @returns the second factor that was shown
 */
export type Proof = (scope: Scope, transaction: Transaction) => Promise<Factor | undefined>;

/**
 * The one door behind every way in: starts a session, or asks an account that has a second factor for it.
 * @param pass signs in by a second factor that came with the first
 */
export async function enter(
  context: Context,
  entry: Entry,
  request: RequestFacts,
  pass?: () => Promise<TokenPair>,
): Promise<Entered> {
  const scope = { userId: entry.userId, workspaceIds: [] };
  const factors = await inScope(context.database.api, scope, async (transaction) => factorsOf(scope, transaction));
  if (factors.length === 0) return { kind: 'signed_in', tokens: await signIn(context, entry, request) };
  if (pass !== undefined) return { kind: 'signed_in', tokens: await pass() };
  const mfaToken = await inScope(context.database.api, scope, async (transaction) => {
    await requireSamePassword(scope, transaction, entry);
    return beginChallenge(transaction, 'second_factor', entry);
  });
  return { kind: 'second_factor', mfaToken, factors };
}

/**
 * The tokens of an entry.
 * @throws Problem `mfa_required` when a second factor is asked for
 */
export function tokensOf(entered: Entered): TokenPair {
  if (entered.kind === 'signed_in') return entered.tokens;
  throw new Problem('mfa_required', 'this account has a second factor: show it to /auth/mfa/verify with mfa_token', {
    extensions: { mfa_token: entered.mfaToken, factors: entered.factors },
  });
}

/** Starts a session without asking for anything more. */
export async function signIn(context: Context, entry: Entry, request: RequestFacts, proof?: Proof): Promise<TokenPair> {
  const scope = { userId: entry.userId, workspaceIds: [] };
  const caller = { kind: 'user', userId: entry.userId } as const;
  const salt = randomBytes(16);
  const session = await inScope(context.database.api, scope, async (transaction) => {
    await requireSamePassword(scope, transaction, entry);
    const factor = await proof?.(scope, transaction);
    const { userAgent, remoteAddress } = request;
    const started = await startSession(scope, transaction, { salt, userAgent, remoteAddress });
    const detail = { way: entry.way, ...(factor === undefined ? {} : { second_factor: factor }) };
    const event = { action: 'session.started', subjectType: 'session', subjectId: started.id, detail };
    await recordAudit(transaction, caller, request, event);
    return started;
  });
  return tokenPairOf(context, { id: session.id, counter: session.counter, rotatedAtMs: session.rotated_at }, salt);
}

/**
 * Holds up a change of the password until the transaction ends, and compares again: hashing takes long, and whoever had the former password is
 * to be shut out by a reset that was done meanwhile.
 * @throws Problem `invalid_credentials` when the password was changed since it was compared
 */
async function requireSamePassword(scope: Scope, transaction: Transaction, { provenHash }: Entry): Promise<void> {
  if (provenHash === undefined) return;
  const { rowCount } = await transaction.query(sql.unsafe`
    select from users where id = ${scope.userId} and deleted_at is null and password_hash = ${provenHash} for no key update`);
  if (rowCount === 0) throw new Problem('invalid_credentials', 'the address or the password is wrong');
}

const factorsRow = z.object({ totp: z.boolean(), passkey: z.boolean(), recovery_code: z.boolean() });

/** The second factors of the scope's user; none: the first one suffices. */
export async function factorsOf(scope: Scope, transaction: Transaction): Promise<readonly Factor[]> {
  const row = await transaction.one(sql.type(factorsRow)`
    select exists (select from totp_factors where user_id = ${scope.userId} and confirmed_at is not null) as totp,
           exists (select from passkeys where user_id = ${scope.userId}) as passkey,
           exists (select from recovery_codes where user_id = ${scope.userId} and used_at is null) as recovery_code
  `);
  // Codes alone are no factor: they stand in for one that is lost.
  if (!row.totp && !row.passkey) return [];
  return (['totp', 'passkey', 'recovery_code'] as const).filter((factor) => row[factor]);
}

export type ChallengePurpose = 'second_factor' | 'passkey_registration' | 'passkey_sign_in';

/** Notes a step that waits for an answer. @returns the token that names it */
export async function beginChallenge(
  connection: DatabasePool | Transaction,
  purpose: ChallengePurpose,
  entry: { readonly userId: number; readonly way?: Way } | undefined,
): Promise<string> {
  const token = makeSecretToken();
  await connection.query(sql.unsafe`
    select identity_begin_challenge(
      ${sql.binary(hashOf(token))}, ${purpose}, ${entry?.userId ?? null}, ${entry?.way ?? null}, ${challengeLife}::interval)`);
  return token;
}

const challengeRow = z.object({
  known: z.boolean(),
  for_user: z.number().nullable(),
  way: z.enum(['password', 'identity_provider_a', 'identity_provider_b', 'messenger', 'passkey']).nullable(),
});

/** What a token stands for, taking nothing. Before the tenant is known. */
export async function findChallenge(
  pool: DatabasePool,
  purpose: ChallengePurpose,
  token: string,
): Promise<z.output<typeof challengeRow>> {
  return pool.one(sql.type(challengeRow)`
    select known, for_user, way from identity_challenge(${sql.binary(hashOf(token))}, ${purpose})`);
}

/** Uses a token up: true for exactly one of those that try. Before the tenant is known, or in its transaction. */
export async function takeChallenge(
  connection: DatabasePool | Transaction,
  purpose: ChallengePurpose,
  token: string,
): Promise<boolean> {
  return connection.oneFirst(sql.type(z.object({ taken: z.boolean() }))`
    select identity_take_challenge(${sql.binary(hashOf(token))}, ${purpose}) as taken`);
}
