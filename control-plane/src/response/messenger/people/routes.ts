import { linkMessengerBotRoute, Problem, readMessengerBotRoute, unlinkMessengerBotRoute } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { recordAudit } from '../../../identity/audit/index.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { applyRates } from '../../../platform/http/apply-rates.ts';
import { scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { countOnce } from '../../../platform/http/rate-limits.ts';
import { BotApiError } from '../bot-api/bot-api-error.ts';
import { profileOf } from '../bot-api/gateway.ts';
import { botOf } from '../bot-of.ts';
import { makeLink, requireProfile } from '../links/gateway.ts';
import { findLink, removeLink } from './queries.ts';

/** The bot, and the caller's own link to it. */
export function personRoutes(context: Context): Route[] {
  return [
    handle(readMessengerBotRoute, async ({ caller }) => {
      const scope = scopeOf(caller);
      const found = await inScope(context.database.api, scope, (tx) => findLink(scope, tx));
      const link =
        found === null
          ? null
          : {
              way: found.way,
              chat_id: found.person_id,
              name: found.name,
              linked_at: new Date(found.linked_at).toISOString(),
            };
      return { ...(await present(context)), link };
    }),

    handle(linkMessengerBotRoute, async ({ caller, request }) => {
      const rate = context.limits.rate('messenger_link');
      applyRates(
        request.reply,
        [await countOnce(context.database.api, `messenger-link:${caller.userId}`, rate)],
        'links',
        'for this account',
      );
      const profile = await requireProfile(context, botOf(context));
      return makeLink(context, scopeOf(caller), profile, null);
    }),

    handle(unlinkMessengerBotRoute, async ({ caller, request }) => {
      const scope = scopeOf(caller);
      await inScope(context.database.api, scope, async (tx) => {
        if (!(await removeLink(scope, tx))) {
          throw new Problem('not_found', 'the bot has not linked you; what signs you in is at /auth/identities');
        }
        const event = { action: 'messenger.unlinked', subjectType: 'user', subjectId: caller.userId };
        await recordAudit(tx, caller, request, event);
      });
    }),
  ];
}

/** Whether there is a bot that can be written to, and what it is called. */
async function present(context: Context) {
  const nobody = { available: false, username: null, name: null };
  const bot = botOf(context);
  if (bot === null) return { ...nobody, reason: 'not_configured' as const };
  try {
    return { available: true, reason: null, ...(await profileOf(bot, context.now())) };
  } catch (error) {
    if (!(error instanceof BotApiError)) throw error;
    return { ...nobody, reason: 'unreachable' as const };
  }
}
