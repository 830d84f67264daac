import type { Logger } from '@parallax/telemetry';
import type { Context } from '../../context.ts';
import { outboxSubject } from '../../platform/bus/subjects.ts';
import { repeat } from '../../platform/repeat.ts';
import type { RunningService } from '../../platform/running-service.ts';
import {
  beginOccurrence,
  endOccurrence,
  noteNext,
  openOccurrence,
  openOccurrences,
  planNext,
  takeBeginning,
  takeEnding,
} from './occurrences/queries.ts';
import type { OpenOccurrence } from './occurrences/queries.ts';
import { nextOccurrence, scheduleOf } from './recurrence/occurrences.ts';
import type { Occurrence } from './recurrence/occurrences.ts';
import { coverSubjects } from './scope/queries.ts';

const everyMs = 1_000;
const atOnce = 20;

/** Begins and ends windows by the clock. Any number of replicas may run it: each step is claimed by the lock of its window. */
export async function startMaintenanceClock(context: Context, log: Logger): Promise<RunningService> {
  return repeat({
    everyMs,
    work: (isStopped) => turnClock(context, () => !isStopped()),
    onError: (error) => log.warn({ err: error }, 'windows of maintenance were not looked at; it is tried again'),
  });
}

/**
 * Begins and ends all that is due. Where nobody looked for a while, an occurrence that has passed meanwhile begins and ends at its times.
 * @param mayGoOn asked before each transaction
 */
export async function turnClock(
  context: Pick<Context, 'database' | 'now' | 'bus'>,
  mayGoOn: () => boolean = () => true,
): Promise<void> {
  const { worker } = context.database;
  // Joins what has come into the scope of a window that is under way.
  const open = await openOccurrences(worker);
  if (open.length > 0) await coverSubjects(worker, open, false);
  for (let done = 1; done > 0 && mayGoOn(); ) {
    done = await worker.transaction(async (tx) => {
      const nowMs = context.now();
      const ending = await takeEnding(tx, nowMs, atOnce);
      for (const one of ending) {
        await endOccurrence(tx, one, one.endsMs);
        await planNext(tx, one.windowId, after(one));
      }
      const beginning = await takeBeginning(tx, nowMs, atOnce);
      for (const window of beginning) {
        await beginOccurrence(tx, window);
        const begun = await openOccurrence(tx, window.id);
        if (begun !== null) await noteNext(tx, window.id, after(begun));
      }
      return ending.length + beginning.length;
    });
    if (done > 0) context.bus.hint(outboxSubject, {});
  }
}

/** What comes after an occurrence of a window, by the times that the window has now. Those that nobody began are begun late, one after another. */
export function after(open: OpenOccurrence): Occurrence | null {
  return nextOccurrence(scheduleOf(open.times), open.startsMs, open.endsMs);
}
