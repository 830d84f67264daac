import { createHash, randomBytes } from 'node:crypto';
import { Problem } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { recordAudit } from '../../../identity/audit/index.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { BotApiError } from '../bot-api/bot-api-error.ts';
import { profileOf } from '../bot-api/gateway.ts';
import type { BotProfile } from '../bot-api/gateway.ts';
import type { Bot } from '../bot.ts';
import { linkGroup } from '../groups/queries.ts';
import { insertToken, linkPerson, takeToken } from '../people/queries.ts';
import { endDeparture, lockChat } from '../queries.ts';
import type { Incoming } from '../updates/incoming.ts';
import type { Words } from '../words/words.ts';
import { deepLink, linkLifeMs } from './deep-link.ts';

/**
 * Makes a deep link.
 * @param workspaceId of the workspace that a group is to be linked to; null links a person
 */
export async function makeLink(
  context: Context,
  scope: Scope,
  profile: BotProfile,
  workspaceId: number | null,
): Promise<{ readonly url: string; readonly expires_at: string }> {
  // 43 characters; the messenger hands on up to 64.
  const token = randomBytes(32).toString('base64url');
  const expiresMs = context.now() + linkLifeMs;
  const hash = createHash('sha256').update(token).digest();
  await inScope(context.database.api, scope, (tx) => insertToken(scope, tx, { hash, workspaceId, expiresMs }));
  const url = deepLink(profile.username, workspaceId === null ? 'person' : 'group', token);
  return { url, expires_at: new Date(expiresMs).toISOString() };
}

/**
 * What the bot is called.
 * @throws Problem `conflict` where there is none, `provider_unavailable` while the messenger does not answer for it
 */
export async function requireProfile(context: Context, bot: Bot | null): Promise<BotProfile> {
  if (bot === null) {
    throw new Problem(
      'conflict',
      'this installation has no messenger bot; its operator sets PARALLAX_MESSENGER_BOT_TOKEN',
    );
  }
  try {
    return await profileOf(bot, context.now());
  } catch (error) {
    if (!(error instanceof BotApiError)) throw error;
    throw new Problem('provider_unavailable', 'the messenger does not answer for the bot; try again', { cause: error });
  }
}

/** What became of a deep link, and what is said about it. */
export type Linked = { readonly isLinked: boolean; readonly text: string };

/** Somebody opened a deep link: links them, or the group that they added the bot to. */
export async function linkChat(
  context: Context,
  said: Extract<Incoming, { kind: 'command' }>,
  tokenHash: Buffer,
  words: Words,
  updateId: bigint,
): Promise<Linked> {
  const isGroup = said.chat.kind === 'group';
  const refused = (text: string): Linked => ({ isLinked: false, text });
  return context.database.worker.transaction(async (tx) => {
    await lockChat(tx, isGroup ? said.chat.id : said.from.id);
    const token = await takeToken(tx, tokenHash, isGroup, context.now());
    if (token === null) return refused(words.linkUnknown);
    const { user_id: userId, workspace_id: workspaceId } = token;
    const caller = { kind: 'user', userId } as const;
    const request = { requestId: `messenger-${updateId}`, remoteAddress: 'messenger' };
    if (workspaceId === null) {
      if (!(await linkPerson(tx, userId, said.from))) return refused(words.linkTaken);
      const detail = { name: said.from.name };
      await recordAudit(tx, caller, request, {
        action: 'messenger.linked',
        subjectType: 'user',
        subjectId: userId,
        detail,
      });
      return { isLinked: true, text: words.linkedPerson(said.from.name) };
    }
    const linked = await linkGroup(tx, { workspaceId, userId }, said.chat);
    if (linked === 'no_right') return refused(words.linkNoRight);
    if (linked === 'full') return refused(words.linkFull);
    await endDeparture(tx, said.chat.id);
    await recordAudit(tx, caller, request, {
      action: 'messenger_group.linked',
      workspaceId,
      subjectType: 'messenger_group',
      subjectId: linked.id,
      detail: { title: said.chat.title },
    });
    return { isLinked: true, text: words.linkedGroup(linked.workspaceName) };
  });
}
