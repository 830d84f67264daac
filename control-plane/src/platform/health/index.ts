import type { Route } from '../http/handler.ts';
import { healthRoutes } from './routes.ts';
import type { HealthContext, HealthOptions } from './routes.ts';

export { healthPages } from './pages.ts';
export type { ServingState } from './pages.ts';
export type { HealthContext, HealthOptions } from './routes.ts';

/** Whether this process and what it stands on are well. */
export function createHealthCapability(options: HealthOptions): {
  readonly name: string;
  readonly routes: (context: HealthContext) => readonly Route[];
} {
  return { name: 'health', routes: (context) => healthRoutes(context, options) };
}
