import type { Logger } from '@parallax/telemetry';
import type { Context } from '../../context.ts';
import { outboxSubject } from '../../platform/bus/subjects.ts';
import { repeat } from '../../platform/repeat.ts';
import type { RunningService } from '../../platform/running-service.ts';
import { dueIncidents, isAnyToBeTold, settleIncidents } from './state/queries.ts';

/** A first message waits three seconds for company, so half a second more is little. */
const everyMs = 500;

const incidentsAtOnce = 50;

/** Announces incidents whose message is due. Any number of replicas may run it: each message is claimed by the lock of its incident. */
export async function startTelling(context: Context, log: Logger): Promise<RunningService> {
  return repeat({
    everyMs,
    work: async (isStopped) => {
      while (!isStopped() && (await tellDue(context)) === incidentsAtOnce);
    },
    onError: (error) => log.warn({ err: error }, 'incidents were not announced; it is tried again'),
  });
}

/** Announces a batch of what is due. @returns how many incidents were looked at */
export async function tellDue(context: Pick<Context, 'database' | 'now' | 'bus'>): Promise<number> {
  const { worker } = context.database;
  if (!(await isAnyToBeTold(worker, context.now()))) return 0;
  const count = await worker.transaction(async (transaction) => {
    const nowMs = context.now();
    const ids = await dueIncidents(transaction, nowMs, incidentsAtOnce);
    await settleIncidents(transaction, ids, nowMs);
    return ids.length;
  });
  if (count > 0) context.bus.hint(outboxSubject, {});
  return count;
}
