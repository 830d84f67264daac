import type { Logger } from '@parallax/telemetry';
import type { Context } from '../../../context.ts';
import { outboxSubject } from '../../../platform/bus/subjects.ts';
import { repeat } from '../../../platform/repeat.ts';
import type { RunningService } from '../../../platform/running-service.ts';
import { noteEveryMs } from './credit.ts';
import { noteTaken, noticeMisses } from './queries.ts';

/** A miss is noticed within this, and within the pace of the notes. */
const lookEveryMs = 500;

/** Says, while this process takes signals, that it does. */
export async function startPingWatch(context: Context, log: Logger): Promise<RunningService> {
  const worker = context.database.worker;
  const note = async (): Promise<void> => {
    const creditMs = await noteTaken(worker);
    if (creditMs !== null) log.warn({ credit_ms: creditMs }, 'no signals were taken for a while; deadlines were moved');
  };
  const repeated = repeat({
    everyMs: noteEveryMs,
    work: note,
    onError: (error) => log.warn({ err: error }, 'it could not be noted that signals are taken'),
  });
  await repeated.soon();
  return repeated;
}

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
