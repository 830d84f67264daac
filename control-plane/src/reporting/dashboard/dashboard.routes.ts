import {
  dashboardAlertsSummaryRoute,
  dashboardCombinedRoute,
  dashboardIncidentsRoute,
  dashboardStatsRoute,
  dashboardUptimeSummaryRoute,
} from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { handle } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';
import { readAll } from './combined.gateway.ts';
import { dashboardReader } from './reader.gateway.ts';

/** Routes below `/dashboard`. */
export function dashboardRoutes(context: Context): readonly Route[] {
  const read = dashboardReader(context);
  return [
    handle(dashboardStatsRoute, ({ query, caller }) => read.stats(caller, query)),
    handle(dashboardUptimeSummaryRoute, ({ query, caller }) => read.uptime_summary(caller, query)),
    handle(dashboardAlertsSummaryRoute, ({ query, caller }) => read.alerts_summary(caller, query)),
    handle(dashboardIncidentsRoute, ({ query, caller }) => read.incidents(caller, query)),
    handle(dashboardCombinedRoute, ({ query, caller }) => readAll(context, read, caller, query)),
  ];
}
