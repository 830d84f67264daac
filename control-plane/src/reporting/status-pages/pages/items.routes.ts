import {
  addStatusPageItemsRoute,
  invalidInput,
  Problem,
  removeStatusPageItemRoute,
  statusPageLimits,
} from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { etagOf } from '../../../platform/http/etag.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { itemsOfBody, itemsOfMonitors, newAmong } from './items.ts';
import { closeGaps, removeItem, writeItems } from './items.queries.ts';
import { changePage, noPage, requireSubjects, shown } from './pages.gateway.ts';
import { countVersion } from './pages.queries.ts';

/** Adding components to a page, and taking them out. */
export function itemRoutes(context: Context): Route[] {
  return [
    handle(addStatusPageItemsRoute, async ({ params, body, caller, request }) => {
      const actor = { caller, request };
      const field = body.items === undefined ? 'monitor_ids' : 'items';
      const given = body.items === undefined ? itemsOfMonitors(body.monitor_ids ?? []) : itemsOfBody(body.items);
      const row = await changePage(context, actor, params.id, async (_scope, tx, page) => {
        await requireSubjects(tx, page.workspace_id, given, field);
        const added = newAmong(given, page.items);
        if (added.length === 0) return null;
        if (page.items.length + added.length > statusPageLimits.items) {
          const message = `the page would have more than ${statusPageLimits.items} components`;
          throw invalidInput('body', `/${field}`, 'too_many_members', message);
        }
        await writeItems(tx, page, added, await closeGaps(tx, page));
        await countVersion(tx, page.id);
        const names = added.map(({ type, id }) => `${type} ${id}`);
        return { action: 'status_page.items_added', detail: { items: names } };
      });
      if (row === null) throw noPage(params.id);
      return shown(context, actor, row);
    }),

    handle(removeStatusPageItemRoute, async ({ params, query, caller, request }) => {
      const { type } = query;
      const id = params.monitor_id;
      const row = await changePage(context, { caller, request }, params.id, async (_scope, tx, page) => {
        if (!page.items.some((item) => item.type === type && item.id === id)) {
          throw new Problem('not_found', `status page ${page.id} shows no ${type.replaceAll('_', ' ')} ${id}`);
        }
        await removeItem(tx, page, { type, id });
        await countVersion(tx, page.id);
        return { action: 'status_page.item_removed', detail: { item: `${type} ${id}` } };
      });
      if (row !== null) request.reply.header('etag', etagOf(row.version));
    }),
  ];
}
