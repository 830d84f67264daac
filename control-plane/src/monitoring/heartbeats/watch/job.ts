import type { Logger } from '@parallax/telemetry';
import type { Context } from '../../../context.ts';
import { outboxSubject } from '../../../platform/bus/subjects.ts';
import { untilFirstDue } from '../../../platform/database/first-due.queries.ts';
import { sql } from '../../../platform/database/pools.ts';
import { repeatWhenDue } from '../../../platform/repeat-when-due.ts';
import type { RunningService } from '../../../platform/running-service.ts';
import { noticeMisses } from './queries.ts';

/** A deadline that has passed counts once it is noted that signals were taken until then, which is looked at again after so long. */
const againMs = 500;

/** Notices deadlines that have passed. */
export async function startDeadlines(context: Context, log: Logger): Promise<RunningService> {
  const { worker, signals } = context.database;
  return repeatWhenDue({
    signals,
    tables: ['heartbeats'],
    unheardMs: againMs,
    work: async (isStopped) => {
      let found = 0;
      do {
        found = await noticeMisses(worker);
        if (found > 0) context.bus.hint(outboxSubject, {});
      } while (found > 0 && !isStopped());
      return untilFirstDue(worker, sql.fragment`select min(deadline_at) from heartbeats`, againMs);
    },
    onError: (error) => log.warn({ err: error }, 'deadlines of heartbeats could not be looked at; it is tried again'),
  });
}
