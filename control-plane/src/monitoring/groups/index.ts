import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { memberRoutes } from './members/routes.ts';
import { groupRoutes } from './routes.ts';
import { groupStatusRoutes } from './status/routes.ts';

export { leaveGroupsOfDeleted, leaveGroupsOfMoved } from './members/queries.ts';
export { removeGroupsOfWorkspace } from './queries.ts';

/** Groups of monitors of a workspace, which are paused and looked at together. */
export const groupsCapability: Capability<Context> = {
  name: 'monitor-groups',
  routes: (context) => [...groupRoutes(context), ...memberRoutes(context), ...groupStatusRoutes(context)],
};
