import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { checkRoutes } from './check/routes.ts';
import { historyRoutes } from './history/routes.ts';
import { startEmptying } from './lifecycle/job.ts';
import type { OnMonitorDeleted } from './lifecycle/queries.ts';
import { lifecycleRoutes } from './lifecycle/routes.ts';
import { monitorRoutes } from './routes.ts';

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
      ...checkRoutes(context),
    ],
    services: [{ name: 'monitor-emptying', role: 'worker', start: startEmptying }],
  };
}
