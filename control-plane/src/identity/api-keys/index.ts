import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { apiKeyRoutes } from './routes.ts';

/** Durable credentials for machines, limited to the routes that are marked for them. */
export const apiKeysCapability: Capability<Context> = { name: 'api-keys', routes: apiKeyRoutes };

export { apiKeyKind } from './kind.ts';
