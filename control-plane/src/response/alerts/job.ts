import type { Logger } from '@parallax/telemetry';
import type { Context } from '../../context.ts';
import { alertsSubject } from '../../platform/bus/subjects.ts';
import { repeat } from '../../platform/repeat.ts';
import type { RunningService } from '../../platform/running-service.ts';
import { bundleOnce } from './bundling/job.ts';
import type { AlertParts } from './channels-gateway.ts';
import { findDue, firstDue } from './due.queries.ts';
import { planOnce } from './planning/job.ts';
import type { Undecided } from './planning/job.ts';
import { createSender } from './sending/job.ts';
import { sweepOnce } from './sweep/queries.ts';
import { repeatWhenDue } from '../../platform/repeat-when-due.ts';
import { untilFirstDue } from '../../platform/database/first-due.queries.ts';

/** What is due and could not be done is looked at again after so long. */
const againMs = 250;
/** However much is written, work is looked for no more often. */
const lookLeastMs = 100;
/** What is found, hinted at or has room is done at once; this is for what none of these tells of. */
const everyMs = 30_000;
/** While much is decided, what is decided already is made messages of so often: who has a single message waiting does not wait for the rest. */
const bundleEveryMs = 500;
const sweepEveryMs = 600_000;

/**
 * Decides who is told what, makes messages of it and sends them, until it is stopped; any number of replicas may do so. At a stop it waits for
 * what is under way: a message that is sent and not noted would be sent twice.
 */
export function startAlerting(parts: (context: Context) => AlertParts) {
  return async (context: Context, log: Logger): Promise<RunningService> => {
    const pool = context.database.worker;
    const made = parts(context);
    const undecided = (error: unknown, of: Undecided): void =>
      log.error({ err: error, ...of }, 'an alert could not be read, or an occasion not decided; others go on');
    let again: () => void = () => undefined;
    const sender = createSender(
      {
        pool,
        parts: made,
        publicUrl: context.publicUrl.replace(/\/+$/, ''),
        replica: context.replica,
        now: context.now,
        log,
      },
      // Its target has room for the next one.
      () => again(),
    );
    const sending = repeat({
      everyMs,
      work: async (isStopped) => {
        while (!isStopped() && (await sender.begin()) > 0);
      },
      onError: (error) => log.warn({ err: error }, 'messages could not be looked for; tried again'),
    });
    again = () => void sending.soon();
    const planning = repeat({
      everyMs,
      work: async (isStopped) => {
        for (let planned = 1, bundledMs = 0; planned > 0 && !isStopped(); ) {
          planned = await planOnce(pool, made, context.now(), undecided);
          if (planned > 0 && performance.now() - bundledMs < bundleEveryMs) continue;
          let bundled = 0;
          for (let some = 1; some > 0 && !isStopped(); bundled += some)
            some = await bundleOnce(pool, made.channels, context.now());
          bundledMs = performance.now();
          if (bundled > 0) again();
        }
      },
      onError: (error) => log.warn({ err: error }, 'alerts could not be decided; tried again'),
    });
    const looking = repeatWhenDue({
      signals: context.database.signals,
      tables: ['alert_occasions', 'notifications', 'deliveries', 'incidents'],
      unheardMs: againMs,
      leastMs: lookLeastMs,
      work: async () => {
        const due = await findDue(pool, context.now());
        if (due.isPlanning) void planning.soon();
        if (due.isSending) again();
        return due.isPlanning || due.isSending ? againMs : untilFirstDue(pool, firstDue, againMs);
      },
      onError: (error) => log.warn({ err: error }, 'work on alerts could not be looked for; tried again'),
    });
    const sweeping = repeat({
      everyMs: sweepEveryMs,
      work: async (isStopped) => {
        while (!isStopped() && (await sweepOnce(pool, context.now())) > 0);
      },
      onError: (error) => log.warn({ err: error }, 'old notifications could not be removed; tried again'),
    });
    const hints = context.bus.listen(alertsSubject, () => void planning.soon());
    return {
      stop: async () => {
        hints.stop();
        await looking.stop();
        await Promise.all([planning.stop(), sending.stop(), sweeping.stop()]);
        await sender.idle();
      },
    };
  };
}
