import { healthRoutes } from './routes.ts';

/** Whether this process and what it stands on are well; a capability like those of the areas. */
export const healthCapability = { name: 'health', routes: healthRoutes };
