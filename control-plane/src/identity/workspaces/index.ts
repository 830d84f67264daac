import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { workspaceRoutes } from './routes.ts';

/** Workspaces and who is a member of them. */
export const workspacesCapability: Capability<Context> = { name: 'workspaces', routes: workspaceRoutes };

export { makePingKey } from './ping-key.ts';
