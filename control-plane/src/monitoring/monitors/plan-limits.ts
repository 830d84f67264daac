import { planOf } from '../../identity/plans/index.ts';
import type { PlanName } from '../../identity/plans/index.ts';
import type { PlanLimits } from './values.ts';

/** What a plan rules of monitors. */
export function planLimits(plan: PlanName): PlanLimits {
  return { plan, minimumIntervalSeconds: planOf(plan).minimumIntervalSeconds };
}
