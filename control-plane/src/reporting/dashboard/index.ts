import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { dashboardRoutes } from './dashboard.routes.ts';

/** What is up, what is down, and what was told, over all that a caller may see. It has no tables of its own. */
export const dashboardCapability: Capability<Context> = { name: 'dashboard', routes: dashboardRoutes };
