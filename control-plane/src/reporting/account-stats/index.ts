import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { accountStatsRoutes } from './routes.ts';

/** Numbers over all that a user may see. */
export const accountStatsCapability: Capability<Context> = { name: 'account-stats', routes: accountStatsRoutes };
