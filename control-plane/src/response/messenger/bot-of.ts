import type { Context } from '../../context.ts';
import { defaultBaseUrl } from './bot.ts';
import type { Bot } from './bot.ts';

/** What is looked at of the operator's settings. */
export type BotSettings = Pick<Context, 'signIn'> & {
  readonly channels?: { readonly baseUrls?: Readonly<Record<string, string>> };
};

/** The installation's bot; null where there is none. */
export function botOf(context: BotSettings): Bot | null {
  const token = context.signIn.messengerBotToken;
  if (token === undefined) return null;
  const baseUrl = context.channels?.baseUrls?.['messenger'] ?? defaultBaseUrl;
  return { token, baseUrl: baseUrl.replace(/\/+$/, '') };
}
