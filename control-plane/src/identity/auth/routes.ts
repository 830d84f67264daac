import { createHash, randomBytes } from 'node:crypto';
import {
  invalidInput,
  loginRoute,
  logoutAllRoute,
  logoutRoute,
  meRoute,
  Problem,
  refreshRoute,
  registerRoute,
} from '@parallax/api-contract';
import type { TokenPair, User } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { inScope } from '../../platform/database/scope.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { scopeOf } from '../../platform/http/caller.ts';
import { clientNetwork } from '../../platform/http/client-address.ts';
import { handle } from '../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../platform/http/handler.ts';
import { countedSoFar, countOnce, perHour } from '../../platform/http/rate-limits.ts';
import { recordAudit } from '../audit/index.ts';
import { makePingKey } from '../workspaces/index.ts';
import { accessTokenSeconds, makeAccessToken } from './access-token.ts';
import { createPasswordHasher } from './password-hash.ts';
import type { PasswordHasher } from './password-hash.ts';
import { whyTooCommon } from './password-rule.ts';
import {
  endAllSessions,
  endSession,
  findLogin,
  findSessionSalt,
  hasAccounts,
  readUser,
  recordFailedLogin,
  refreshSession,
  registerAccount,
  startSession,
  tokenKeys,
} from './queries.ts';
import type { UserRow } from './queries.ts';
import { isProven, makeRefreshToken, parseRefreshToken } from './refresh-token.ts';
import type { RefreshTokenClaim } from './refresh-token.ts';
import { isSetupToken } from './setup-token.ts';

// Failures of one account from one address, so that nobody is locked out by others.
const failedLogins = perHour(20);

/** Routes below `/auth`. */
export function authRoutes(context: Context): readonly Route[] {
  const hasher = createPasswordHasher();
  return [
    handle(registerRoute, async ({ body, request }) => {
      const reason = whyTooCommon(body.password, body.email);
      if (reason !== undefined) throw invalidInput('body', '/password', 'common_password', reason);
      return userAnswer(await register(context, hasher, body, request));
    }),
    handle(loginRoute, async ({ body, request }) => login(context, hasher, body, request)),
    handle(refreshRoute, async ({ body, request }) => refresh(context, body.refresh_token, request)),
    handle(logoutRoute, async ({ body, caller, request }) => {
      const sessionId =
        body?.refresh_token === undefined
          ? caller.sessionId
          : (await provenClaim(context, body.refresh_token))?.sessionId;
      const scope = scopeOf(caller);
      const ended =
        sessionId !== undefined &&
        (await inScope(context.database.api, scope, async (transaction) => {
          const found = await endSession(scope, transaction, sessionId);
          const event = { action: 'session.ended', subjectType: 'session', subjectId: sessionId };
          if (found) await recordAudit(transaction, caller, request, event);
          return found;
        }));
      if (!ended) throw invalidInput('body', '/refresh_token', 'unknown_token', 'is not a refresh token of this user');
      return { message: 'logged out' };
    }),
    handle(logoutAllRoute, async ({ caller, request }) => {
      const scope = scopeOf(caller);
      const revoked = await inScope(context.database.api, scope, async (transaction) => {
        const count = await endAllSessions(scope, transaction);
        const event = { action: 'session.all_ended', subjectType: 'user', subjectId: caller.userId, detail: { count } };
        await recordAudit(transaction, caller, request, event);
        return count;
      });
      return { message: 'all sessions have ended', revoked_sessions: revoked };
    }),
    handle(meRoute, async ({ caller }) => userAnswer(await userOf(context, scopeOf(caller)))),
  ];
}

async function register(
  context: Context,
  hasher: PasswordHasher,
  body: { readonly email: string; readonly password: string; readonly setup_token?: string | undefined },
  request: RequestFacts,
): Promise<UserRow> {
  const pool = context.database.api;
  const allowed = {
    asFirst: !context.needsSetupToken || isSetupToken(context.sealer, body.setup_token),
    asLater: context.registration === 'open',
  };
  // Refused before the hashing where the answer is clear; the statement below decides.
  if (!allowed.asFirst && !(await hasAccounts(pool))) throw setupTokenRequired();
  if (!allowed.asLater && (await hasAccounts(pool))) throw registrationClosed(context);
  const passwordHash = await hasher.hash(body.password);
  const account = { email: body.email, passwordHash, plan: context.defaultPlan, pingKey: makePingKey() };
  const made = await registerAccount(pool, account, allowed, request);
  switch (made.outcome) {
    case 'created':
      return userOf(context, { userId: made.user_id, workspaceIds: [] });
    case 'email_taken':
      throw new Problem('email_taken', 'this address has an account already');
    case 'setup_token_required':
      throw setupTokenRequired();
    case 'closed':
      throw registrationClosed(context);
  }
}

function setupTokenRequired(): Problem {
  return new Problem(
    'setup_token_required',
    'the first account of this installation needs the set-up token that the control plane writes to its log, as setup_token',
  );
}

function registrationClosed(context: Context): Problem {
  return new Problem(
    'registration_closed',
    context.registration === 'invite' ? 'registration is by invitation only' : 'registration is closed',
  );
}

async function login(
  context: Context,
  hasher: PasswordHasher,
  body: { readonly email: string; readonly password: string },
  request: RequestFacts,
): Promise<TokenPair> {
  const pool = context.database.api;
  const digest = createHash('sha256').update(body.email).digest('base64url').slice(0, 22);
  const failureKey = `failed-login:${digest}:${clientNetwork(request.remoteAddress)}`;
  const failures = await countedSoFar(pool, failureKey, failedLogins);
  if (failures.used >= failures.quota) {
    throw new Problem('rate_limited', 'too many failed logins of this account from this address', {
      retryAfterSeconds: failures.resetSeconds,
    });
  }
  const account = await findLogin(pool, body.email);
  const matches = await hasher.verify(account.password_hash, body.password);
  if (!matches || account.user_id === null) {
    await countOnce(pool, failureKey, failedLogins);
    await recordFailedLogin(pool, body.email, request);
    throw new Problem('invalid_credentials', 'the address or the password is wrong');
  }
  const scope = { userId: account.user_id, workspaceIds: [] };
  const caller = { kind: 'user', userId: account.user_id } as const;
  const salt = randomBytes(16);
  const session = await inScope(pool, scope, async (transaction) => {
    const { userAgent, remoteAddress } = request;
    const started = await startSession(scope, transaction, { salt, userAgent, remoteAddress });
    const event = { action: 'session.started', subjectType: 'session', subjectId: started.id };
    await recordAudit(transaction, caller, request, event);
    return started;
  });
  return pairOf(context, { id: session.id, counter: session.counter, rotatedAtMs: session.rotated_at }, salt);
}

async function refresh(context: Context, token: string, request: RequestFacts): Promise<TokenPair> {
  const claim = await provenClaim(context, token);
  if (claim === undefined) throw new Problem('invalid_credentials', 'the refresh token is not valid');
  const taken = await refreshSession(context.database.api, claim, request);
  switch (taken.outcome) {
    case 'rotated':
    case 'repeated':
      return pairOf(
        context,
        { id: claim.sessionId, counter: taken.counter, rotatedAtMs: taken.rotated_at },
        claim.salt,
      );
    case 'limited':
      throw new Problem('rate_limited', 'this session is refreshed too often', { retryAfterSeconds: 60 });
    case 'reused':
      context.log.warn(
        { user_id: taken.user_id, session_id: claim.sessionId, remote_address: request.remoteAddress },
        'a refresh token was used again: its session is revoked',
      );
      throw new Problem(
        'invalid_credentials',
        'the refresh token was used before; its session is revoked, log in again',
      );
    case 'ended':
      throw new Problem('invalid_credentials', 'the session has ended; log in again');
  }
}

/** Reads a refresh token and checks its proof; undefined for any that this installation did not make. */
async function provenClaim(
  context: Context,
  token: string,
): Promise<(RefreshTokenClaim & { salt: Buffer }) | undefined> {
  const claim = parseRefreshToken(token);
  if (claim === undefined) return undefined;
  const keys = await tokenKeys(context);
  const salt = await findSessionSalt(context.database.api, claim.sessionId);
  return salt !== null && isProven(keys.refresh, claim, salt) ? { ...claim, salt } : undefined;
}

async function pairOf(
  context: Context,
  session: { readonly id: string; readonly counter: number; readonly rotatedAtMs: number },
  salt: Buffer,
): Promise<TokenPair> {
  const keys = await tokenKeys(context);
  return {
    access_token: await makeAccessToken(keys.access, session),
    refresh_token: makeRefreshToken(keys.refresh, session.id, session.counter, salt),
    token_type: 'Bearer',
    expires_in: accessTokenSeconds,
  };
}

async function userOf(context: Context, scope: Scope): Promise<UserRow> {
  return inScope(context.database.api, scope, async (transaction) => readUser(scope, transaction));
}

function userAnswer(row: UserRow): User {
  return { ...row, created_at: isoTime(row.created_at), updated_at: isoTime(row.updated_at) };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
