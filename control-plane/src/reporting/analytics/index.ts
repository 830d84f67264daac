import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { startLatencyDays } from './latency-days.job.ts';
import { analyticsRoutes } from './routes.ts';

export { removeLatencyDaysOfWorkspace } from './latency-days.queries.ts';

/** Availability, response times, noise and response of many monitors together. Owns `latency_days`. */
export const analyticsCapability: Capability<Context> = {
  name: 'analytics',
  routes: analyticsRoutes,
  services: [{ name: 'latency days', role: 'worker', start: startLatencyDays }],
};
