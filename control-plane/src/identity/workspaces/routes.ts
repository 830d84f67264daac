import { getWorkspaceRoute, listWorkspacesRoute } from '@parallax/api-contract';
import type { Workspace } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { inScope } from '../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import { handle } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';
import { Problem } from '@parallax/api-contract';
import { findWorkspace, listWorkspaces } from './queries.ts';
import type { WorkspaceRow } from './queries.ts';

/** Routes below `/workspaces`. */
export function workspaceRoutes(context: Context): readonly Route[] {
  return [
    handle(listWorkspacesRoute, async ({ caller, query }) => {
      const { page, page_size } = query;
      const scope = scopeOf(caller);
      const { rows, total } = await inScope(context.database.api, scope, async (transaction) =>
        listWorkspaces(scope, transaction, { limit: page_size, offset: (page - 1) * page_size }),
      );
      return { workspaces: rows.map(workspaceAnswer), total, page, page_size };
    }),
    handle(getWorkspaceRoute, async ({ caller, params }) => {
      requireRole(caller, params.id, 'viewer');
      const scope = scopeOf(caller);
      const row = await inScope(context.database.api, scope, async (transaction) =>
        findWorkspace(scope, transaction, params.id),
      );
      if (row === null) throw new Problem('not_found', `there is no workspace ${params.id}`);
      return workspaceAnswer(row);
    }),
  ];
}

function workspaceAnswer(row: WorkspaceRow): Workspace {
  return {
    ...row,
    // Whoever knows it may report for every heartbeat of the workspace.
    ping_key: row.role === 'viewer' ? null : row.ping_key,
    created_at: new Date(row.created_at).toISOString(),
    updated_at: new Date(row.updated_at).toISOString(),
  };
}
