import type { Logger } from '@parallax/telemetry';
import type { Context } from '../../../context.ts';
import { repeat } from '../../../platform/repeat.ts';
import type { RunningService } from '../../../platform/running-service.ts';
import { sweepOnce } from './queries.ts';

const everyMs = 60_000;

/** Removes signals that are too old, and what deleted heartbeats have left. */
export async function startHeartbeatSweep(context: Context, log: Logger): Promise<RunningService> {
  return repeat({
    everyMs,
    work: async (isStopped) => {
      while ((await sweepOnce(context.database.worker)) > 0 && !isStopped());
    },
    onError: (error) => log.warn({ err: error }, 'old signals of heartbeats could not be removed; it is tried again'),
  });
}
