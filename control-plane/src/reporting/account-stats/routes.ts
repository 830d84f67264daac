import { accountStatsRoute } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { countHeartbeats } from '../../monitoring/heartbeats/index.ts';
import { countMonitorsByCategory } from '../../monitoring/monitors/index.ts';
import { inScope } from '../../platform/database/scope.ts';
import { scopeOf } from '../../platform/http/caller.ts';
import { handle } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';
import { countAlerts } from '../../response/alerts/index.ts';
import { countChecks, countOpenIncidents } from './queries.ts';

const dayMs = 24 * 3_600_000;

/** What a user has to do with, in numbers. */
export function accountStatsRoutes(context: Context): readonly Route[] {
  return [
    handle(accountStatsRoute, async ({ caller }) => {
      const scope = scopeOf(caller);
      return inScope(context.database.api, scope, async (transaction) => {
        const monitors = await countMonitorsByCategory(transaction, scope);
        return {
          monitors,
          heartbeats: await countHeartbeats(scope, transaction),
          alerts: await countAlerts(scope, transaction),
          open_incidents: await countOpenIncidents(scope, transaction),
          checks_24h: await countChecks(scope, transaction, context.now() - dayMs),
        };
      });
    }),
  ];
}
