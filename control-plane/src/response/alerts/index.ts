import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { alertHistoryRoutes } from './history/routes.ts';
import { alertRuleRoutes } from './rules/routes.ts';
import { plainChannels } from './target-check/gateway.ts';

export {
  leaveAlertsOfDeleted,
  leaveAlertsOfMoved,
  removeAlertHistoryOfReset,
  removeAlertsOfWorkspace,
} from './hooks/queries.ts';
export type { NamedPlace } from './of-targets/queries.ts';
export { moveAlertTargets, muteAlertsTelling, targetsAt } from './of-targets/queries.ts';
export { countAlerts, lookAgain } from './rules/queries.ts';

/** Who is told of what, and what they were told. */
export const alertsCapability: Capability<Context> = {
  name: 'alerts',
  routes: (context) => {
    const parts = { database: context.database, now: context.now, channels: plainChannels };
    return [...alertRuleRoutes(parts), ...alertHistoryRoutes(parts)];
  },
};
