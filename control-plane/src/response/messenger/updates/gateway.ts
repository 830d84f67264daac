import type { Logger } from '@parallax/telemetry';
import type { Context } from '../../../context.ts';
import { BotApiError } from '../bot-api/bot-api-error.ts';
import { callBot, profileOf } from '../bot-api/gateway.ts';
import { botIdOf } from '../bot.ts';
import type { Bot } from '../bot.ts';
import { press } from '../buttons/gateway.ts';
import { commandOf } from '../commands/command.ts';
import { obey } from '../commands/gateway.ts';
import { moveChat, unlinkChat } from '../groups/queries.ts';
import type { MessengerHooks } from '../hooks.ts';
import { claimDepartures, countSending, endDeparture, holdChat } from '../queries.ts';
import type { Incoming } from './incoming.ts';
import { claimUpdates, moveWaiting, putBack, writeAnswers } from './queries.ts';
import type { Answer, ClaimedUpdate } from './queries.ts';

/** What the acting needs. */
export type Acting = {
  readonly context: Context;
  readonly bot: Bot;
  readonly hooks: MessengerHooks;
  readonly log: Logger;
};

const atOnce = 10;
const mostAttempts = 5;
/** Who has waited for longer has given up, or means something else by now. Links have a life of their own. */
const staleMs = 5 * 60_000;
const retryMs = 5_000;

/** Acts upon what is due, one update of each chat. @returns how many there were */
export async function actOnce(acting: Acting): Promise<number> {
  const { context, bot } = acting;
  const due = await claimUpdates(context.database.worker, botIdOf(bot), context.now(), atOnce);
  await Promise.all(due.map(async (update) => settle(acting, update)));
  return due.length;
}

async function settle(acting: Acting, update: ClaimedUpdate): Promise<void> {
  const { worker } = acting.context.database;
  try {
    const answers = update.answers ?? (await act(acting, update));
    // What was done is not done again when only the answer fails.
    if (update.answers === null) await keepAnswers(acting, update, answers);
    if (answers.length > 0) await send(acting, update, answers);
  } catch (error) {
    acting.log.warn(
      { err: error, update: String(update.id) },
      'a message to the messenger bot could not be acted upon',
    );
    if (update.attempts >= mostAttempts) await keepAnswers(acting, update, []);
    else await putBack(worker, update.id, acting.context.now() + retryMs * 2 ** update.attempts);
  }
}

async function keepAnswers({ context }: Acting, update: ClaimedUpdate, answers: readonly Answer[]): Promise<void> {
  const nowMs = context.now();
  // While answers are to be sent it stays in these hands for as long as a claim lasts.
  await writeAnswers(context.database.worker, update.id, answers, {
    nowMs,
    dueMs: nowMs + (answers.length === 0 ? 0 : 60_000),
  });
}

async function act(acting: Acting, { id, chat_id: chatId, payload }: ClaimedUpdate): Promise<Answer[]> {
  const { context, bot, hooks } = acting;
  switch (payload.kind) {
    case 'command': {
      const isStale = payload.tokenHash === null && payload.at < context.now() - staleMs;
      if (isStale) return [];
      const { username } = await profileOf(bot, context.now());
      const said = { ...payload, chat: { ...payload.chat, id: chatId } };
      const command = commandOf(said, username);
      return command === null ? [] : obey(context, hooks, said, command, id);
    }
    case 'button':
      return press(context, hooks, atChat(payload, chatId), id);
    case 'left':
      await leaveBehind(acting, chatId);
      return [];
    case 'moved':
      await move(acting, payload.fromChatId, payload.toChatId);
      return [];
  }
}

/** A group may have got another number since it was written. */
function atChat(pressed: Extract<Incoming, { kind: 'button' }>, chatId: number): typeof pressed {
  return pressed.chat === null ? pressed : { ...pressed, chat: { ...pressed.chat, id: chatId } };
}

/** The bot may not write to a chat any more. */
async function leaveBehind({ context, hooks }: Acting, chatId: number): Promise<void> {
  await unlinkChat(context.database.worker, chatId);
  await endDeparture(context.database.worker, chatId);
  await hooks.onChatGone(context, chatId);
}

async function move({ context, hooks }: Acting, fromChatId: number, toChatId: number): Promise<void> {
  await context.database.worker.transaction(async (tx) => {
    await moveChat(tx, fromChatId, toChatId);
    await moveWaiting(tx, fromChatId, toChatId);
  });
  await hooks.onChatMoved(context, fromChatId, toChatId);
}

/** Sends what is to be sent, in order. What was sent is noted at once; what waits is tried again at its time. */
async function send(acting: Acting, update: ClaimedUpdate, answers: readonly Answer[]): Promise<void> {
  const { context, bot } = acting;
  const { worker } = context.database;
  const [answer, ...rest] = answers;
  if (answer === undefined) return;
  if (answer.method === 'sendMessage') await countSending(worker, update.chat_id, context.now());
  try {
    await callBot(bot, { method: answer.method, params: answer.params });
  } catch (error) {
    if (!(error instanceof BotApiError)) throw error;
    await refused(acting, update, answers, error);
    return;
  }
  await keepAnswers(acting, update, rest);
  await send(acting, update, rest);
}

async function refused(
  acting: Acting,
  update: ClaimedUpdate,
  answers: readonly Answer[],
  error: BotApiError,
): Promise<void> {
  const { context, log } = acting;
  const { worker } = context.database;
  const nowMs = context.now();
  if (error.movedTo !== undefined && update.chat_id !== 0) {
    await writeAnswers(worker, update.id, answers, { nowMs, dueMs: nowMs });
    await move(acting, update.chat_id, error.movedTo);
    return;
  }
  if (error.isPassing && update.attempts < mostAttempts) {
    const waitMs = error.retryAfterMs ?? retryMs * 2 ** update.attempts;
    if (error.retryAfterMs !== undefined && update.chat_id !== 0)
      await holdChat(worker, update.chat_id, nowMs + waitMs);
    await writeAnswers(worker, update.id, answers, { nowMs, dueMs: nowMs + waitMs });
    return;
  }
  if (error.isChatGone && update.chat_id !== 0) await leaveBehind(acting, update.chat_id);
  // Old buttons and messages that were deleted meanwhile are no news; the rest of the answers may still be wanted.
  log.info({ reason: error.message }, 'the messenger did not take an answer of the bot');
  const rest = error.isChatGone ? [] : answers.slice(1);
  await keepAnswers(acting, update, rest);
  await send(acting, update, rest);
}

const departureRetryMs = 60_000;
const mostDepartures = 10;

/** The bot leaves groups that nobody uses any more. */
export async function departOnce({ context, bot, log }: Acting): Promise<void> {
  const { worker } = context.database;
  for (const { chat_id: chatId, attempts } of await claimDepartures(worker, context.now(), departureRetryMs)) {
    try {
      await callBot(bot, { method: 'leaveChat', params: { chat_id: chatId } });
    } catch (error) {
      if (!(error instanceof BotApiError)) throw error;
      if (error.isPassing && attempts < mostDepartures) continue;
      log.info({ reason: error.message }, 'the bot could not leave a group');
    }
    await endDeparture(worker, chatId);
  }
}
