import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { startScheduledReports } from './job.ts';
import { reportLinkRoutes } from './links/routes.ts';
import { scheduledReportRoutes } from './routes.ts';
import { runRoutes } from './runs/routes.ts';

export { leaveReportsOfDeleted, leaveReportsOfMoved, removeReportsOfWorkspace } from './upkeep.queries.ts';

/** Reports on several subjects that are made by the calendar, kept as files and mailed. */
export const scheduledReportsCapability: Capability<Context> = {
  name: 'scheduled-reports',
  routes: (context) => [...scheduledReportRoutes(context), ...runRoutes(context), ...reportLinkRoutes(context)],
  services: [{ name: 'scheduled-reports', role: 'worker', start: startScheduledReports }],
};
