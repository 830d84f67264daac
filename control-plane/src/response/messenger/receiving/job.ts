import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@parallax/telemetry';
import type { Context } from '../../../context.ts';
import type { RunningService } from '../../../platform/running-service.ts';
import { BotApiError } from '../bot-api/bot-api-error.ts';
import { botIdOf } from '../bot.ts';
import type { Bot } from '../bot.ts';
import { receiveOnce } from './gateway.ts';
import { releaseReceiver } from './queries.ts';

const firstPauseMs = 1_000;
const mostPauseMs = 60_000;

/** Receives what people write to the bot, on one replica at a time. */
export function startReceiving(context: Context, bot: Bot, log: Logger): RunningService {
  const stopping = new AbortController();
  const running = receive(context, bot, log, stopping.signal);
  let stopped: Promise<void> | undefined;
  return {
    stop: () => {
      stopping.abort();
      stopped ??= running.then(async () => releaseReceiver(context.database.worker, botIdOf(bot), context.replica));
      return stopped;
    },
  };
}

async function receive(context: Context, bot: Bot, log: Logger, signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    let pauseMs: number;
    try {
      pauseMs = (await receiveOnce(context, bot, log, signal)).pauseMs;
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      const asked = error instanceof BotApiError ? (error.retryAfterMs ?? 0) : 0;
      pauseMs = Math.max(asked, Math.min(firstPauseMs * 2 ** Math.min(failures - 1, 10), mostPauseMs));
      log.warn({ err: error, pauseMs }, 'receiving for the messenger bot failed; tried again');
    }
    if (pauseMs > 0) await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}
