import { listAlertHistoryRoute, listAllAlertHistoryRoute } from '@parallax/api-contract';
import { inScope } from '../../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { channelNamed } from '../../channels/index.ts';
import { noAlert } from '../rules/gateway.ts';
import type { RuleParts } from '../rules/gateway.ts';
import { isAlertThere } from '../rules/queries.ts';
import { historyPage } from './queries.ts';
import type { HistoryFilter } from './queries.ts';

/** What alerts have told, or why they have not. */
export function alertHistoryRoutes({ database }: Pick<RuleParts, 'database'>): Route[] {
  return [
    handle(listAllAlertHistoryRoute, async ({ query, caller }) => {
      if (query.workspace_id !== undefined) requireRole(caller, query.workspace_id, 'viewer');
      const scope = scopeOf(caller);
      const filter = filterOf(query);
      const page = await inScope(database.api, scope, (tx) => historyPage(scope, tx, filter));
      return { ...page, page: query.page, page_size: query.page_size };
    }),

    handle(listAlertHistoryRoute, async ({ params, query, caller }) => {
      const scope = scopeOf(caller);
      const id = params.alert_id;
      const filter = filterOf(query);
      const page = await inScope(database.api, scope, async (tx) => {
        if (!(await isAlertThere(scope, tx, id))) throw noAlert(id);
        return historyPage(scope, tx, { ...filter, alert_id: id });
      });
      return { ...page, page: query.page, page_size: query.page_size };
    }),
  ];
}

/** Channels are called by their names or aliases. @throws Problem `invalid_input` */
function filterOf<Query extends Pick<HistoryFilter, 'channel'>>(query: Query): Query {
  return query.channel === undefined ? query : { ...query, channel: channelNamed(query.channel, '/channel') };
}
