import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import type { Route } from '../../platform/http/handler.ts';
import { createCentralCheck } from '../central-checks/index.ts';
import { askProbe } from '../probes/index.ts';
import type { OnMonitorsMoved } from './bulk/queries.ts';
import { bulkRoutes } from './bulk/routes.ts';
import { actionsOf } from './actions.ts';
import type { MonitorActions } from './actions.ts';
import { bounded } from './check/replies.ts';
import type { ByHand } from './check/replies.ts';
import { checkRoutes } from './check/routes.ts';
import { startEmptying } from './emptying/job.ts';
import type { RowsOfMonitor } from './emptying/rows.ts';
import { historyRoutes } from './history/routes.ts';
import type { OnMonitorDeleted } from './lifecycle/queries.ts';
import { lifecycleRoutes } from './lifecycle/routes.ts';
import type { DeletionOptions } from './lifecycle/routes.ts';
import { startEmptyingWorkspaces } from './of-deleted-workspaces/job.ts';
import type { OnWorkspaceEmptied } from './of-deleted-workspaces/job.ts';
import { rangeEvidenceRoutes } from './range-evidence/routes.ts';
import { reorderRoutes } from './reorder/routes.ts';
import type { OnMonitorReset } from './reset/queries.ts';
import { resetRoutes } from './reset/routes.ts';
import { monitorRoutes } from './routes.ts';
import { simulateRoutes } from './simulate/routes.ts';
import { testRoutes } from './test/routes.ts';
import { transferRoutes } from './transfer/routes.ts';

export type { DroppedOfMonitor, OnMonitorsMoved } from './bulk/queries.ts';
export type { Removal, Removed, RowsOfMonitor } from './emptying/rows.ts';
export type { OnMonitorDeleted } from './lifecycle/queries.ts';
export { setMonitorActive } from './lifecycle/routes.ts';
export { announceChange } from './gateway.ts';
export { kindOf } from './kinds.ts';
export { countMonitorsByCategory, stateJoin } from './list/queries.ts';
export type { MonitorActions } from './actions.ts';
export type { ResultsAnswer } from './history/routes.ts';
export { monitorsPage, readMonitorJson } from './list/queries.ts';
export { noMonitor } from './not-found.ts';
export type { MonitorView } from './not-found.ts';
export { findMonitor, openSeats, pausedByGroup, workspaceOwner } from './queries.ts';
export { evidenceBehind, failuresBehind, probesNamed } from './range-evidence/queries.ts';
export { probesIn, readableEvidence } from './range-evidence/readable-evidence.ts';
export type { NamedProbes } from './range-evidence/readable-evidence.ts';
export { codeOf, failurePhase, readStored } from './range-evidence/votes.ts';
export { openSecrets } from './secrets.ts';
export { composeSettings, sameJson } from './settings.ts';
export { movesDestination, protocolOf } from './target.ts';
export { readTable } from './transfer/file/table.ts';
export type { OnMonitorReset } from './reset/queries.ts';
export type { OpenMonitor } from './values.ts';

/** What `createMonitorsCapability` may be told; capabilities to the right of this one contribute hooks. */
export type MonitorsOptions = {
  /** Run in the transaction that deletes a monitor. */
  readonly onMonitorDeleted: readonly OnMonitorDeleted[];
  /** Run in the transaction that moves monitors to another workspace. */
  readonly onMonitorsMoved?: readonly OnMonitorsMoved[];
  /** Run when a deleted workspace has no monitors left. */
  readonly onWorkspaceEmptied?: readonly OnWorkspaceEmptied[];
  /** Run in the transaction that resets a monitor's statistics. */
  readonly onMonitorReset?: readonly OnMonitorReset[];
  /** Removed by batches after a deletion, and what is older than it after a reset. */
  readonly rowsOfMonitor?: readonly RowsOfMonitor[];
  /** How long a DELETE or a reset may work before it answers 504. The specification asks for a limit; the default is 20 s. */
  readonly deletionDeadlineMs?: number;
  /** Resources that are monitors under another name and shape. */
  readonly resources?: readonly ((context: Context, actions: MonitorActions) => readonly Route[])[];
};

const defaultDeadlineMs = 20_000;

/** Monitors: their configuration, life cycle, results and manual checks. */
export function createMonitorsCapability(options: MonitorsOptions): Capability<Context> {
  const removal = {
    more: options.rowsOfMonitor ?? [],
    deadlineMs: options.deletionDeadlineMs ?? defaultDeadlineMs,
  };
  const deletion = { hooks: options.onMonitorDeleted, ...removal };
  return {
    name: 'monitors',
    routes: (context) => [
      ...monitorRoutes(context, options.onMonitorsMoved ?? []),
      ...lifecycleRoutes(context, deletion),
      ...reorderRoutes(context),
      ...bulkRoutes(context, { onDeleted: options.onMonitorDeleted, onMoved: options.onMonitorsMoved ?? [] }),
      ...resetRoutes(context, { hooks: options.onMonitorReset ?? [], ...removal }),
      ...historyRoutes(context),
      ...rangeEvidenceRoutes(context),
      ...simulateRoutes(context),
      ...transferRoutes(context),
      ...routesOfActions(context, deletion, options.resources ?? []),
    ],
    services: [
      {
        name: 'monitor-emptying',
        role: 'worker',
        start: (context, log) => startEmptying(context, log, removal.more),
      },
      {
        name: 'workspace-emptying',
        role: 'worker',
        start: (context, log) =>
          startEmptyingWorkspaces(context, log, options.onMonitorDeleted, options.onWorkspaceEmptied ?? []),
      },
    ],
  };
}

/** Checks and tests by hand, under whatever name, share the bound on what the control plane itself does of them. */
function routesOfActions(
  context: Context,
  deletion: DeletionOptions,
  resources: NonNullable<MonitorsOptions['resources']>,
): Route[] {
  const means: ByHand = {
    central: bounded(createCentralCheck(context)),
    ask: (...request) => askProbe(context.bus, ...request),
  };
  const actions = actionsOf(context, means, deletion);
  return [
    ...checkRoutes(context, means),
    ...testRoutes(context, means),
    ...resources.flatMap((routesOf) => routesOf(context, actions)),
  ];
}
