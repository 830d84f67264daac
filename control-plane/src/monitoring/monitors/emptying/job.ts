import type { Logger } from '@parallax/telemetry';
import type { Context } from '../../../context.ts';
import { repeat } from '../../../platform/repeat.ts';
import type { RunningService } from '../../../platform/running-service.ts';
import { deletedToEmpty, emptyMonitor, recordDeletedEmpty, recordResetEmpty, resetToEmpty } from './queries.ts';
import type { RowsOfMonitor } from './rows.ts';

const everyMs = 30_000;

/** Finishes deletions and resets that took too long for their request, and looks once more a minute after each. */
export async function startEmptying(
  context: Context,
  log: Logger,
  more: readonly RowsOfMonitor[],
): Promise<RunningService> {
  return repeat({
    everyMs,
    work: async (isStopped) => {
      await emptyDeleted(context, more, () => !isStopped());
      await emptyReset(context, more, () => !isStopped());
    },
    onError: (error) =>
      log.warn({ err: error }, 'emptying monitors that were deleted or reset failed; it is tried again'),
  });
}

/** One round over the deleted monitors that have something left. @returns how many are empty now */
export async function emptyDeleted(
  context: Pick<Context, 'database'>,
  more: readonly RowsOfMonitor[],
  mayGoOn: () => boolean,
): Promise<number> {
  const { worker } = context.database;
  let emptied = 0;
  for (const monitorId of await deletedToEmpty(worker)) {
    if (!(await emptyMonitor(worker, { monitorId, beforeMs: null, more }, mayGoOn)).isDone) break;
    await recordDeletedEmpty(worker, monitorId, false);
    emptied += 1;
  }
  return emptied;
}

/** One round over the monitors that have something left of before their reset. @returns how many have nothing now */
export async function emptyReset(
  context: Pick<Context, 'database'>,
  more: readonly RowsOfMonitor[],
  mayGoOn: () => boolean,
): Promise<number> {
  const { worker } = context.database;
  let emptied = 0;
  for (const { monitorId, resetMs } of await resetToEmpty(worker)) {
    if (!(await emptyMonitor(worker, { monitorId, beforeMs: resetMs, more }, mayGoOn)).isDone) break;
    await recordResetEmpty(worker, monitorId, resetMs);
    emptied += 1;
  }
  return emptied;
}
