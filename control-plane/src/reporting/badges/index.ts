import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { badgeRoutes } from './badges.routes.ts';
import { endBadge, endedKeys } from './serving/index.ts';

export { forgetOldBadges, removeBadgeOfDeleted, removeBadgesOfWorkspace } from './hooks.queries.ts';
export { preparedBadges } from './serving/index.ts';

/** Small pictures that tell strangers how one thing is, by a key in their address. Table: `badges`. */
export const badgesCapability: Capability<Context> = {
  name: 'badges',
  routes: (context) => badgeRoutes(context, (id) => endBadge(context, id)),
  services: [endedKeys],
};
