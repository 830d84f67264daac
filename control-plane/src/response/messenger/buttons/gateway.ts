import { Problem } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { acknowledgeIncident } from '../../incidents/index.ts';
import { requestOf } from '../commands/gateway.ts';
import type { MessengerHooks } from '../hooks.ts';
import { buttons, readButton } from '../keyboard/index.ts';
import type { Button } from '../keyboard/index.ts';
import { findMember } from '../people/queries.ts';
import type { Member } from '../people/queries.ts';
import type { Incoming } from '../updates/incoming.ts';
import type { Answer } from '../updates/queries.ts';
import { localeOf, wordsOf } from '../words/words.ts';
import type { Words } from '../words/words.ts';

type Pressed = Extract<Incoming, { kind: 'button' }>;

/** What a button did: a word to whoever pressed it, and what stands under the message from now on. */
type Done = { readonly text: string; readonly keyboard?: unknown };

const noButtons = { inline_keyboard: [] };

/** Does what a button asks for, by the rights that whoever pressed it has now. */
export async function press(
  context: Context,
  hooks: MessengerHooks,
  pressed: Pressed,
  updateId: bigint,
): Promise<Answer[]> {
  const member = await findMember(context.database.worker, pressed.from.id);
  const words = wordsOf(member?.locale ?? localeOf(pressed.from.language));
  const button = readButton(pressed.data);
  const done =
    member === null
      ? { text: words.button.notLinked }
      : button === null
        ? { text: words.button.failed }
        : await effectOf(context, hooks, { pressed, member, words, button }, updateId);
  return [
    { method: 'answerCallbackQuery', params: { callback_query_id: pressed.queryId, text: done.text } },
    ...(done.keyboard === undefined || pressed.chat === null || pressed.messageId === null
      ? []
      : [
          {
            method: 'editMessageReplyMarkup',
            params: { chat_id: pressed.chat.id, message_id: pressed.messageId, reply_markup: done.keyboard },
          },
        ]),
  ];
}

type Effect = {
  readonly pressed: Pressed;
  readonly member: Member;
  readonly words: Words;
  readonly button: Button;
};

async function effectOf(context: Context, hooks: MessengerHooks, effect: Effect, updateId: bigint): Promise<Done> {
  const { words, button } = effect;
  try {
    return button.kind === 'acknowledge'
      ? await acknowledge(context, effect, button.incidentId, updateId)
      : await mute(context, hooks, effect, button);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.code === 'forbidden') return { text: words.button.needsEditor };
    if (error.code === 'not_found') return { text: words.button.gone, keyboard: undefined };
    if (error.code === 'conflict') return { text: words.button.resolved, keyboard: noButtons };
    return { text: words.button.failed };
  }
}

async function acknowledge(
  context: Context,
  { member, words }: Effect,
  incidentId: number,
  updateId: bigint,
): Promise<Done> {
  const actor = { caller: member.caller, request: requestOf(updateId) };
  const { workspace_id: workspaceId } = await acknowledgeIncident(context, actor, incidentId);
  return { text: words.button.acknowledged, keyboard: buttons(member.locale, { incidentId: null, workspaceId }) };
}

async function mute(
  context: Context,
  hooks: MessengerHooks,
  { pressed, member, words }: Effect,
  button: Extract<Button, { kind: 'mute' }>,
): Promise<Done> {
  const role = member.caller.workspaces.get(button.workspaceId);
  if (role === undefined || pressed.chat === null) return { text: words.button.gone };
  if (role === 'viewer') return { text: words.button.needsEditor };
  const { userId } = member.caller;
  const of = { workspaceId: button.workspaceId, chatId: pressed.chat.id, userId };
  const muted = await hooks.muteAlerts(context, of, context.now() + button.minutes * 60_000);
  return { text: muted === 0 ? words.button.nothingToMute : words.button.muted };
}
