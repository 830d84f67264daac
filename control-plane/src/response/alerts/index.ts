import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { alertParts } from './gateway.ts';
import { alertHistoryRoutes } from './history/routes.ts';
import { deletedOwnerConsumer } from './hooks/consumer.ts';
import { startAlerting } from './job.ts';
import { alertLinkRoutes } from './links/routes.ts';
import { occasionConsumers } from './occasions/consumer.ts';
import { alertPreviewRoutes } from './preview/routes.ts';
import { alertRuleRoutes } from './rules/routes.ts';
import { alertTrialRoutes } from './trials/routes.ts';

export { countMessages, toldAfterP95 } from './history/summary.queries.ts';
export {
  leaveAlertsOfDeleted,
  leaveAlertsOfMoved,
  removeAlertsOfWorkspace,
} from './hooks/queries.ts';
export { removeAlertHistoryOfReset } from './hooks/reset.queries.ts';
export type { NamedPlace } from './of-targets/queries.ts';
export { moveAlertTargets, muteAlertsTelling, targetsAt } from './of-targets/queries.ts';
export { makeAlertLinks } from './links/gateway.ts';
export { lookAgain } from './occasions/queries.ts';
export { countAlerts, countAlertsByState } from './rules/queries.ts';

/** Who is told of what, and what they were told. */
export const alertsCapability: Capability<Context> = {
  name: 'alerts',
  routes: (context) => [
    ...alertRuleRoutes(context),
    ...alertHistoryRoutes(context),
    ...alertTrialRoutes(context),
    ...alertPreviewRoutes(context),
    ...alertLinkRoutes(context),
  ],
  services: [{ name: 'alerting', role: 'worker', start: startAlerting(alertParts) }],
  consumers: [...occasionConsumers, deletedOwnerConsumer],
};
