import { createHmac } from 'node:crypto';

/** The installation's bot, as the operator has set it. */
export type Bot = {
  readonly token: string;
  /** Without a slash at its end. */
  readonly baseUrl: string;
};

/** Where the messenger answers for bots: https://core.telegram.org/bots/api#making-requests. */
export const defaultBaseUrl = 'https://api.telegram.org';

/** The bot's own number, which its token begins with. */
export function botIdOf(bot: Bot): number {
  return Number(bot.token.slice(0, bot.token.indexOf(':')));
}

/**
 * What the messenger proves itself with when it delivers: a word in the address, and another one in a header. Both are made from the bot's token,
 * so every replica knows them and another token ends them.
 */
export function webhookSecrets(bot: Bot): { readonly path: string; readonly header: string } {
  const made = (purpose: string): string => createHmac('sha256', bot.token).update(purpose).digest('base64url');
  return { path: made('parallax messenger updates: address'), header: made('parallax messenger updates: header') };
}

/** Kinds of updates that are asked for: everything else is nobody's business here. */
export const wantedUpdates = ['message', 'callback_query', 'my_chat_member'] as const;
