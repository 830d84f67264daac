import type { Context } from '../../../context.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { RequestFacts } from '../../../platform/http/handler.ts';
import { tellOwner } from '../../accounts/index.ts';
import { recordAudit } from '../../audit/index.ts';
import { accountChangedLetter, keeperOf } from '../../mails/index.ts';
import { makePingKey } from '../../workspaces/index.ts';
import type { InviteRefusal } from '../../workspaces/index.ts';
import { enter } from '../entry/queries.ts';
import type { Entered } from '../entry/queries.ts';
import { linkIdentity, openOutsideIdentity } from './queries.ts';
import type { Opened, OutsideIdentity } from './queries.ts';

/** Why an identity opens no account: by its own state, or by that of the invitation that came with it. */
export type Refusal =
  | { readonly reason: Exclude<Opened['outcome'], 'known' | 'linked' | 'created' | 'refused'> }
  | { readonly reason: 'refused'; readonly invite: InviteRefusal };

/**
 * Links an identity to the account that asked for it.
 * @returns false when it lets another in
 */
export async function linkToAccount(
  context: Context,
  userId: number,
  identity: OutsideIdentity,
  request: RequestFacts,
): Promise<boolean> {
  const scope = { userId, workspaceIds: [] };
  return inScope(context.database.api, scope, async (transaction) => {
    const id = await linkIdentity(scope, transaction, identity);
    if (typeof id !== 'number') return id === 'own';
    const detail = { way: identity.way, issuer: identity.issuer };
    const event = { action: 'identity.linked', subjectType: 'identity', subjectId: id, detail };
    await recordAudit(transaction, { kind: 'user', userId }, request, event);
    const change = { kind: 'identity_linked', name: keeperOf(identity.issuer) } as const;
    await tellOwner(context, scope, transaction, (locale) =>
      accountChangedLetter(locale, change, request.remoteAddress),
    );
    return true;
  });
}

/**
 * Enters by an identity that its keeper vouched for; a new account needs open registration or an invitation, and is never the first.
 * @param inviteHash of the invitation that was brought: a new account uses it up. One that exists comes in without, and accepts it from inside
 */
export async function enterFromOutside(
  context: Context,
  identity: OutsideIdentity,
  inviteHash: Buffer | undefined,
  request: RequestFacts,
): Promise<Entered | ({ readonly kind: 'refused' } & Refusal)> {
  const account = {
    plan: context.defaultPlan,
    pingKey: makePingKey(),
    mayCreate: context.registration === 'open' || (context.registration === 'invite' && inviteHash !== undefined),
    inviteHash,
  };
  const opened = await openOutsideIdentity(context.database.api, identity, account, request);
  switch (opened.outcome) {
    case 'known':
    case 'linked':
    case 'created':
      return enter(context, { userId: opened.user_id, way: identity.way }, request);
    case 'account_exists':
    case 'setup_token_required':
    case 'closed':
      return { kind: 'refused', reason: opened.outcome };
    case 'refused':
      return { kind: 'refused', reason: opened.outcome, invite: opened.refusal };
  }
}
