import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { startHeartbeatSweep } from './history/job.ts';
import { historyRoutes } from './history/routes.ts';
import { intakeRoutes } from './intake/routes.ts';
import { pingUrlRoutes } from './ping-urls.routes.ts';
import { heartbeatRoutes } from './routes.ts';
import { importRoutes } from './transfer/routes.ts';
import { startDeadlines } from './watch/job.ts';

export { countHeartbeats, countHeartbeatsByStatus, removeHeartbeatsOfWorkspace } from './queries.ts';
export { heartbeatFigures } from './history/figures.queries.ts';
export type { HeartbeatFigures } from './history/figures.queries.ts';
export { moveHeartbeatDeadlines } from './watch/queries.ts';

/** Heartbeats: jobs that tell by signals that they ran, and whose silence is an alarm. */
export const heartbeatsCapability: Capability<Context> = {
  name: 'heartbeats',
  routes: (context) => [
    ...heartbeatRoutes(context),
    ...pingUrlRoutes(context),
    ...importRoutes(context),
    ...historyRoutes(context),
    ...intakeRoutes(context),
  ],
  services: [
    { name: 'heartbeat deadlines', role: 'worker', start: startDeadlines },
    { name: 'heartbeat sweep', role: 'worker', start: startHeartbeatSweep },
  ],
};
