import type { Logger } from '@parallax/telemetry';
import type { Context } from '../../context.ts';
import { outboxSubject } from '../../platform/bus/subjects.ts';
import { untilFirstDue } from '../../platform/database/first-due.queries.ts';
import { sql } from '../../platform/database/pools.ts';
import { repeatWhenDue } from '../../platform/repeat-when-due.ts';
import type { RunningService } from '../../platform/running-service.ts';
import { dueIncidents, isAnyToBeTold, settleIncidents } from './state/queries.ts';

/** What is due and held by somebody else is looked at again after so long. */
const againMs = 500;

const incidentsAtOnce = 50;

/** Announces incidents whose message is due. Any number of replicas may run it: each message is claimed by the lock of its incident. */
export async function startTelling(context: Context, log: Logger): Promise<RunningService> {
  const { worker, signals } = context.database;
  return repeatWhenDue({
    signals,
    tables: ['incidents'],
    unheardMs: againMs,
    work: async (isStopped) => {
      while (!isStopped() && (await tellDue(context)) === incidentsAtOnce);
      return untilFirstDue(worker, sql.fragment`select min(tell_at) from incidents`, againMs);
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
