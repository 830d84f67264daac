import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { healthRoutes } from './routes.ts';
import type { HealthOptions } from './routes.ts';

export type { HealthOptions } from './routes.ts';

/** Whether this process and what it stands on are well. */
export function createHealthCapability(options: HealthOptions): Capability<Context> {
  return { name: 'health', routes: (context) => healthRoutes(context, options) };
}
