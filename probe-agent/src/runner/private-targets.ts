import type { AddressPolicy } from '@parallax/checks';
import type { Assignment } from '@parallax/wire';

/**
 * What an assignment may reach: at most what this probe's own list allows, and of that what its control plane allows to the workspace. A
 * control plane that says nothing is older than this rule, and its assignments have the whole list. A range that cannot be read allows nothing.
 */
export function policyFor(own: AddressPolicy, { privateTargets }: Pick<Assignment, 'privateTargets'>): AddressPolicy {
  if (privateTargets === undefined || privateTargets.all) return own;
  try {
    return own.within(privateTargets.ranges);
  } catch {
    return own.within([]);
  }
}
