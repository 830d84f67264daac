import { monitorGroupStatsRoute, readGroupStatusRoute, setGroupStatusRoute } from '@parallax/api-contract';
import type { GroupStatus } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { changeGroup } from '../gateway.ts';
import { noGroup } from '../not-found.ts';
import { lockMonitors, settleGroupPauses } from '../pauses/queries.ts';
import { writeGroup } from '../queries.ts';
import { countGroups, statusOf } from './health.ts';
import { countedGroups, countGroupedMonitors } from './queries.ts';

/** What groups are like now, and pausing them. */
export function groupStatusRoutes(context: Context): Route[] {
  return [
    handle(monitorGroupStatsRoute, async ({ query, caller }) => {
      if (query.workspace_id !== undefined) requireRole(caller, query.workspace_id, 'viewer');
      const scope = scopeOf(caller);
      return inScope(context.database.api, scope, async (tx) => ({
        ...countGroups(await countedGroups(scope, tx, { workspaceId: query.workspace_id })),
        monitors: await countGroupedMonitors(scope, tx, query.workspace_id),
      }));
    }),

    handle(readGroupStatusRoute, ({ params, caller }) => statusNow(context, scopeOf(caller), params.id)),

    handle(setGroupStatusRoute, async ({ params, body, caller, request }) => {
      const isPaused = body.status === 'paused';
      await changeGroup(context, { caller, request }, params.id, async (tx, group) => {
        if (group.is_paused === isPaused) return null;
        await writeGroup(tx, group.id, { is_paused: isPaused });
        const members = await lockMonitors(tx, group.workspace_id, group.monitor_ids);
        const switched = await settleGroupPauses(tx, members);
        return { action: isPaused ? 'monitor_group.paused' : 'monitor_group.resumed', switched };
      });
      return statusNow(context, scopeOf(caller), params.id);
    }),
  ];
}

async function statusNow(context: Context, scope: Scope, groupId: number): Promise<GroupStatus> {
  const [group] = await inScope(context.database.api, scope, (tx) => countedGroups(scope, tx, { groupId }));
  if (group === undefined) throw noGroup(groupId);
  return statusOf(group.is_paused, group);
}
