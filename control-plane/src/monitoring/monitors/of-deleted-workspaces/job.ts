import type { Logger } from '@parallax/telemetry';
import type { DatabasePool } from 'slonik';
import type { Context } from '../../../context.ts';
import { deletedWorkspaces, recordWorkspaceEmpty } from '../../../identity/workspaces/index.ts';
import { dispatchSubject, probesChangedSubject } from '../../../platform/bus/subjects.ts';
import { untilFirstDue } from '../../../platform/database/first-due.queries.ts';
import { sql } from '../../../platform/database/pools.ts';
import { repeatWhenDue } from '../../../platform/repeat-when-due.ts';
import type { RunningService } from '../../../platform/running-service.ts';
import { announceChange } from '../gateway.ts';
import type { OnMonitorDeleted } from '../lifecycle/queries.ts';
import { deleteSomeMonitors, revokeProbesOf } from './queries.ts';

/** A look is one small index scan, and until it the monitors are still checked. */
const againMs = 2_000;

/** Monitors deleted in one transaction, which locks the probes that let go of them. */
const monitorsAtOnce = 20;

/** Removes, of a deleted workspace whose monitors are all deleted, what another capability keeps. Repeating it does no harm. For the worker login. */
export type OnWorkspaceEmptied = (worker: DatabasePool, workspaceId: number) => Promise<void>;

const firstDeleted = sql.fragment`select min(deleted_at) from workspaces where deleted_at is not null and emptied_at is null`;

/** Removes what is in deleted workspaces; a process that is killed at it leaves the rest to the next look. */
export async function startEmptyingWorkspaces(
  context: Context,
  log: Logger,
  hooks: readonly OnMonitorDeleted[],
  ofWorkspace: readonly OnWorkspaceEmptied[],
): Promise<RunningService> {
  const { worker, signals } = context.database;
  return repeatWhenDue({
    signals,
    tables: ['workspaces'],
    unheardMs: againMs,
    work: async (isStopped) => {
      await emptyDeletedWorkspaces(context, hooks, () => !isStopped(), ofWorkspace);
      return untilFirstDue(worker, firstDeleted, againMs);
    },
    onError: (error) => log.warn({ err: error }, 'emptying workspaces that were deleted failed; it is tried again'),
  });
}

/**
 * One round over the deleted workspaces: their probes are revoked, their monitors deleted. Results of those go as of every deleted monitor.
 * @param mayGoOn asked before each transaction
 * @param ofWorkspace run when no monitor is left
 */
export async function emptyDeletedWorkspaces(
  context: Pick<Context, 'database' | 'bus'>,
  hooks: readonly OnMonitorDeleted[],
  mayGoOn: () => boolean,
  ofWorkspace: readonly OnWorkspaceEmptied[] = [],
): Promise<void> {
  const { worker } = context.database;
  for (const workspaceId of await deletedWorkspaces(worker)) {
    if (!mayGoOn()) return;
    const revoked = await revokeProbesOf(worker, workspaceId);
    for (const probeId of revoked) context.bus.hint(dispatchSubject(probeId), { type: 'revoked' });
    if (revoked.length > 0) context.bus.hint(probesChangedSubject, {});
    const isEmpty = await deleteMonitors(context, workspaceId, hooks, mayGoOn);
    if (!isEmpty) continue;
    for (const remove of ofWorkspace) await remove(worker, workspaceId);
    await recordWorkspaceEmpty(worker, workspaceId);
  }
}

async function deleteMonitors(
  context: Pick<Context, 'database' | 'bus'>,
  workspaceId: number,
  hooks: readonly OnMonitorDeleted[],
  mayGoOn: () => boolean,
): Promise<boolean> {
  for (;;) {
    if (!mayGoOn()) return false;
    const { deleted, isLast } = await deleteSomeMonitors(context.database.worker, workspaceId, monitorsAtOnce, hooks);
    for (const { shard, probeIds } of deleted) announceChange(context.bus, shard, probeIds);
    if (isLast) return true;
    // All that is left is held by others: the next look finds it.
    if (deleted.length === 0) return false;
  }
}
