import type { Context } from '../../../context.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { RequestFacts } from '../../../platform/http/handler.ts';
import { recordAudit } from '../../audit/index.ts';
import { makePingKey } from '../../workspaces/index.ts';
import { enter } from '../entry/queries.ts';
import type { Entered } from '../entry/queries.ts';
import { linkIdentity, openOutsideIdentity } from './queries.ts';
import type { Opened, OutsideIdentity } from './queries.ts';

/** Why an identity opens no account. */
export type Refusal = Exclude<Opened['outcome'], 'known' | 'linked' | 'created'>;

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
    return true;
  });
}

/** Enters by an identity that its keeper vouched for; a new account needs open registration, and is never the first. */
export async function enterFromOutside(
  context: Context,
  identity: OutsideIdentity,
  request: RequestFacts,
): Promise<Entered | { readonly kind: 'refused'; readonly reason: Refusal }> {
  const account = {
    plan: context.defaultPlan,
    pingKey: makePingKey(),
    mayCreate: context.registration === 'open',
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
  }
}
