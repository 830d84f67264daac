import {
  createMonitorGroupRoute,
  deleteMonitorGroupRoute,
  listMonitorGroupsRoute,
  readMonitorGroupRoute,
  updateMonitorGroupRoute,
} from '@parallax/api-contract';
import type { CreateMonitorGroup, MonitorGroup } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { inScope } from '../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import { etagOf } from '../../platform/http/etag.ts';
import { handle } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';
import { changeOf } from './change.ts';
import { changeGroup, namesOfGroupsAreUnique, record, tell } from './gateway.ts';
import type { Actor } from './gateway.ts';
import { addMembers } from './members/queries.ts';
import { namedIn, requireAll } from './named-ids.ts';
import { noGroup } from './not-found.ts';
import { lockMonitors, settleGroupPauses } from './pauses/queries.ts';
import { deleteGroup, findGroup, insertGroup, listGroups, writeGroup } from './queries.ts';

/** Creating, reading, changing and deleting groups of monitors. */
export function groupRoutes(context: Context): Route[] {
  return [
    handle(listMonitorGroupsRoute, async ({ query, caller }) => {
      if (query.workspace_id !== undefined) requireRole(caller, query.workspace_id, 'viewer');
      const scope = scopeOf(caller);
      const { groups, total } = await inScope(context.database.api, scope, (tx) => listGroups(scope, tx, query));
      return { monitor_groups: [...groups], total, page: query.page, page_size: query.page_size };
    }),

    handle(createMonitorGroupRoute, async ({ body, caller, request }) => {
      requireRole(caller, body.workspace_id, 'editor');
      const created = await createGroup(context, { caller, request }, body);
      request.reply.header('etag', etagOf(created.version)).header('location', `/api/v1/monitor-groups/${created.id}`);
      return created;
    }),

    handle(readMonitorGroupRoute, async ({ params, caller, request }) => {
      const scope = scopeOf(caller);
      const group = await inScope(context.database.api, scope, (tx) => findGroup(scope, tx, params.id));
      if (group === null) throw noGroup(params.id);
      request.reply.header('etag', etagOf(group.version));
      return group;
    }),

    handle(updateMonitorGroupRoute, async ({ params, body, caller, request }) => {
      const changed = await changeGroup(context, { caller, request }, params.id, async (tx, group) => {
        const change = changeOf(group, body);
        if (change === null) return null;
        await writeGroup(tx, group.id, change);
        const members = change.is_paused === undefined ? [] : group.monitor_ids;
        const switched = await settleGroupPauses(tx, await lockMonitors(tx, group.workspace_id, members));
        return { action: 'monitor_group.updated', detail: { fields: Object.keys(change) }, switched };
      });
      if (changed === undefined) throw noGroup(params.id);
      return changed;
    }),

    handle(deleteMonitorGroupRoute, async ({ params, caller, request }) => {
      await changeGroup(context, { caller, request }, params.id, async (tx, group) => {
        const members = await lockMonitors(tx, group.workspace_id, group.monitor_ids);
        await deleteGroup(tx, group.id);
        const switched = await settleGroupPauses(tx, members);
        return { action: 'monitor_group.deleted', detail: { name: group.name }, switched };
      });
    }),
  ];
}

async function createGroup(context: Context, actor: Actor, body: CreateMonitorGroup): Promise<MonitorGroup> {
  const scope = scopeOf(actor.caller);
  const done = await namesOfGroupsAreUnique(() =>
    inScope(context.database.api, scope, async (tx) => {
      const id = await insertGroup(tx, body);
      const named = namedIn('monitor_ids', body.monitor_ids ?? undefined);
      const members = await lockMonitors(
        tx,
        body.workspace_id,
        named.map(({ value }) => value),
      );
      requireAll(body.workspace_id, named, members);
      const place = { id, workspace_id: body.workspace_id };
      await addMembers(scope, tx, place, members);
      const switched = await settleGroupPauses(tx, members);
      await record(tx, actor, place, { action: 'monitor_group.created', detail: { name: body.name } });
      return { switched, group: await findGroup(scope, tx, id) };
    }),
  );
  tell(context, done.switched);
  if (done.group === null) throw new Error('a monitor group was written and is not there');
  return done.group;
}
