export { planOf } from './plans.ts';
export type { Plan, PlanName } from './plans.ts';
