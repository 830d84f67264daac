import type { Logger } from '@parallax/telemetry';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { BotApiError } from '../bot-api/bot-api-error.ts';
import { callBot } from '../bot-api/gateway.ts';
import { botIdOf, wantedUpdates, webhookSecrets } from '../bot.ts';
import type { Bot } from '../bot.ts';
import { readUpdate } from '../updates/incoming.ts';
import type { Update } from '../updates/incoming.ts';
import { offsetOf, pollSeconds } from './lease.ts';
import { holdReceiver, keepReceived, releaseReceiver } from './queries.ts';
import type { Receiver } from './queries.ts';

/** After how long the next step may come. */
export type Pause = { readonly pauseMs: number };

type Means = Pick<Context, 'database' | 'now' | 'replica' | 'publicUrl'>;

const otherHasIt: Pause = { pauseMs: 5_000 };
/** How often a webhook is looked after; well within the lease. */
const webhookCareMs = 20_000;

/**
 * One step of the receiving: takes or keeps the lease, then makes sure of the webhook where the messenger can reach us, or asks for updates.
 * @throws BotApiError
 */
export async function receiveOnce(context: Means, bot: Bot, log: Logger, signal?: AbortSignal): Promise<Pause> {
  const receiver = await holdReceiver(context.database.worker, botIdOf(bot), context.replica, context.now());
  if (receiver === null) return otherHasIt;
  try {
    return await receive(context, bot, receiver, log, signal);
  } catch (error) {
    // Whoever takes it next begins anew, webhook included.
    await releaseReceiver(context.database.worker, botIdOf(bot), context.replica);
    throw error;
  }
}

async function receive(
  context: Means,
  bot: Bot,
  receiver: Receiver,
  log: Logger,
  signal: AbortSignal | undefined,
): Promise<Pause> {
  if (new URL(context.publicUrl).protocol === 'https:') {
    if (receiver.isNew) await setWebhook(context, bot, signal);
    return { pauseMs: webhookCareMs };
  }
  // While a webhook is set nothing can be asked for.
  if (receiver.isNew) await callBot(bot, { method: 'deleteWebhook', params: {}, signal });
  await poll(context, bot, receiver, log, signal);
  return { pauseMs: 0 };
}

/**
 * Of one answer with updates. Anybody may write to the bot: 4,096 characters take 24 kB of escaped JSON, what they answer to as much, and formats
 * more than both. An answer that is broken off would come again and again, and the bot be deaf until nobody waits.
 */
const mostUpdateBytes = 16 * 1_048_576;

/** The address of the webhook. */
export function webhookUrl(publicUrl: string, bot: Bot): string {
  return `${publicUrl.replace(/\/$/, '')}/api/v1/messenger-updates/${webhookSecrets(bot).path}`;
}

async function setWebhook(context: Means, bot: Bot, signal: AbortSignal | undefined): Promise<void> {
  const params = {
    url: webhookUrl(context.publicUrl, bot),
    secret_token: webhookSecrets(bot).header,
    allowed_updates: wantedUpdates,
    max_connections: 4,
  };
  await callBot(bot, { method: 'setWebhook', params, signal });
}

async function poll(
  context: Means,
  bot: Bot,
  receiver: Receiver,
  log: Logger,
  signal: AbortSignal | undefined,
): Promise<void> {
  const offset = offsetOf(receiver, context.now());
  const given = z.array(z.unknown()).safeParse(
    await callBot(bot, {
      method: 'getUpdates',
      params: {
        timeout: pollSeconds,
        limit: 100,
        allowed_updates: wantedUpdates,
        ...(offset === undefined ? {} : { offset }),
      },
      timeoutMs: (pollSeconds + 10) * 1_000,
      mostBytes: mostUpdateBytes,
      signal,
    }),
  );
  if (!given.success) {
    throw new BotApiError('getUpdates', { status: undefined, description: 'the answer is no list' });
  }
  const updates = given.data.map(readUpdate).filter((each): each is Update => each !== null);
  if (updates.length < given.data.length) log.warn('the messenger sent updates that have no number');
  if (updates.length === 0) return;
  await keepReceived(context.database.worker, { botId: botIdOf(bot), owner: context.replica }, updates, context.now());
}
