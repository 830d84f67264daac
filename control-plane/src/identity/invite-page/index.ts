import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { invitePageRoutes } from './routes.ts';

/** The page on which somebody without a session joins a workspace by an invitation. */
export const invitePageCapability: Capability<Context> = { name: 'invite-page', routes: invitePageRoutes };
