import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import type { Route } from '../../platform/http/handler.ts';
import { createCentralCheck } from '../central-checks/index.ts';
import { askProbe } from '../probes/index.ts';
import { bounded } from './check/replies.ts';
import type { Ask } from './check/replies.ts';
import { checkRoutes } from './check/routes.ts';
import { historyRoutes } from './history/routes.ts';
import { startEmptying } from './lifecycle/job.ts';
import type { OnMonitorDeleted } from './lifecycle/queries.ts';
import { lifecycleRoutes } from './lifecycle/routes.ts';
import { rangeEvidenceRoutes } from './range-evidence/routes.ts';
import { monitorRoutes } from './routes.ts';
import { testRoutes } from './test/routes.ts';

export type { OnMonitorDeleted } from './lifecycle/queries.ts';

/** What `createMonitorsCapability` may be told; capabilities to the right of this one contribute hooks. */
export type MonitorsOptions = {
  /** Run in the transaction that deletes a monitor. */
  readonly onMonitorDeleted: readonly OnMonitorDeleted[];
  /** How long a DELETE may work before it answers 504. The specification asks for a limit; the default is 20 s. */
  readonly deletionDeadlineMs?: number;
};

/** Monitors: their configuration, life cycle, results and manual checks. */
export function createMonitorsCapability(options: MonitorsOptions): Capability<Context> {
  return {
    name: 'monitors',
    routes: (context) => [
      ...monitorRoutes(context),
      ...lifecycleRoutes(context, {
        hooks: options.onMonitorDeleted,
        deadlineMs: options.deletionDeadlineMs ?? 20_000,
      }),
      ...historyRoutes(context),
      ...rangeEvidenceRoutes(context),
      ...byHandRoutes(context),
    ],
    services: [{ name: 'monitor-emptying', role: 'worker', start: startEmptying }],
  };
}

/** Checks and tests by hand share the bound on what the control plane itself does of them. */
function byHandRoutes(context: Context): Route[] {
  const central = bounded(createCentralCheck(context));
  const ask: Ask = (...request) => askProbe(context.bus, ...request);
  return [...checkRoutes(context, central, ask), ...testRoutes(context, central, ask)];
}
