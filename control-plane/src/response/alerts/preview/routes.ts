import { alertLimits, previewAlertsRoute, Problem } from '@parallax/api-contract';
import { inScope } from '../../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { isWorkspaceThere } from '../../maintenance/index.ts';
import { stepsSeenBy } from '../rules/gateway.ts';
import type { RuleParts } from '../rules/gateway.ts';
import { listAlerts } from '../rules/queries.ts';
import { subjectFacts } from './queries.ts';
import { wouldTell } from './would-tell.ts';

/** Who would be told of something that has not happened. */
export function alertPreviewRoutes({ database, now }: Pick<RuleParts, 'database' | 'now'>): Route[] {
  return [
    handle(previewAlertsRoute, async ({ body, caller }) => {
      const { workspace_id: workspaceId, event, subject: named } = body;
      requireRole(caller, workspaceId, 'viewer');
      const scope = scopeOf(caller);
      const { rows, subject } = await inScope(database.api, scope, async (tx) => {
        if (!(await isWorkspaceThere(scope, tx, workspaceId))) {
          throw new Problem('not_found', `there is no workspace ${workspaceId}`);
        }
        const facts = named == null ? null : await subjectFacts(scope, tx, workspaceId, named);
        if (named != null && facts === null) {
          const message = `there is no ${named.type.replaceAll('_', ' ')} ${named.id} in workspace ${workspaceId}`;
          const error = { in: 'body', path: '/subject/id', code: 'not_found', message } as const;
          throw new Problem('not_found', message, { errors: [error] });
        }
        const filter = { page: 1, page_size: alertLimits.ofWorkspace, workspace_id: workspaceId, is_active: true };
        return {
          rows: (await listAlerts(scope, tx, filter)).rows,
          subject:
            named == null || facts === null
              ? null
              : { type: named.type, id: named.id, tags: facts.tags, groupIds: facts.group_ids },
        };
      });
      const alerts = rows.flatMap((row) => {
        const told = row.owner === null ? null : wouldTell(row, event, subject, now());
        if (told === null) return [];
        const alert = { id: row.id, name: row.name };
        return [{ alert, is_muted: told.isMuted, is_quiet: told.isQuiet, steps: stepsSeenBy(caller, row) }];
      });
      return { alerts };
    }),
  ];
}
