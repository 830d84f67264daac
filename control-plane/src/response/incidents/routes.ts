import { listIncidentsRoute, Problem, readIncidentRoute } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { inScope } from '../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import { handle, JsonText } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';
import { incidentsPage, readIncident } from './queries.ts';

/** Reading incidents. */
export function incidentRoutes(context: Context): Route[] {
  return [
    handle(listIncidentsRoute, async ({ query, caller }) => {
      if (query.workspace_id !== undefined) requireRole(caller, query.workspace_id, 'viewer');
      const scope = scopeOf(caller);
      const page = await inScope(context.database.api, scope, (tx) => incidentsPage(tx, scope, query));
      return new JsonText(
        `{"incidents":${page.incidentsJson},"total":${page.total},"page":${query.page},"page_size":${query.page_size}}`,
      );
    }),

    handle(readIncidentRoute, async ({ params, caller, request }) => {
      const scope = scopeOf(caller);
      const incident = await inScope(context.database.api, scope, (tx) => readIncident(tx, scope, params.incident_id));
      if (incident === null) throw new Problem('not_found', `there is no incident ${params.incident_id}`);
      request.reply.header('etag', `"${incident.version}"`);
      return incident;
    }),
  ];
}
