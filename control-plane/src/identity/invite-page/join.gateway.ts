import type { Context } from '../../context.ts';
import { applyRates } from '../../platform/http/apply-rates.ts';
import { clientNetwork } from '../../platform/http/client-address.ts';
import type { RequestFacts } from '../../platform/http/handler.ts';
import { countOnce } from '../../platform/http/rate-limits.ts';
import { inScope } from '../../platform/database/scope.ts';
import { recordAudit } from '../audit/index.ts';
import { endSession, passwordHasher, readAccessToken, register, tokenKeys } from '../auth/index.ts';
import { signInByPassword } from '../sign-in/index.ts';
import { acceptInvite, inviteProblem, inviteTokenHash } from '../workspaces/index.ts';
import type { Credentials } from './form.ts';

/** Somebody is a member. */
export type Joined = { readonly isNew: boolean; readonly mustConfirm: boolean };

/**
 * Makes an account that is a member of the workspace, both or neither.
 * @throws Problem as `/auth/register` does
 */
export async function joinByRegistering(
  context: Context,
  request: RequestFacts,
  token: string,
  { email, password }: Credentials,
): Promise<Joined> {
  await count(context, request, 'register');
  const body = { email, password, invite_token: token };
  const user = await register(context, passwordHasher(context), body, request);
  return { isNew: true, mustConfirm: !user.email_verified };
}

/**
 * Makes the account that signs in a member of the workspace. The session ends at once: the page is no front end and keeps no tokens.
 * @throws Problem as `/auth/login` and `/workspaces/invites/accept` do
 */
export async function joinBySigningIn(
  context: Context,
  request: RequestFacts,
  token: string,
  credentials: Credentials,
): Promise<Joined> {
  await count(context, request, 'login');
  const { userId, tokens } = await signInByPassword(context, credentials, request);
  const sessionId = await readAccessToken((await tokenKeys(context)).access, tokens.access_token, context.now());
  const scope = { userId, workspaceIds: [] };
  const taken = await inScope(context.database.api, scope, async (transaction) => {
    const accepted = await acceptInvite(scope, transaction, inviteTokenHash(token), request);
    await endSession(scope, transaction, sessionId);
    const event = { action: 'session.ended', subjectType: 'session', subjectId: sessionId };
    await recordAudit(transaction, { kind: 'user', userId }, request, event);
    return accepted;
  });
  if (taken.workspace_id === null) throw inviteProblem(taken.outcome);
  return { isNew: taken.outcome === 'joined', mustConfirm: false };
}

/** Counts a try together with those of the API, so that the page is no second way to guess. @throws Problem `rate_limited` */
async function count(context: Context, request: RequestFacts, name: 'register' | 'login'): Promise<void> {
  const key = `address:POST /api/v1/auth/${name}:${clientNetwork(request.remoteAddress)}`;
  const state = await countOnce(context.database.api, key, context.limits.rate(name));
  applyRates(request.reply, [state], 'requests', 'from this address');
}
