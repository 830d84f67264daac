import {
  addGroupMonitorsRoute,
  addGroupTagsRoute,
  invalidInput,
  mostGroupMembers,
  mostGroupTags,
  removeGroupMonitorsRoute,
  removeGroupTagsRoute,
} from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { withoutTags, withTags } from '../change.ts';
import { changeGroup } from '../gateway.ts';
import { namedIn, requireAll, somethingNamedIn } from '../named-ids.ts';
import { noGroup } from '../not-found.ts';
import { lockMonitors, settleGroupPauses } from '../pauses/queries.ts';
import { writeGroup } from '../queries.ts';
import { addMembers, removeMembers } from './queries.ts';

/** Monitors and tags of a group, added and removed; doing it again changes nothing. */
export function memberRoutes(context: Context): Route[] {
  return [
    handle(addGroupMonitorsRoute, async ({ params, body, caller, request }) => {
      const named = namedIn('monitor_ids', body.monitor_ids);
      const changed = await changeGroup(context, { caller, request }, params.id, async (tx, group) => {
        const ids = named.map(({ value }) => value);
        const present = await lockMonitors(tx, group.workspace_id, ids);
        requireAll(group.workspace_id, named, present);
        if (new Set([...group.monitor_ids, ...present]).size > mostGroupMembers) {
          const message = `a group has at most ${mostGroupMembers} members, this one has ${group.monitor_ids.length}`;
          throw invalidInput('body', '/monitor_ids', 'too_many_members', message);
        }
        const added = await addMembers(scopeOf(caller), tx, group, present);
        if (added.length === 0) return null;
        await writeGroup(tx, group.id, {});
        const switched = await settleGroupPauses(tx, added);
        return { action: 'monitor_group.monitors_added', detail: { monitor_ids: [...added] }, switched };
      });
      if (changed === undefined) throw noGroup(params.id);
      return changed;
    }),

    handle(removeGroupMonitorsRoute, async ({ params, query, body, caller, request }) => {
      const named = somethingNamedIn('monitor_ids', body?.monitor_ids, query.monitor_ids);
      await changeGroup(context, { caller, request }, params.id, async (tx, group) => {
        const ids = named.map(({ value }) => value);
        const present = await lockMonitors(tx, group.workspace_id, ids);
        requireAll(group.workspace_id, named, present);
        const removed = await removeMembers(tx, group.id, present);
        if (removed.length === 0) return null;
        await writeGroup(tx, group.id, {});
        const switched = await settleGroupPauses(tx, removed);
        return { action: 'monitor_group.monitors_removed', detail: { monitor_ids: [...removed] }, switched };
      });
    }),

    handle(addGroupTagsRoute, async ({ params, body, caller, request }) => {
      const changed = await changeGroup(context, { caller, request }, params.id, async (tx, group) => {
        const tags = withTags(group.tags, body.tags);
        if (tags.length > mostGroupTags) {
          const message = `a group has at most ${mostGroupTags} tags, this one has ${group.tags.length}`;
          throw invalidInput('body', '/tags', 'too_many_tags', message);
        }
        if (tags.length === group.tags.length) return null;
        await writeGroup(tx, group.id, { tags });
        return { action: 'monitor_group.tags_added', detail: { tags: body.tags } };
      });
      if (changed === undefined) throw noGroup(params.id);
      return changed;
    }),

    handle(removeGroupTagsRoute, async ({ params, query, body, caller, request }) => {
      const named = somethingNamedIn('tags', body?.tags, query.tags).map(({ value }) => value);
      await changeGroup(context, { caller, request }, params.id, async (tx, group) => {
        const tags = withoutTags(group.tags, named);
        if (tags.length === group.tags.length) return null;
        await writeGroup(tx, group.id, { tags });
        return { action: 'monitor_group.tags_removed', detail: { tags: named } };
      });
    }),
  ];
}
