import { heartbeatPingsRoute, heartbeatStatsRoute } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { noHeartbeat } from '../not-found.ts';
import { findHeartbeat } from '../queries.ts';
import { countPings, pingsPage, timelineSince } from './queries.ts';
import { uptimeOf } from './uptime.ts';

/** What heartbeats have sent, and how they fared. */
export function historyRoutes(context: Context): Route[] {
  return [
    handle(heartbeatPingsRoute, async ({ params, query, caller }) => {
      const scope = scopeOf(caller);
      const { rows, total } = await inScope(context.database.api, scope, async (tx) => {
        if ((await findHeartbeat(scope, tx, params.id)) === null) throw noHeartbeat(params.id);
        return pingsPage(scope, tx, { ...query, id: params.id });
      });
      return {
        pings: rows.map(({ at, is_cut: isCut, ...rest }) => ({
          ...rest,
          payload: rest.payload ?? null,
          received_at: new Date(at).toISOString(),
          body_truncated: isCut,
        })),
        total,
        page: query.page,
        page_size: query.page_size,
      };
    }),

    handle(heartbeatStatsRoute, async ({ params, query, caller }) => {
      const scope = scopeOf(caller);
      const toMs = Math.floor(context.now());
      const fromMs = toMs - query.hours * 3_600_000;
      const found = await inScope(context.database.api, scope, async (tx) => {
        if ((await findHeartbeat(scope, tx, params.id)) === null) throw noHeartbeat(params.id);
        const counted = await countPings(scope, tx, params.id, fromMs);
        return { ...counted, ...(await timelineSince(scope, tx, params.id, fromMs)) };
      });
      const uptime = uptimeOf(found.ranges, found.uncounted, fromMs, toMs);
      const total = Object.values(found.counts).reduce((sum, count) => sum + count, 0);
      return {
        from: new Date(fromMs).toISOString(),
        to: new Date(toMs).toISOString(),
        hours: query.hours,
        uptime_percent: uptime.uptime,
        seconds: { up: uptime.upMs / 1_000, down: uptime.downMs / 1_000, unknown: uptime.unknownMs / 1_000 },
        outages: uptime.outages,
        pings: { total, ...found.counts },
        overlaps: found.overlaps,
        duration_ms: found.durationMs,
      };
    }),
  ];
}
