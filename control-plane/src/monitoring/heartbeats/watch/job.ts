import type { Logger } from '@parallax/telemetry';
import type { Context } from '../../../context.ts';
import { outboxSubject } from '../../../platform/bus/subjects.ts';
import { repeat } from '../../../platform/repeat.ts';
import type { RunningService } from '../../../platform/running-service.ts';
import { noticeMisses } from './queries.ts';

/** A miss is noticed within this, and within the pace of the notes that signals are taken. */
const lookEveryMs = 500;

/** Notices deadlines that have passed. */
export async function startDeadlines(context: Context, log: Logger): Promise<RunningService> {
  return repeat({
    everyMs: lookEveryMs,
    work: async (isStopped) => {
      let found = 0;
      do {
        found = await noticeMisses(context.database.worker);
        if (found > 0) context.bus.hint(outboxSubject, {});
      } while (found > 0 && !isStopped());
    },
    onError: (error) => log.warn({ err: error }, 'deadlines of heartbeats could not be looked at; it is tried again'),
  });
}
