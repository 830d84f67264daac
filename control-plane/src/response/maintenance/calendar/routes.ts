import {
  Problem,
  publicMaintenanceCalendarRoute,
  readMaintenanceCalendarRoute,
  rotateMaintenanceCalendarRoute,
} from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { recordAudit } from '../../../identity/audit/index.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { attachment } from '../../../platform/http/attachment.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { requireWorkspace } from '../gateway.ts';
import { calendarEntries, findCalendarToken, workspaceOfToken, writeCalendarToken } from './queries.ts';
import { calendarSealContext, calendarTokenHash, calendarUrl, makeCalendarToken } from './token.ts';
import { calendarText } from './write.ts';

/** The calendar of a workspace: its address, and what stands there. */
export function maintenanceCalendarRoutes(context: Context): Route[] {
  const { sealer, publicUrl } = context;
  return [
    handle(readMaintenanceCalendarRoute, async ({ query, caller }) => {
      const { workspace_id: workspaceId } = query;
      requireRole(caller, workspaceId, 'editor');
      const scope = scopeOf(caller);
      const found = await inScope(context.database.api, scope, async (tx) => {
        await requireWorkspace(scope, tx, workspaceId);
        return findCalendarToken(scope, tx, workspaceId);
      });
      if (found === null) return { workspace_id: workspaceId, url: null, created_at: null };
      const token = sealer.open(found.sealed, calendarSealContext(workspaceId)).toString('utf8');
      return {
        workspace_id: workspaceId,
        url: calendarUrl(publicUrl, token),
        created_at: new Date(found.createdMs).toISOString(),
      };
    }),

    handle(rotateMaintenanceCalendarRoute, async ({ body, caller, request }) => {
      const { workspace_id: workspaceId } = body;
      requireRole(caller, workspaceId, 'owner');
      const token = makeCalendarToken();
      const kept = {
        hash: calendarTokenHash(token),
        sealed: sealer.seal(token, calendarSealContext(workspaceId)),
      };
      const scope = scopeOf(caller);
      const createdMs = await inScope(context.database.api, scope, async (tx) => {
        await requireWorkspace(scope, tx, workspaceId);
        const writtenMs = await writeCalendarToken(tx, workspaceId, kept);
        await recordAudit(tx, caller, request, {
          action: 'maintenance_calendar.rotated',
          workspaceId,
          subjectType: 'workspace',
          subjectId: workspaceId,
        });
        return writtenMs;
      });
      const url = calendarUrl(publicUrl, token);
      return { workspace_id: workspaceId, url, created_at: new Date(createdMs).toISOString() };
    }),

    handle(publicMaintenanceCalendarRoute, async ({ params, request }) => {
      const hash = calendarTokenHash(params.token.replace(/\.ics$/, ''));
      const workspaceId = await workspaceOfToken(context.database.api, hash);
      if (workspaceId === null) throw new Problem('not_found', 'there is no calendar at this address');
      const scope: Scope = { userId: null, workspaceIds: [workspaceId] };
      const { name, entries } = await inScope(context.database.api, scope, (tx) => calendarEntries(scope, tx));
      request.reply.header('content-disposition', attachment('maintenance.ics'));
      return calendarText(entries, { name, host: new URL(publicUrl).hostname, nowMs: context.now() });
    }),
  ];
}
