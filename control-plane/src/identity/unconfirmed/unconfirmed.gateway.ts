import type { Context } from '../../context.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { inScope } from '../../platform/database/scope.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { scopeOf } from '../../platform/http/caller.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { countOnce } from '../../platform/http/rate-limits.ts';
import { addressUnconfirmed, isLimited, requireRoomOf } from './unconfirmed.ts';
import type { AddressRules, Counted } from './unconfirmed.ts';
import { lockUnconfirmedOwners, readStanding } from './unconfirmed.queries.ts';

/**
 * Requires that the owners of workspaces may have more, before it is inserted in the same transaction.
 * @param adding how many are added, by workspace
 * @throws Problem `address_unconfirmed`
 */
export async function requireRoom(
  rules: AddressRules,
  tx: Transaction,
  what: Counted,
  adding: ReadonlyMap<number, number>,
): Promise<void> {
  if (adding.size === 0 || !rules.channels.hasMailServer) return;
  requireRoomOf(await lockUnconfirmedOwners(tx, adding), what, rules);
}

type CallerParts = Pick<Context, 'database' | 'limits' | 'isPublished' | 'channels'>;

async function isLimitedCaller(context: CallerParts, caller: Caller): Promise<boolean> {
  // So that nothing is asked where nobody is limited.
  if (!context.channels.hasMailServer) return false;
  const scope = scopeOf(caller);
  const standing = await inScope(context.database.api, scope, (tx) => readStanding(scope, tx));
  return isLimited(standing, context);
}

/**
 * Counts a check by hand or a test message of an account whose address is not confirmed.
 * @throws Problem `address_unconfirmed`
 */
export async function countTrial(context: CallerParts, caller: Caller): Promise<void> {
  if (!(await isLimitedCaller(context, caller))) return;
  const rate = context.limits.rate('unconfirmed_test');
  const { used, quota } = await countOnce(context.database.api, `unconfirmed-tests:${caller.userId}`, rate);
  if (used <= quota) return;
  throw addressUnconfirmed(
    `an account makes ${quota} tests and checks by hand an hour until its mail address is confirmed`,
  );
}

/**
 * Requires that the account may have mail sent to somebody else's address.
 * @throws Problem `address_unconfirmed`
 */
export async function requireConfirmedAddress(context: CallerParts, caller: Caller, what: string): Promise<void> {
  if (context.limits.unconfirmed.mailed_addresses !== undefined && (await isLimitedCaller(context, caller))) {
    throw addressUnconfirmed(
      `${what} to the addresses of others only from an account whose own mail address is confirmed`,
    );
  }
}

/**
 * Requires that the account may show a status page to the public: under a free name on a trusted host, a stranger's page could pass for somebody else's.
 * @throws Problem `address_unconfirmed`
 */
export async function requireConfirmedToPublish(rules: AddressRules, scope: Scope, tx: Transaction): Promise<void> {
  if (rules.limits.unconfirmed.published_pages === undefined || !rules.channels.hasMailServer) return;
  if (isLimited(await readStanding(scope, tx), rules)) {
    throw addressUnconfirmed('status pages are published only by an account whose own mail address is confirmed');
  }
}
