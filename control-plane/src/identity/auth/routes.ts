import {
  invalidInput,
  logoutAllRoute,
  logoutRoute,
  meRoute,
  Problem,
  refreshRoute,
  registerRoute,
} from '@parallax/api-contract';
import type { TokenPair } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { inScope } from '../../platform/database/scope.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { scopeOf } from '../../platform/http/caller.ts';
import { applyRates } from '../../platform/http/apply-rates.ts';
import { handle } from '../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../platform/http/handler.ts';
import { renderLetter } from '../../platform/mail/letter.ts';
import { enqueueMail } from '../../platform/mail/mail.ts';
import { mailVerification } from '../account-tokens/index.ts';
import { recordAudit } from '../audit/index.ts';
import { tokenReusedLetter } from '../mails/index.ts';
import { inviteProblem, inviteTokenHash, makePingKey, refusalOfInvite, registerInvited } from '../workspaces/index.ts';
import { passwordHasher } from './password-hash.ts';
import type { PasswordHasher } from './password-hash.ts';
import { whyTooCommon } from './password-rule.ts';
import {
  endAllSessions,
  endSession,
  findSessionSalt,
  hasAccounts,
  readUser,
  refreshSession,
  registerAccount,
  tokenKeys,
} from './queries.ts';
import type { UserRow } from './queries.ts';
import { isProven, parseRefreshToken } from './refresh-token.ts';
import type { RefreshTokenClaim } from './refresh-token.ts';
import { isSetupToken } from './setup-token.ts';
import { userAnswer } from './user-answer.ts';
import { tokenPairOf } from './token-pair.ts';

/** Routes below `/auth`. */
export function authRoutes(context: Context): readonly Route[] {
  const hasher = passwordHasher(context);
  return [
    handle(registerRoute, async ({ body, request }) => {
      const reason = whyTooCommon(body.password, body.email);
      if (reason !== undefined) throw invalidInput('body', '/password', 'common_password', reason);
      return userAnswer(await register(context, hasher, body, request));
    }),
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

/**
 * Makes an account, by an invitation too. The password was judged before.
 * @throws Problem `registration_closed`, `setup_token_required`, `email_taken`, and what is wrong with the invitation
 */
export async function register(
  context: Context,
  hasher: PasswordHasher,
  body: {
    readonly email: string;
    readonly password: string;
    readonly invite_token?: string | undefined;
    readonly setup_token?: string | undefined;
  },
  request: RequestFacts,
): Promise<UserRow> {
  const pool = context.database.api;
  const invite = body.invite_token === undefined ? undefined : inviteTokenHash(body.invite_token);
  const allowed = {
    asFirst: !context.needsSetupToken(request) || isSetupToken(context.sealer, body.setup_token),
    asLater: context.registration === 'open' || (context.registration === 'invite' && invite !== undefined),
  };
  // Refused before the hashing where the answer is clear; the statement below decides.
  if (!allowed.asFirst && !(await hasAccounts(pool))) throw setupTokenRequired();
  if (!allowed.asLater && (await hasAccounts(pool))) throw registrationClosed(context);
  const refusal = invite === undefined ? null : await refusalOfInvite(pool, invite, body.email);
  if (refusal !== null) throw inviteProblem(refusal);
  const passwordHash = await hasher.hash(body.password);
  const account = { email: body.email, passwordHash, plan: context.defaultPlan, pingKey: makePingKey() };
  const made =
    invite === undefined
      ? await registerAccount(pool, account, allowed, request)
      : await registerInvited(pool, account, invite, allowed.asFirst, request);
  switch (made.outcome) {
    case 'created':
      return welcome(context, { userId: made.user_id, workspaceIds: [] });
    case 'refused':
      throw inviteProblem(made.refusal);
    case 'email_taken':
      throw new Problem(
        'email_taken',
        `this address has an account already${invite === undefined ? '' : ': log in and accept the invitation'}`,
      );
    case 'setup_token_required':
      throw setupTokenRequired();
    case 'closed':
      throw registrationClosed(context);
  }
}

/** Reads the account that was made and mails it a link to confirm its address, unless an invite has proven that already. */
async function welcome(context: Context, scope: Scope): Promise<UserRow> {
  return inScope(context.database.api, scope, async (transaction) => {
    const user = await readUser(scope, transaction);
    const { email, locale } = user;
    if (email !== null && !user.email_verified) await mailVerification(context, scope, transaction, { email, locale });
    return user;
  });
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

async function refresh(context: Context, token: string, request: RequestFacts): Promise<TokenPair> {
  const claim = await provenClaim(context, token);
  if (claim === undefined) throw new Problem('invalid_credentials', 'the refresh token is not valid');
  const rate = context.limits.rate('refresh');
  const taken = await refreshSession(context.database.api, claim, rate.quota, request);
  switch (taken.outcome) {
    case 'rotated':
    case 'repeated':
      return tokenPairOf(
        context,
        { id: claim.sessionId, counter: taken.counter, rotatedAtMs: taken.rotated_at },
        claim.salt,
      );
    case 'limited':
      applyRates(
        request.reply,
        [{ ...rate, used: rate.quota + 1, resetSeconds: 60 }],
        'new pairs of tokens',
        'of this session',
      );
      break;
    case 'reused':
      context.log.warn(
        { user_id: taken.user_id, session_id: claim.sessionId, remote_address: request.remoteAddress },
        'a refresh token was used again: its session is revoked',
      );
      await tellReuse(context, taken.user_id, request);
      throw new Problem(
        'invalid_credentials',
        'the refresh token was used before; its session is revoked, log in again',
      );
    case 'ended':
      break;
  }
  throw new Problem('invalid_credentials', 'the session has ended; log in again');
}

/** A stolen token is told to its user, who alone can tell a thief from a restored backup. */
async function tellReuse(context: Context, userId: number, request: RequestFacts): Promise<void> {
  const scope = { userId, workspaceIds: [] };
  await inScope(context.database.api, scope, async (transaction) => {
    const { email, locale } = await readUser(scope, transaction);
    if (email === null) return;
    const letter = tokenReusedLetter(locale, request.remoteAddress);
    await enqueueMail(transaction, context.sealer, { to: email, ...renderLetter(letter) });
  });
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

async function userOf(context: Context, scope: Scope): Promise<UserRow> {
  return inScope(context.database.api, scope, async (transaction) => readUser(scope, transaction));
}
