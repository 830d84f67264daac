import type { Logger } from '@parallax/telemetry';
import type { Context } from '../../context.ts';
import { scheduledReportsSubject } from '../../platform/bus/subjects.ts';
import { repeat } from '../../platform/repeat.ts';
import type { RunningService } from '../../platform/running-service.ts';
import { makeNextRun } from './making/maker.job.ts';
import { nextDueMs } from './making/schedule.queries.ts';
import { queueDueRuns } from './making/scheduler.job.ts';
import { sweepOnce } from './upkeep.queries.ts';

/** A hint or the nearest time wakes the maker; this catches what they miss. */
const everyMs = 60_000;
const leastWaitMs = 1_000;
const sweepEveryMs = 3_600_000;

/** Makes scheduled reports until it is stopped; any number of replicas may do so. At a stop it ends the report that it is making. */
export async function startScheduledReports(context: Context, log: Logger): Promise<RunningService> {
  const { worker } = context.database;
  let isWanted = false;
  let timer: NodeJS.Timeout | undefined;
  const making = repeat({
    everyMs,
    work: async (isStopped) => {
      do {
        isWanted = false;
        await makeDue(context, log, isStopped);
        const dueMs = await nextDueMs(worker);
        clearTimeout(timer);
        if (dueMs !== null && !isStopped()) {
          timer = setTimeout(again, Math.min(everyMs, Math.max(leastWaitMs, dueMs - context.now())));
        }
      } while (isWanted && !isStopped());
    },
    onError: (error) => log.warn({ err: error }, 'scheduled reports could not be looked for; tried again in a minute'),
  });
  function again(): void {
    // A look that is under way may have been too early.
    isWanted = true;
    void making.soon();
  }
  const sweeping = repeat({
    everyMs: sweepEveryMs,
    work: async (isStopped) => {
      while (!isStopped() && (await sweepOnce(worker)) > 0);
    },
    onError: (error) => log.warn({ err: error }, 'old scheduled reports could not be removed; tried again in an hour'),
  });
  const hints = context.bus.listen(scheduledReportsSubject, again);
  void making.soon();
  return {
    stop: async () => {
      hints.stop();
      clearTimeout(timer);
      await Promise.all([making.stop(), sweeping.stop()]);
      clearTimeout(timer);
    },
  };
}

/** Makes all that is due. A report that missed several periods makes them one after the other. */
export async function makeDue(context: Context, log: Logger, isStopped: () => boolean = () => false): Promise<void> {
  for (let isWorking = true; isWorking && !isStopped(); ) {
    const queued = await queueDueRuns(context);
    const isMade = await makeNextRun(context, log);
    isWorking = queued > 0 || isMade;
  }
}
