import type { Logger } from '@parallax/telemetry';
import type { RunningService } from '../../../platform/running-service.ts';
import type { Context } from '../../../context.ts';
import { emptyMonitor, monitorsToEmpty, recordEmptied } from './queries.ts';

const everyMs = 30_000;

/** Finishes deletions that took too long for their request, and looks once more a minute after each. */
export async function startEmptying(context: Context, log: Logger): Promise<RunningService> {
  let isStopped = false;
  let round: Promise<void> = Promise.resolve();
  const next = async (previous: Promise<void>): Promise<void> => {
    await previous;
    if (isStopped) return;
    try {
      await emptyDeleted(context, () => !isStopped);
    } catch (error) {
      log.warn({ err: error }, 'emptying deleted monitors failed; it is tried again');
    }
  };
  const timer = setInterval(() => {
    round = next(round);
  }, everyMs);
  return {
    stop: async () => {
      isStopped = true;
      clearInterval(timer);
      await round;
    },
  };
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
