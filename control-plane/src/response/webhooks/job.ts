import type { Logger } from '@parallax/telemetry';
import type { Context } from '../../context.ts';
import { webhooksSubject } from '../../platform/bus/subjects.ts';
import { repeat } from '../../platform/repeat.ts';
import type { RunningService } from '../../platform/running-service.ts';
import { mostOfClaim, nextDueMs } from './sending/claim.queries.ts';
import { Sender } from './sending/sender.job.ts';
import { tellFailing } from './upkeep/failing.gateway.ts';
import { missQueued, sweepOnce, switchOffFull } from './upkeep/queries.ts';

/** A hint, a room or a due time wakes the sender; this catches what they miss. */
const everyMs = 10_000;
const upkeepEveryMs = 60_000;

/** Sends webhooks until it is stopped; any number of replicas may do so. At a stop it waits for what is under way. */
export async function startWebhooks(context: Context, log: Logger): Promise<RunningService> {
  const pool = context.database.worker;
  let again: () => void = () => undefined;
  const sender = new Sender(
    {
      pool,
      client: context.outbound.guarded,
      sealer: context.sealer,
      replica: context.replica,
      now: context.now,
      log,
    },
    () => again(),
  );
  let isWanted = false;
  let timer: NodeJS.Timeout | undefined;
  const sending = repeat({
    everyMs,
    work: async (isStopped) => {
      do {
        isWanted = false;
        const lookedMs = context.now();
        while (!isStopped() && (await sender.begin()) >= mostOfClaim);
        // What is due later wakes it then: while nothing waits, only the poll runs.
        const dueMs = await nextDueMs(pool, lookedMs);
        clearTimeout(timer);
        if (dueMs !== null && !isStopped()) {
          timer = setTimeout(() => again(), Math.min(everyMs, Math.max(5, dueMs - context.now())));
        }
      } while (isWanted && !isStopped());
    },
    onError: (error) => log.warn({ err: error }, 'webhook deliveries could not be looked for; tried again'),
  });
  again = () => {
    // A run that is under way may have looked already.
    isWanted = true;
    void sending.soon();
  };
  const upkeep = repeat({
    everyMs: upkeepEveryMs,
    work: async (isStopped) => {
      await switchOffFull(pool);
      await tellFailing({ pool, sealer: context.sealer, publicUrl: context.publicUrl }, context.now());
      await missQueued(pool);
      while (!isStopped() && (await sweepOnce(pool, context.now())) > 0);
    },
    onError: (error) => log.warn({ err: error }, 'webhooks could not be looked after; tried again'),
  });
  const hints = context.bus.listen(webhooksSubject, () => again());
  return {
    stop: async () => {
      hints.stop();
      clearTimeout(timer);
      await Promise.all([sending.stop(), upkeep.stop()]);
      clearTimeout(timer);
      await sender.stop();
    },
  };
}
