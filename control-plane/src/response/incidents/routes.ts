import { incidentStatsRoute, invalidInput, listIncidentsRoute, readIncidentRoute } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { inScope } from '../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import { etagOf } from '../../platform/http/etag.ts';
import { handle } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';
import { noIncident } from './not-found.ts';
import { incidentsPage, incidentStats, readIncident } from './queries.ts';

const hourMs = 3_600_000;

/** Reading incidents. */
export function incidentRoutes(context: Context): Route[] {
  return [
    handle(listIncidentsRoute, async ({ query, caller }) => {
      if (query.workspace_id !== undefined) requireRole(caller, query.workspace_id, 'viewer');
      if (query.subject_id !== undefined && query.subject_type === undefined) {
        throw invalidInput('query', '/subject_type', 'required', 'subject_id needs subject_type beside it');
      }
      const scope = scopeOf(caller);
      const page = await inScope(context.database.api, scope, (tx) => incidentsPage(tx, scope, query));
      return { ...page, incidents: [...page.incidents], page: query.page, page_size: query.page_size };
    }),

    handle(incidentStatsRoute, async ({ query, caller }) => {
      if (query.workspace_id !== undefined) requireRole(caller, query.workspace_id, 'viewer');
      const scope = scopeOf(caller);
      const toMs = context.now();
      const window = { fromMs: toMs - query.hours * hourMs, toMs, workspaceId: query.workspace_id };
      const stats = await inScope(context.database.api, scope, (tx) => incidentStats(tx, scope, window));
      return {
        from: new Date(window.fromMs).toISOString(),
        to: new Date(toMs).toISOString(),
        total: stats.ongoing + stats.resolved,
        ...stats,
      };
    }),

    handle(readIncidentRoute, async ({ params, caller, request }) => {
      const scope = scopeOf(caller);
      const incident = await inScope(context.database.api, scope, (tx) => readIncident(tx, scope, params.incident_id));
      if (incident === null) throw noIncident(params.incident_id);
      request.reply.header('etag', etagOf(incident.version));
      return incident;
    }),
  ];
}
