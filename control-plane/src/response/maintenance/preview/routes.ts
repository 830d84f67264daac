import { previewMaintenanceRoute } from '@parallax/api-contract';
import type { SubjectType } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { windowAnswer } from '../answer.ts';
import { invalidBody, requireWorkspace } from '../gateway.ts';
import { pastWindows, take, windowsOf } from '../recurrence/occurrences.ts';
import { judgeSchedule, nothingToCome } from '../schedule.ts';
import { requireFound, scopeOfBody } from '../scope/given.ts';
import { missingOf, subjectsCovered } from '../scope/queries.ts';
import { outagesWithin } from './queries.ts';

const backMs = 30 * 86_400_000;

/** What a maintenance would be, without making it. */
export function maintenancePreviewRoutes(context: Context): Route[] {
  return [
    handle(previewMaintenanceRoute, async ({ body, query, caller }) => {
      requireRole(caller, body.workspace_id, 'editor');
      const scope = scopeOf(caller);
      const covered = scopeOfBody(body.scope);
      const nowMs = Math.floor(context.now());
      const judged = judgeSchedule(body, { nowMs });
      if ('errors' in judged) throw invalidBody(judged.errors);
      const { schedule, next } = judged;
      if (next === undefined) throw invalidBody([nothingToCome()]);
      const fromMs = nowMs - backMs;
      const past = pastWindows(schedule, fromMs, nowMs);
      return inScope(context.database.api, scope, async (tx) => {
        await requireWorkspace(scope, tx, body.workspace_id);
        requireFound(body.workspace_id, covered, await missingOf(tx, body.workspace_id, covered));
        const subjects = await subjectsCovered(tx, body.workspace_id, covered);
        const held = await outagesWithin(tx, subjects, past);
        const count = (of: SubjectType) => subjects.filter(({ type }) => type === of).length;
        return {
          occurrences: take(windowsOf(schedule, next.startsMs), query.count).map(windowAnswer),
          monitors: count('monitor'),
          heartbeats: count('heartbeat'),
          webhook_checks: count('webhook_check'),
          held: {
            start_time: new Date(fromMs).toISOString(),
            end_time: new Date(nowMs).toISOString(),
            ...held,
          },
        };
      });
    }),
  ];
}
