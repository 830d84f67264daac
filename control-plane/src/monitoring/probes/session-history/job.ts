import type { Logger } from '@parallax/telemetry';
import type { DatabasePool } from 'slonik';
import { repeat } from '../../../platform/repeat.ts';
import type { RunningService } from '../../../platform/running-service.ts';
import type { Context } from '../../../context.ts';
import { deleteOldSessions } from './queries.ts';

const sweepEveryMs = 600_000;
/** Few enough that a batch holds its rows for some milliseconds. */
const batchSize = 1_000;

/** Forgets sessions of probes that ended long ago, every ten minutes; without it a probe that flaps fills the table. */
export async function startSessionSweep(context: Context, log: Logger): Promise<RunningService> {
  return repeat({
    everyMs: sweepEveryMs,
    work: async (isStopped) => {
      const deleted = await sweepSessionHistory(context.database.worker, { batchSize, isStopped });
      if (deleted > 0) log.debug({ deleted }, 'old sessions of probes were forgotten');
    },
    onError: (error) =>
      log.warn({ err: error }, 'old sessions of probes were not forgotten; tried again in ten minutes'),
  });
}

/** Deletes batch after batch until nothing old is left, or it is stopped; gives how many sessions went. */
export async function sweepSessionHistory(
  pool: DatabasePool,
  { batchSize, isStopped }: { readonly batchSize: number; readonly isStopped: () => boolean },
): Promise<number> {
  for (let deleted = 0; ; ) {
    const count = isStopped() ? 0 : await deleteOldSessions(pool, batchSize);
    deleted += count;
    if (count < batchSize) return deleted;
  }
}
