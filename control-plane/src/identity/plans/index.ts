export { longestRetentionDays, planOf, plans } from './plans.ts';
export type { Plan, PlanName } from './plans.ts';
