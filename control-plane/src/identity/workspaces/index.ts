import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { inviteSweep } from './job.ts';
import { workspaceRoutes } from './routes.ts';

/** Workspaces, who is a member of them, and how they become one. */
export const workspacesCapability: Capability<Context> = {
  name: 'workspaces',
  routes: workspaceRoutes,
  services: [inviteSweep],
};

export { refusalOfInvite, registerInvited } from './invites/queries.ts';
export { inviteTokenHash } from './invites/token.ts';
export { inviteProblem, refusals as inviteRefusals } from './invites/verdict.ts';
export type { InviteRefusal } from './invites/verdict.ts';
export { mostMembers } from './limits.ts';
export { exchangePingKey } from './ping-key.queries.ts';
export { makePingKey } from './ping-key.ts';
export { allowedRanges, allowRanges } from './private-ranges.queries.ts';
export { deletedWorkspaces, listWorkspaces, markWorkspaceDeleted, recordWorkspaceEmpty } from './queries.ts';
