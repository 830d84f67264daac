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
  coverWhatCame,
  planNext,
  takeBeginning,
  takeEnding,
} from './occurrences/queries.ts';
import type { OpenOccurrence } from './occurrences/queries.ts';
import { nextOccurrence, scheduleOf } from './recurrence/occurrences.ts';
import type { Occurrence } from './recurrence/occurrences.ts';

const everyMs = 1_000;
const atOnce = 20;
/** What comes into a scope while it lasts is looked for every ten seconds: it reads all that is in the scope. */
const turnsUntilCovered = 10;

/** Begins and ends windows by the clock. Any number of replicas may run it: each step is claimed by the lock of its window. */
export async function startMaintenanceClock(context: Context, log: Logger): Promise<RunningService> {
  let turn = 0;
  return repeat({
    everyMs,
    work: async (isStopped) => {
      await turnClock(context, () => !isStopped());
      if (turn % turnsUntilCovered === 0) await coverWhatCame(context.database.worker);
      turn += 1;
    },
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
