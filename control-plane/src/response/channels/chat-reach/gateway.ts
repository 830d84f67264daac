import type { CommonQueryMethods } from 'slonik';
import { mayTellChat } from '../../messenger/reach/index.ts';
import type { AnySettings } from '../channel.ts';

/**
 * Why the installation's bot may not write to a chat of the messenger; undefined where it may, for other channels, and for bots of the user's own.
 * One bot serves all accounts: without this, whoever knows the number of a chat could have it write to strangers. For the worker login, or that of
 * the API in the scope of the user.
 */
export async function reachProblem(
  connection: CommonQueryMethods,
  of: { readonly channel: string; readonly settings: AnySettings; readonly userId: number; readonly target: string },
): Promise<string | undefined> {
  if (of.channel !== 'messenger' || of.settings['bot_token'] !== undefined) return undefined;
  const chatId = of.target.split(':')[0] ?? '';
  if (await mayTellChat(connection, { userId: of.userId, chatId })) return undefined;
  return 'This chat is not linked to you or to a workspace of yours: link it first, or configure a bot of your own.';
}
