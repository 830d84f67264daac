import {
  changePasswordRoute,
  forgotPasswordRoute,
  invalidInput,
  Problem,
  resetPasswordRoute,
} from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { scopeOf } from '../../../platform/http/caller.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../../platform/http/handler.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { renderLetter } from '../../../platform/mail/letter.ts';
import { enqueueMail } from '../../../platform/mail/mail.ts';
import { findTokenAccount, takeToken, voidTokens } from '../../account-tokens/index.ts';
import { recordAudit } from '../../audit/index.ts';
import { passwordHasher, whyTooCommon } from '../../auth/index.ts';
import { listOfRevoked, passwordChangedLetter } from '../../mails/index.ts';
import type { Revoked } from '../../mails/index.ts';
import { invalidToken } from '../invalid-token.ts';
import { requireProof } from '../proof/gateway.ts';
import { countApiKeys, endOtherSessions, lockAccount, removeOtherWays, revokeApiKeys } from '../queries.ts';
import { noteForgotten } from './consumer.ts';
import { replacePassword, resetPassword } from './queries.ts';

/** Changing a password, and choosing another one when it was forgotten. */
export function passwordRoutes(context: Context): readonly Route[] {
  return [
    handle(changePasswordRoute, async ({ body, caller, request }) => {
      await changePassword(context, caller, body, request);
      return { message: 'the password was changed; all other sessions have ended' };
    }),
    handle(forgotPasswordRoute, async ({ body, request }) => {
      const { remoteAddress, requestId } = request;
      await inScope(context.database.api, { userId: null, workspaceIds: [] }, async (transaction) =>
        noteForgotten(transaction, context.sealer, { email: body.email, remoteAddress, requestId }),
      );
      return { message: 'if the address has an account, a link to choose a new password is on its way to it' };
    }),
    handle(resetPasswordRoute, async ({ body, request }) => {
      const revoked = await resetForgotten(context, body, request);
      const parts = ['the password was changed and all sessions have ended', ...toldOf(revoked)];
      return { message: `${parts.join('; ')}; log in with the new one` };
    }),
  ];
}

async function changePassword(
  context: Context,
  caller: Caller,
  body: { readonly current_password?: string | undefined; readonly new_password: string },
  request: RequestFacts,
): Promise<void> {
  const scope = scopeOf(caller);
  const proof = await requireProof(context, { caller, request }, body.current_password, '/current_password');
  requireUncommon(body.new_password, proof.email);
  const newHash = await passwordHasher(context).hash(body.new_password);
  await inScope(context.database.api, scope, async (transaction) => {
    await lockAccount(scope, transaction);
    if (!(await replacePassword(scope, transaction, proof.password_hash, newHash))) {
      throw new Problem(
        'conflict',
        'the password was changed by another request meanwhile; nothing was done by this one',
      );
    }
    await voidTokens(scope, transaction);
    const ended = await endOtherSessions(scope, transaction, caller.sessionId, 'password');
    const event = { action: 'password.changed', subjectType: 'user', subjectId: caller.userId };
    await recordAudit(transaction, caller, request, { ...event, detail: { ended_sessions: ended } });
    const keptKeys = await countApiKeys(scope, transaction);
    await tellChange(context, transaction, proof, request, { isReset: false, revoked: nothing, keptKeys });
  });
}

async function resetForgotten(
  context: Context,
  body: { readonly token: string; readonly new_password: string },
  request: RequestFacts,
): Promise<Taken> {
  const account = await findTokenAccount(context.database.api, body.token, 'password');
  if (account === undefined) throw invalidToken('password');
  requireUncommon(body.new_password, account.email);
  const newHash = await passwordHasher(context).hash(body.new_password);
  const scope: Scope = { userId: account.userId, workspaceIds: [] };
  return inScope(context.database.api, scope, async (transaction) => {
    await lockAccount(scope, transaction);
    // The token decides: of several requests that bring it at once, one takes it.
    if (!(await takeToken(scope, transaction, body.token, 'password'))) throw invalidToken('password');
    const user = await resetPassword(scope, transaction, newHash, account.mailedTo);
    if (user === null) throw invalidToken('password');
    await voidTokens(scope, transaction);
    const ended = await endOtherSessions(scope, transaction, undefined, 'password');
    // Whoever made the account without having its address may have left a key or another way in for later.
    const revoked = user.was_verified
      ? nothing
      : { ...(await removeOtherWays(scope, transaction)), ...(await revokeApiKeys(scope, transaction)) };
    const keptKeys = await countApiKeys(scope, transaction);
    const caller = { kind: 'user', userId: account.userId } as const;
    await recordAudit(transaction, caller, request, {
      action: 'password.reset',
      subjectType: 'user',
      subjectId: account.userId,
      detail: { ended_sessions: ended, revoked_api_keys: revoked.apiKeys + revoked.accessTokens },
    });
    await tellChange(context, transaction, user, request, { isReset: true, revoked, keptKeys });
    return { revoked, keptKeys };
  });
}

/** What a change took from an account, and what is good still. */
type Taken = { readonly revoked: Revoked; readonly keptKeys: number };

const nothing: Revoked = { apiKeys: 0, accessTokens: 0, identities: 0, passkeys: 0, authenticators: 0 };

function toldOf({ revoked, keptKeys }: Taken): string[] {
  const list = listOfRevoked(revoked, 'en');
  return [
    ...(list === '' ? [] : [`the address had never been confirmed, so these were revoked or removed: ${list}`]),
    ...(keptKeys === 0 ? [] : ['API keys and access tokens stay valid']),
  ];
}

function requireUncommon(password: string, email: string | null): void {
  const reason = whyTooCommon(password, email ?? '');
  if (reason !== undefined) throw invalidInput('body', '/new_password', 'common_password', reason);
}

async function tellChange(
  context: Context,
  transaction: Transaction,
  user: { readonly email: string | null; readonly locale: 'en' | 'ru' },
  request: RequestFacts,
  change: Taken & { readonly isReset: boolean },
): Promise<void> {
  if (user.email === null) return;
  const letter = passwordChangedLetter(user.locale, { ...change, address: request.remoteAddress });
  await enqueueMail(transaction, context.sealer, { to: user.email, ...renderLetter(letter) });
}
