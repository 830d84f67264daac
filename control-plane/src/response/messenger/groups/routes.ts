import {
  linkMessengerGroupRoute,
  listMessengerGroupsRoute,
  Problem,
  unlinkMessengerGroupRoute,
} from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { recordAudit } from '../../../identity/audit/index.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { applyRates } from '../../../platform/http/apply-rates.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { countOnce } from '../../../platform/http/rate-limits.ts';
import { botOf } from '../bot-of.ts';
import { makeLink, requireProfile } from '../links/gateway.ts';
import { beginDeparture } from '../queries.ts';
import { listGroups, lockGroup, removeGroup } from './queries.ts';

/** Groups of the messenger: which are linked, and how one is. */
export function groupRoutes(context: Context): Route[] {
  return [
    handle(listMessengerGroupsRoute, async ({ query, caller }) => {
      if (query.workspace_id !== undefined) requireRole(caller, query.workspace_id, 'viewer');
      const scope = scopeOf(caller);
      const { rows, total } = await inScope(context.database.api, scope, (tx) => listGroups(scope, tx, query));
      const groups = rows.map((row) => ({
        ...row,
        created_at: new Date(row.created_at).toISOString(),
        updated_at: new Date(row.updated_at).toISOString(),
      }));
      return { messenger_groups: groups, total, page: query.page, page_size: query.page_size };
    }),

    handle(linkMessengerGroupRoute, async ({ body, caller, request }) => {
      requireRole(caller, body.workspace_id, 'editor');
      const rate = context.limits.rate('messenger_link');
      applyRates(
        request.reply,
        [await countOnce(context.database.api, `messenger-link:${caller.userId}`, rate)],
        'links',
        'for this account',
      );
      const profile = await requireProfile(context, botOf(context));
      return makeLink(context, scopeOf(caller), profile, body.workspace_id);
    }),

    handle(unlinkMessengerGroupRoute, async ({ params, caller, request }) => {
      const scope = scopeOf(caller);
      await inScope(context.database.api, scope, async (tx) => {
        const group = await lockGroup(scope, tx, params.id);
        if (group === null) throw new Problem('not_found', `there is no messenger group ${params.id}`);
        requireRole(caller, group.workspace_id, 'editor');
        await removeGroup(tx, params.id);
        // Whether others use the group is not seen from here: it is looked at before the bot leaves.
        await beginDeparture(tx, [group.chat_id]);
        await recordAudit(tx, caller, request, {
          action: 'messenger_group.unlinked',
          workspaceId: group.workspace_id,
          subjectType: 'messenger_group',
          subjectId: params.id,
          detail: { title: group.title },
        });
      });
    }),
  ];
}
