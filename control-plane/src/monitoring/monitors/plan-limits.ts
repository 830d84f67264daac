import type { Context } from '../../context.ts';
import type { PlanName } from '../../identity/plans/index.ts';
import { unconfirmedIntervalSeconds } from '../../identity/unconfirmed/index.ts';
import type { AddressStanding } from '../../identity/unconfirmed/index.ts';
import type { PlanLimits } from './values.ts';

/** What the plan of a workspace's owner rules of monitors, and an address of theirs that is not confirmed. */
export function planLimits(
  context: Pick<Context, 'limits' | 'isPublished' | 'channels'>,
  { plan, standing }: { readonly plan: PlanName; readonly standing: AddressStanding },
): PlanLimits {
  return {
    plan,
    minimumIntervalSeconds: context.limits.plan(plan).minimumIntervalSeconds,
    unconfirmedIntervalSeconds: unconfirmedIntervalSeconds(standing, context),
  };
}
