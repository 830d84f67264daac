import { quietLog } from '@parallax/testkit';
import type { TestContext } from '@parallax/testkit';
import type { Context } from '../../context.ts';
import { incidentsApi } from '../incidents/testing.ts';
import type { IncidentsApi } from '../incidents/testing.ts';
import { botOf } from './bot-of.ts';
import type { Bot } from './bot.ts';
import type { MessengerHooks } from './hooks.ts';
import { createMessengerCapability } from './index.ts';
import { receiveOnce } from './receiving/gateway.ts';
import { testBotApi } from './testing/bot-api.ts';
import type { TestBotApi } from './testing/bot-api.ts';
import { actOnce, departOnce } from './updates/gateway.ts';

export type HookCall = readonly [what: string, ...numbers: (number | null)[]];

export type MessengerApi = IncidentsApi & {
  readonly messenger: TestBotApi;
  readonly bot: Bot;
  /** What other capabilities were told. */
  readonly hooked: HookCall[];
  /** How many alerts tell each chat. */
  alerts: number;
  /** Asks the messenger once; what it told is kept. */
  readonly receives: () => Promise<void>;
  /** Acts upon all that is there, as time goes by. */
  readonly acts: () => Promise<void>;
  /** Both. */
  readonly works: () => Promise<void>;
  readonly departs: () => Promise<void>;
  /** The bot's last message to a chat, without markup. */
  readonly last: (chatId: number) => string;
  /** Opens a chat with the bot and links it. @returns the person */
  readonly linked: (token: string, personId: number) => Promise<{ readonly id: number; readonly first_name: string }>;
  /** Adds the bot to a new group by a link of the workspace. */
  readonly group: (chatId: number, token?: string) => Promise<void>;
};

/** For tests: the API with incidents and a bot, its messenger on loopback, and workers that run when they are asked to. */
export async function messengerApi(
  t: TestContext,
  more: { readonly context?: Partial<Context> } = {},
): Promise<MessengerApi> {
  const messenger = await testBotApi(t);
  const hooked: HookCall[] = [];
  const hooks: MessengerHooks = {
    muteAlerts: async (_context, of, untilMs) => {
      hooked.push(['mute', of.workspaceId, of.chatId, untilMs]);
      return world.alerts;
    },
    onChatGone: async (_context, chatId) => {
      hooked.push(['gone', chatId]);
    },
    onChatBack: async () => undefined,
    onChatMoved: async (_context, from, to) => {
      hooked.push(['moved', from, to]);
    },
  };
  const settings = {
    signIn: { identityProviders: {}, messengerBotToken: messenger.token },
    ...channelsAt(messenger.baseUrl),
  };
  const api = await incidentsApi(t, {
    more: [createMessengerCapability(hooks)],
    context: { ...settings, ...more.context },
  });
  const bot = botOf(api.context);
  if (bot === null) throw new Error('there is no bot');
  const acting = { context: api.context, bot, hooks, log: quietLog };
  const receives = async (): Promise<void> => {
    // Nothing is asked for that would be waited for.
    while (messenger.waiting() > 0) {
      await receiveOnce(api.context, bot, quietLog);
      messenger.confirm();
    }
  };
  const acts = async (): Promise<void> => {
    do api.clock.nowMs += 1_001;
    while ((await actOnce(acting)) > 0);
  };
  const world: MessengerApi = {
    ...api,
    messenger,
    bot,
    hooked,
    alerts: 1,
    receives,
    acts,
    works: async () => {
      await receives();
      await acts();
    },
    departs: async () => departOnce(acting),
    last: (chatId) => messenger.sent.findLast((message) => message.chatId === chatId)?.text ?? '',
    linked: async (token, personId) => {
      messenger.chats.set(personId, { type: 'private' });
      const link = await api.call('POST', '/api/v1/messenger-bot/link', { token });
      const person = { id: personId, first_name: 'Ada' };
      messenger.write(personId, person, `/start ${startOf(link.body['url'])}`);
      await world.works();
      return person;
    },
    group: async (chatId, token = api.token) => {
      messenger.chats.set(chatId, { type: 'supergroup' });
      const body = { workspace_id: api.workspaceId };
      const link = await api.call('POST', '/api/v1/messenger-groups/link', { token, body });
      if (link.status !== 200) throw new Error(`link: ${link.status} ${link.text}`);
      messenger.write(
        chatId,
        { id: 77, first_name: 'Eve' },
        `/start@${messenger.username} ${startOf(link.body['url'])}`,
      );
      await world.works();
    },
  };
  return world;
}

/** The token of a deep link. */
export function startOf(url: unknown): string {
  const { searchParams } = new URL(String(url));
  return searchParams.get('start') ?? searchParams.get('startgroup') ?? '';
}

function channelsAt(messenger: string): Partial<Context> {
  return { channels: { baseUrls: { messenger }, hasMailServer: true, hasTeamChatApp: false } };
}
