import type { Logger } from '@parallax/telemetry';
import type { Context } from '../../context.ts';
import { repeat } from '../../platform/repeat.ts';
import type { RunningService } from '../../platform/running-service.ts';
import { removeOldRuns } from './queries.ts';

const everyMs = 3_600_000;
/** What is kept of the history of blocklists. */
export const historyDays = 90;

/** Removes what is older than the history that is kept. */
export async function startHistoryRetention(context: Context, log: Logger): Promise<RunningService> {
  return repeat({
    everyMs,
    work: async (isStopped) => {
      const beforeMs = context.now() - historyDays * 86_400_000;
      while (!isStopped() && (await removeOldRuns(context.database.worker, beforeMs)) > 0);
    },
    onError: (error) => log.warn({ err: error }, 'old history of blocklists was not removed; tried again'),
  });
}
