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
  | { readonly reason: 'refused'; readonly invite: InviteRefusal }
  | { readonly reason: 'not_admitted' };

/** What comes with an identity. */
export type BroughtAlong = {
  /** The hash of an invitation: a new account uses it up. One that exists comes in without, and accepts it from inside. */
  readonly inviteHash: Buffer | undefined;
  /** For a new account. */
  readonly profile?: { readonly name: string | null; readonly locale: 'en' | 'ru' | null } | undefined;
  /** Whether the account may be entered by what its keeper vouched with; absent: it may. */
  readonly admits?: (userId: number) => Promise<boolean>;
  /** It has entered an account before, so that it makes none. */
  readonly isKnown?: boolean;
};

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
 */
export async function enterFromOutside(
  context: Context,
  identity: OutsideIdentity,
  { inviteHash, profile, admits, isKnown = false }: BroughtAlong,
  request: RequestFacts,
): Promise<Entered | ({ readonly kind: 'refused' } & Refusal)> {
  const account = {
    plan: context.defaultPlan,
    pingKey: makePingKey(),
    mayCreate:
      !isKnown && (context.registration === 'open' || (context.registration === 'invite' && inviteHash !== undefined)),
    inviteHash,
    profile,
  };
  const opened = await openOutsideIdentity(context.database.api, identity, account, request);
  switch (opened.outcome) {
    case 'known':
    case 'linked':
    case 'created':
      if (admits !== undefined && !(await admits(opened.user_id))) return { kind: 'refused', reason: 'not_admitted' };
      return enter(context, { userId: opened.user_id, way: identity.way }, request);
    case 'closed':
      return { kind: 'refused', reason: isKnown ? 'not_admitted' : 'closed' };
    case 'account_exists':
    case 'setup_token_required':
      return { kind: 'refused', reason: opened.outcome };
    case 'refused':
      return { kind: 'refused', reason: opened.outcome, invite: opened.refusal };
  }
}
