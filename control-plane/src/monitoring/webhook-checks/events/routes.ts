import { listWebhookCheckEventsRoute, webhookCheckStatsRoute } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { uncountedSince } from '../../intake-watch/index.ts';
import { noCheck } from '../gateway.ts';
import { findCheck } from '../queries.ts';
import type { CheckRow } from '../row.ts';
import { countEvents, listEvents, rangesSince } from './queries.ts';
import { uptimeOf } from './uptime.ts';

/** What came for a check, and what that sums up to. */
export function eventRoutes(context: Context): Route[] {
  return [
    handle(listWebhookCheckEventsRoute, async ({ params, query, caller }) => {
      const scope = scopeOf(caller);
      const { events, total } = await inScope(context.database.api, scope, async (tx) => {
        await requireCheck(scope, tx, params.id);
        return listEvents(scope, tx, params.id, query);
      });
      return { events: [...events], total, page: query.page, page_size: query.page_size };
    }),

    handle(webhookCheckStatsRoute, async ({ params, query, caller }) => {
      const scope = scopeOf(caller);
      const toMs = context.now();
      const fromMs = toMs - query.hours * 3_600_000;
      return inScope(context.database.api, scope, async (tx) => {
        const row = await requireCheck(scope, tx, params.id);
        const { up, degraded, down, ...counts } = await countEvents(scope, tx, params.id, fromMs);
        const uncounted = await uncountedSince(tx, { type: 'webhook_check', id: params.id }, fromMs);
        const uptime = uptimeOf(await rangesSince(scope, tx, params.id, fromMs), uncounted, fromMs, toMs);
        const lastMs = row.last_received_at;
        return {
          hours: query.hours,
          ...counts,
          said: { up, degraded, down },
          ...uptime,
          last_received_at: lastMs === null ? null : new Date(lastMs).toISOString(),
        };
      });
    }),
  ];
}

async function requireCheck(scope: Scope, tx: Transaction, checkId: number): Promise<CheckRow> {
  const row = await findCheck(scope, tx, checkId);
  if (row === null) throw noCheck(checkId);
  return row;
}
