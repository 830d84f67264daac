import type { Context } from '../../context.ts';
import { defaultBaseUrl } from './bot.ts';
import type { Bot } from './bot.ts';

/** The installation's bot; null where there is none. */
export function botOf(context: Pick<Context, 'signIn' | 'channels'>): Bot | null {
  const token = context.signIn.messengerBotToken;
  if (token === undefined) return null;
  const baseUrl = context.channels.baseUrls['messenger'] ?? defaultBaseUrl;
  return { token, baseUrl: baseUrl.replace(/\/+$/, '') };
}
