import type { Logger } from '@parallax/telemetry';
import type { Context } from '../../../context.ts';
import { repeat } from '../../../platform/repeat.ts';
import type { RunningService } from '../../../platform/running-service.ts';
import { botOf } from '../bot-of.ts';
import type { MessengerHooks } from '../hooks.ts';
import { startReceiving } from '../receiving/job.ts';
import { actOnce, departOnce } from './gateway.ts';
import { dropFlood, removeOldUpdates } from './queries.ts';

const lookMs = 500;
const careMs = 5_000;
const sweepMs = 600_000;

/** Receives for the bot, acts and answers; nothing where there is no bot. */
export async function startBot(context: Context, log: Logger, hooks: MessengerHooks): Promise<RunningService> {
  const bot = botOf(context);
  if (bot === null) return { stop: async () => undefined };
  const { worker } = context.database;
  const acting = { context, bot, hooks, log };
  const onError = (error: unknown) => log.warn({ err: error }, 'the messenger bot could not work; tried again');
  const parts = [
    startReceiving(context, bot, log),
    repeat({
      everyMs: lookMs,
      work: async (isStopped) => {
        while (!isStopped() && (await actOnce(acting)) > 0);
      },
      onError,
    }),
    repeat({
      everyMs: careMs,
      work: async () => {
        await dropFlood(worker, context.now());
        await departOnce(acting);
      },
      onError,
    }),
    repeat({ everyMs: sweepMs, work: async () => removeOldUpdates(worker, context.now()), onError }),
  ];
  return {
    stop: async () => {
      await Promise.all(parts.map(async (part) => part.stop()));
    },
  };
}
