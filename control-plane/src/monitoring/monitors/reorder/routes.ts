import { Problem, reorderMonitorsRoute } from '@parallax/api-contract';
import type { InputError } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { recordAudit } from '../../../identity/audit/index.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { lockMonitorsOf, orderOf, placeMonitors } from './queries.ts';

/** One answer lists at most so many identifiers that are not there. */
const maxErrors = 100;

/** The order in which a workspace shows its monitors. */
export function reorderRoutes(context: Context): Route[] {
  return [
    handle(reorderMonitorsRoute, async ({ body, caller, request }) => {
      const { workspace_id: workspaceId, monitor_ids: monitorIds } = body;
      requireRole(caller, workspaceId, 'editor');
      const scope = scopeOf(caller);
      const order = await inScope(context.database.api, scope, async (tx) => {
        requireAll(monitorIds, await lockMonitorsOf(scope, tx, workspaceId), workspaceId);
        const changed = await placeMonitors(scope, tx, workspaceId, monitorIds);
        if (changed > 0) {
          await recordAudit(tx, caller, request, {
            action: 'workspace.monitors_reordered',
            workspaceId,
            subjectType: 'workspace',
            subjectId: workspaceId,
            detail: { listed: monitorIds.length, moved: changed },
          });
        }
        return orderOf(scope, tx, workspaceId);
      });
      return { workspace_id: workspaceId, monitor_ids: [...order] };
    }),
  ];
}

/** @throws Problem `not_found` that names each identifier which is not among the present ones by its place */
function requireAll(monitorIds: readonly number[], present: ReadonlySet<number>, workspaceId: number): void {
  const errors = monitorIds.flatMap((id, index): InputError[] =>
    present.has(id)
      ? []
      : [{ in: 'body', path: `/monitor_ids/${index}`, code: 'not_found', message: `there is no monitor ${id} in it` }],
  );
  if (errors.length === 0) return;
  throw new Problem(
    'not_found',
    `${errors.length} of the monitors are not in workspace ${workspaceId}; nothing was changed`,
    {
      errors: errors.slice(0, maxErrors),
    },
  );
}
