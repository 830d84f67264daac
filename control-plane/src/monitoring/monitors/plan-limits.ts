import type { Context } from '../../context.ts';
import type { PlanName } from '../../identity/plans/index.ts';
import type { PlanLimits } from './values.ts';

/** What a plan rules of monitors. */
export function planLimits({ limits }: Pick<Context, 'limits'>, plan: PlanName): PlanLimits {
  return { plan, minimumIntervalSeconds: limits.plan(plan).minimumIntervalSeconds };
}
