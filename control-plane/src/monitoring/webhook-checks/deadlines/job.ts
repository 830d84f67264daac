import type { Logger } from '@parallax/telemetry';
import type { Context } from '../../../context.ts';
import { outboxSubject } from '../../../platform/bus/subjects.ts';
import { enqueue } from '../../../platform/outbox/enqueue.ts';
import { repeat } from '../../../platform/repeat.ts';
import type { RunningService } from '../../../platform/running-service.ts';
import { entriesOf } from '../announce.ts';
import { removeOldEvents } from '../events/queries.ts';
import { removeDeleted } from '../queries.ts';
import { stateOf } from '../row.ts';
import { miss } from '../state.ts';
import { claimMiss, overdueChecks } from './queries.ts';
import { untilFirstDue } from '../../../platform/database/first-due.queries.ts';
import { sql } from '../../../platform/database/pools.ts';
import { repeatWhenDue } from '../../../platform/repeat-when-due.ts';

const againMs = 1_000;
const atOnce = 100;
const tidyMs = 60_000;
const removedAtOnce = 5_000;

/** Notices what was missed. */
export async function startMisses(context: Context, log: Logger): Promise<RunningService> {
  const { worker, signals } = context.database;
  return repeatWhenDue({
    signals,
    tables: ['webhook_checks'],
    unheardMs: againMs,
    work: async (isStopped) => {
      while (!isStopped() && (await noticeMisses(context)) === atOnce);
      return untilFirstDue(worker, sql.fragment`select min(deadline_at) from webhook_checks`, againMs);
    },
    onError: (error) => log.warn({ err: error }, 'missed deliveries were not looked for; tried again'),
  });
}

/** One batch, each check in a transaction of its own. @returns how many were overdue */
export async function noticeMisses(context: Pick<Context, 'database' | 'now' | 'bus'>): Promise<number> {
  const nowMs = context.now();
  const overdue = await overdueChecks(context.database.worker, nowMs, atOnce);
  let isTold = false;
  for (const row of overdue) {
    const change = miss(stateOf(row), nowMs);
    if (change === null) continue;
    const isOurs = await context.database.worker.transaction(async (tx) => {
      if (!(await claimMiss(tx, row, change.state))) return false;
      await enqueue(tx, ...entriesOf(row, change, nowMs));
      return true;
    });
    isTold ||= isOurs;
  }
  if (isTold) context.bus.hint(outboxSubject, {});
  return overdue.length;
}

/** Removes deliveries that are too old, and what deleted checks have left. */
export async function startTidying(context: Context, log: Logger): Promise<RunningService> {
  return repeat({
    everyMs: tidyMs,
    work: (isStopped) => tidy(context, () => !isStopped()),
    onError: (error) => log.warn({ err: error }, 'old deliveries were not removed; tried again'),
  });
}

/** @param mayGoOn asked before each batch */
export async function tidy(context: Pick<Context, 'database' | 'now'>, mayGoOn: () => boolean): Promise<void> {
  const { worker } = context.database;
  while (mayGoOn() && (await removeOldEvents(worker, context.now(), removedAtOnce)) > 0);
  while (mayGoOn() && (await removeDeleted(worker, removedAtOnce)) > 0);
}
