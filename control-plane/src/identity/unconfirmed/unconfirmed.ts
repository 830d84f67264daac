import { Problem } from '@parallax/api-contract';
import type { InputError } from '@parallax/api-contract';
import type { Limits } from '../plans/index.ts';

/*
 * An account whose mail address nobody has confirmed may be anybody's: it gets little, so that an installation that is open to all cannot be used
 * to send checks and mails by the thousand.
 */

/** What the limits look at. Accounts that a messenger or a provider vouches for, and that have no address, count as confirmed. */
export type AddressStanding = { readonly isUnconfirmed: boolean; readonly isAdministrator: boolean };

/** What the limits look at in an installation. */
export type AddressRules = {
  readonly limits: Limits;
  /** It is reached beyond this machine. */
  readonly isPublished: boolean;
  readonly channels: { readonly hasMailServer: boolean };
};

/**
 * Whether the limits hold for an account. They do not where no mail can be sent, since nobody can confirm an address there, nor for the administrator
 * of an installation that only its own machine reaches.
 */
export function isLimited({ isUnconfirmed, isAdministrator }: AddressStanding, rules: AddressRules): boolean {
  return isUnconfirmed && rules.channels.hasMailServer && (rules.isPublished || !isAdministrator);
}

/** The shortest interval that the limits allow a monitor of such an owner, in seconds; 0: they do not rule. */
export function unconfirmedIntervalSeconds(owner: AddressStanding, rules: AddressRules): number {
  return isLimited(owner, rules) ? rules.limits.unconfirmed.minimumIntervalSeconds : 0;
}

/** Whether mail may be sent to the addresses of others on behalf of an account. */
export function mayMailOthers(account: AddressStanding, rules: AddressRules): boolean {
  return rules.limits.unconfirmed.mailed_addresses === undefined || !isLimited(account, rules);
}

/**
 * Whether an account is not handed a workspace: what is in it would count as theirs, so that one account after another could fill a workspace and hand it on.
 */
export function mayNotOwnMore(account: AddressStanding, rules: AddressRules): boolean {
  return rules.limits.unconfirmed.monitors !== undefined && isLimited(account, rules);
}

/** What is counted. */
export type Counted = 'monitors' | 'heartbeats' | 'webhook_checks';

const names = { monitors: 'monitors', heartbeats: 'heartbeats', webhook_checks: 'webhook checks' } as const;

/** An owner whose address is not confirmed, with what they have. */
export type UnconfirmedOwner = Pick<AddressStanding, 'isAdministrator'> & {
  readonly added: number;
} & Readonly<Record<Counted, number>>;

/** @throws Problem `address_unconfirmed` when one of the owners would have more than the limits allow */
export function requireRoomOf(owners: readonly UnconfirmedOwner[], what: Counted, rules: AddressRules): void {
  const most = rules.limits.unconfirmed[what];
  if (most === undefined) return;
  for (const owner of owners) {
    const isRuled = isLimited({ isUnconfirmed: true, isAdministrator: owner.isAdministrator }, rules);
    if (!isRuled || owner.added === 0 || owner[what] + owner.added <= most) continue;
    const whole = owner.added === 1 ? '' : `, and ${owner.added} would be added`;
    throw addressUnconfirmed(
      `the owner of the workspace may have ${most} ${names[what]} until their mail address is confirmed; there are ${owner[what]} now${whole}`,
    );
  }
}

/** The refusal, which says what to do. */
export function addressUnconfirmed(limit: string, errors: readonly InputError[] = []): Problem {
  const detail = `${limit}. Whose address it is opens the link in the confirmation mail, or asks for another one: POST /api/v1/auth/verify-email`;
  return new Problem('address_unconfirmed', detail, errors.length === 0 ? {} : { errors });
}
