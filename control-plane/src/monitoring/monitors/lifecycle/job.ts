import type { Logger } from '@parallax/telemetry';
import { repeat } from '../../../platform/repeat.ts';
import type { RunningService } from '../../../platform/running-service.ts';
import type { Context } from '../../../context.ts';
import { emptyMonitor, monitorsToEmpty, recordEmptied } from './queries.ts';

const everyMs = 30_000;

/** Finishes deletions that took too long for their request, and looks once more a minute after each. */
export async function startEmptying(context: Context, log: Logger): Promise<RunningService> {
  return repeat({
    everyMs,
    work: (isStopped) => emptyDeleted(context, () => !isStopped()),
    onError: (error) => log.warn({ err: error }, 'emptying deleted monitors failed; it is tried again'),
  });
}

/** One round over the deleted monitors that have something left. @returns how many are empty now */
export async function emptyDeleted(context: Pick<Context, 'database'>, mayGoOn: () => boolean): Promise<number> {
  let emptied = 0;
  for (const monitorId of await monitorsToEmpty(context.database.worker)) {
    if (!(await emptyMonitor(context.database.worker, monitorId, mayGoOn))) break;
    await recordEmptied(context.database.worker, monitorId, false);
    emptied += 1;
  }
  return emptied;
}
