import type { Logger } from '@parallax/telemetry';
import type { DatabasePool } from 'slonik';
import type { Context } from '../../context.ts';
import { enqueue } from '../../platform/outbox/enqueue.ts';
import { repeat } from '../../platform/repeat.ts';
import type { RunningService } from '../../platform/running-service.ts';
import { calmAt, elapse, isFlapping, percentOf } from './history.ts';
import { flappingNotice } from './notice.ts';
import { claimCalm, forget, writeMemories } from './queries.ts';

const lookMs = 10_000;
const atOnce = 200;

/** Notices when monitors cease to flap: no change tells of that, only time. */
export async function startCalming(context: Context, log: Logger): Promise<RunningService> {
  return repeat({
    everyMs: lookMs,
    work: async (isStopped) => {
      while (!isStopped() && (await calmOnce(context.database.worker, context.now())) === atOnce);
    },
    onError: (error) => log.warn({ err: error }, 'monitors that cease to flap were not looked for; tried again'),
  });
}

/** One batch of monitors of which something is to be forgotten. @returns how many there were */
export async function calmOnce(pool: DatabasePool, nowMs: number): Promise<number> {
  return pool.transaction(async (transaction) => {
    const due = await claimCalm(transaction, nowMs, atOnce);
    const later = due.flatMap(({ history, ...known }) => {
      if (history === undefined) return [];
      const present = elapse(history, nowMs, known.intervalMs);
      const flaps = isFlapping(present, known.isFlapping);
      const memory = { ...known, history: present, isFlapping: flaps, sinceMs: nowMs };
      return [{ ...memory, wasFlapping: known.isFlapping, calmAtMs: calmAt(present, flaps, known.intervalMs) }];
    });
    const isForgotten = (one: (typeof later)[number]): boolean => percentOf(one.history) === 0;
    await writeMemories(
      transaction,
      later.filter((one) => !isForgotten(one)),
    );
    await forget(
      transaction,
      later.filter(isForgotten).map(({ monitorId }) => monitorId),
    );
    const ceased = later.filter(({ isFlapping: flaps, wasFlapping }) => wasFlapping && !flaps);
    await enqueue(transaction, ...ceased.map((monitor) => flappingNotice(monitor, false, nowMs)));
    return due.length;
  });
}
