import { z } from 'zod';
import { escapeHtml } from '../../messages/index.ts';
import { keyboardOf } from '../../messenger/keyboard/index.ts';
import type { InlineKeyboard } from '../../messenger/keyboard/index.ts';
import { answerFault, isSuccess, serviceFault } from '../answer-fault.ts';
import type { Channel, ChannelIo, IncomingResponse } from '../channel.ts';
import { DeliveryError } from '../delivery-error.ts';
import { layOut, type Markup } from './shared/lay-out.ts';

const botToken = z
  .string()
  .regex(/^[0-9]{1,20}:[A-Za-z0-9_-]{20,100}$/, 'must be the token of a bot, <number>:<secret>');

const settings = z.strictObject({
  bot_token: botToken
    .optional()
    .describe('Token of a bot of your own, from @BotFather. Absent: the bot of this installation. Never shown.'),
});
type Settings = z.output<typeof settings>;

type Content = {
  readonly text: string;
  readonly parse_mode: 'HTML';
  readonly link_preview_options: { readonly is_disabled: true };
  readonly disable_notification: boolean;
  readonly reply_markup?: InlineKeyboard | undefined;
};

// core.telegram.org/bots/api, sendMessage: 1 to 4,096 characters after entities are parsed; counted with its markup here, which is on the safe side.
const mostCharacters = 4_096;
const service = 'Telegram';

const markup: Markup = {
  escape: escapeHtml,
  title: (text) => `<b>${escapeHtml(text)}</b>`,
  heading: (text) => `<b>${escapeHtml(text)}</b>`,
  fact: (label, value) => `${escapeHtml(label)}: ${escapeHtml(value)}`,
  link: ({ label, url }) => `<a href="${escapeHtml(url)}">${escapeHtml(label)}</a>`,
};

/** Telegram, by a bot: people, groups, topics of groups and channels. */
export const messenger: Channel<Settings, Content> = {
  name: 'messenger',
  aliases: ['telegram'],
  title: service,
  documentation: 'https://core.telegram.org/bots/api#sendmessage',
  setup:
    'Link the bot of this installation to yourself or to a group, or name a bot of your own by its token, start it, and name the chat id: of a person a number, of a group a negative number, of a public channel @name, which needs a bot of your own; a topic stands behind a colon.',
  settings,
  secrets: ['bot_token'],
  sendsWithoutConfig: ({ hasMessengerBot }) => hasMessengerBot,
  baseUrl: 'https://api.telegram.org',
  target: {
    label: 'chat id, with :topic where it has topics',
    example: '-1001234567890',
    isGlobal: true,
    parse: (text) => {
      const target = text.trim();
      return /^(-?[1-9][0-9]{0,18}|@[A-Za-z][A-Za-z0-9_]{3,31})(:[1-9][0-9]{0,9})?$/.test(target)
        ? { ok: true, target }
        : { ok: false, problem: 'is not a chat id, such as 12345, -1001234567890 or @channel' };
    },
    mask: (target) => `…${target.slice(-4)}`,
  },
  render: (message, { bot_token: own }) => ({
    text: layOut(message, markup, mostCharacters),
    parse_mode: 'HTML',
    link_preview_options: { is_disabled: true },
    disable_notification: message.state === 'information',
    // What is pressed is told to the bot that wrote; of another one nobody hears it here.
    ...(own === undefined && { reply_markup: keyboardOf(message) }),
  }),
  send: async (content, { settings: { bot_token: own }, target }, io) => {
    const token = own ?? io.messengerBotToken;
    if (token === undefined) {
      const message = 'This installation has no bot: set the token of one of your own.';
      throw new DeliveryError('not_configured', 'message', message);
    }
    const [chat = '', topic] = target.split(':');
    const say = (chatId: string) =>
      call(io, token, {
        chat_id: /^-?[0-9]+$/.test(chatId) ? Number(chatId) : chatId,
        // "General" has the number 1 in links, and is what is meant by none: with 1 the Bot API knows no such thread.
        ...(topic !== undefined && topic !== '1' && { message_thread_id: Number(topic) }),
        ...content,
      });
    let answer = await say(chat);
    // A group that became a supergroup has another number from then on.
    const moved = reading(answer).parameters?.migrate_to_chat_id;
    if (moved !== undefined) answer = await say(String(moved));
    const read = reading(answer);
    if (isSuccess(answer.status) && read.ok === true) {
      return read.result === undefined ? {} : { reference: String(read.result.message_id) };
    }
    throw faultOf(answer, own !== undefined, io);
  },
};

function call(io: ChannelIo, token: string, body: object): Promise<IncomingResponse> {
  return io.request({
    method: 'POST',
    url: `${io.baseUrl}/bot${token}/sendMessage`,
    body,
    secrets: [token],
  });
}

const answerShape = z.object({
  ok: z.boolean().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  result: z.object({ message_id: z.number() }).optional().catch(undefined),
  parameters: z
    .object({
      retry_after: z.number().optional().catch(undefined),
      migrate_to_chat_id: z.number().optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
});

function reading(answer: IncomingResponse): z.output<typeof answerShape> {
  return answerShape.safeParse(answer.json).data ?? {};
}

/** Who is not there any more, or does not let the bot write. Descriptions are all that the Bot API tells them apart by. */
const gone =
  /chat not found|user not found|peer_id_invalid|channel_private|deactivated|blocked by the user|kicked|not a member|can't initiate conversation|can't send messages to (bots|the bot)|chat_write_forbidden|not enough rights|have no rights|need administrator rights|thread not found|topic_(closed|deleted)|chat_restricted|chat_admin_required|upgraded to a supergroup/i;

function faultOf(answer: IncomingResponse, isOwnBot: boolean, io: ChannelIo): DeliveryError {
  const { description = '', parameters } = reading(answer);
  const reason = description === '' ? `status ${answer.status}` : description;
  if ((answer.status === 400 || answer.status === 403) && gone.test(description)) {
    return serviceFault('unknown_target', 'target', { service, reason });
  }
  if (answer.status === 401 || answer.status === 404) {
    // "Not Found" is what the Bot API answers to a token that is none. The operator mends that of the installation.
    if (isOwnBot) return serviceFault('refused_credentials', 'configuration', { service, reason });
    return serviceFault('service_unavailable', 'passing', {
      service,
      reason: 'the bot of this installation is refused',
    });
  }
  const waitSeconds = parameters?.retry_after;
  return answerFault(answer, {
    service,
    nowMs: io.now(),
    reason,
    meanings: { 403: ['unknown_target', 'target'], 200: ['unexpected_answer', 'passing'] },
    ...(waitSeconds !== undefined && waitSeconds >= 0 && { retryAfterMs: waitSeconds * 1_000 }),
  });
}
