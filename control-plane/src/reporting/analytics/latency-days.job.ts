import type { Logger } from '@parallax/telemetry';
import type { Context } from '../../context.ts';
import { repeat } from '../../platform/repeat.ts';
import type { RunningService } from '../../platform/running-service.ts';
import { mergeLatencyDay, removeOldLatencyDays, takeLatencyDay } from './latency-days.queries.ts';

/** Days change once a day; what late results change is merged a little later. */
const everyMs = 120_000;
/** A day whose hours are still being packed waits until that is over. */
const settledSeconds = 120;
/** After a monitor with a long history was deleted there may be hundreds of days to merge: they are merged bit by bit. */
const mostMsAtOnce = 10_000;

/** Keeps the response times of workspaces up to date. */
export async function startLatencyDays(context: Context, log: Logger): Promise<RunningService> {
  return repeat({
    everyMs,
    work: async (isStopped) => {
      const startedMs = performance.now();
      await mergeLatencyDays(context, log, () => !isStopped() && performance.now() - startedMs < mostMsAtOnce);
      while (!isStopped() && (await removeOldLatencyDays(context.database.worker, context.now())) > 0);
    },
    onError: (error) => log.warn({ err: error }, 'merging response times of workspaces failed; it is tried again'),
  });
}

/** Merges the days that were marked, each in a transaction of its own. @returns how many */
export async function mergeLatencyDays(
  { database }: { readonly database: Pick<Context['database'], 'worker'> },
  log: Logger,
  mayGoOn: () => boolean = () => true,
  waitSeconds = settledSeconds,
): Promise<number> {
  for (let merged = 0; ; merged += 1) {
    const isDone =
      !mayGoOn() ||
      !(await database.worker.transaction(async (tx) => {
        const day = await takeLatencyDay(tx, waitSeconds);
        if (day !== null) await mergeLatencyDay(tx, day, log);
        return day !== null;
      }));
    if (isDone) return merged;
  }
}
