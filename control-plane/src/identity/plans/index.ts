export { limitsWith } from './limits.ts';
export type { Limits } from './limits.ts';
export { longestRetentionDays, planOf, plans } from './plans.ts';
export type { Plan, PlanName } from './plans.ts';
