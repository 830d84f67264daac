import {
  cancelMaintenanceRoute,
  createMaintenanceRoute,
  deleteMaintenanceRoute,
  endMaintenanceRoute,
  listMaintenanceRoute,
  previewMaintenanceRoute,
  Problem,
  readMaintenanceRoute,
  updateMaintenanceRoute,
} from '@parallax/api-contract';
import type { Maintenance, UpdateMaintenance } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { inScope } from '../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import { etagOf } from '../../platform/http/etag.ts';
import { handle, JsonText } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';
import { changing, plan, present, stop } from './gateway.ts';
import { after } from './job.ts';
import { noWindow, noWorkspace } from './not-found.ts';
import { endOccurrence, openOccurrence, planNext } from './occurrences/queries.ts';
import { judgePlan } from './plan.ts';
import { incidentsWithin, listWindows, readWindow, seesWorkspace, writeWindow } from './queries.ts';
import { nextOccurrence, nextOccurrences, wouldHaveBeen } from './recurrence/occurrences.ts';
import { judgeScope, requireItems } from './scope/judge.ts';
import { covered, missingItems, writeScope } from './scope/queries.ts';

const previewed = 20;
const lookedBackMs = 30 * 86_400_000;
const mostCovered = 10_000;
const mostShown = 100;

const iso = (ms: number): string => new Date(ms).toISOString();

/** Planning, changing and ending windows of maintenance. */
export function maintenanceRoutes(context: Context): Route[] {
  return [
    handle(listMaintenanceRoute, async ({ query, caller }) => {
      if (query.workspace_id !== undefined) requireRole(caller, query.workspace_id, 'viewer');
      const scope = scopeOf(caller);
      const page = await inScope(context.database.api, scope, (tx) => listWindows(scope, tx, query));
      return new JsonText(
        `{"maintenance":${page.windowsJson},"total":${page.total},"page":${query.page},"page_size":${query.page_size}}`,
      );
    }),

    handle(createMaintenanceRoute, async ({ body, caller, request }) => {
      requireRole(caller, body.workspace_id, 'editor');
      const judged = { scope: judgeScope(body.scope), plan: judgePlan(body, context.now()) };
      const scope = scopeOf(caller);
      const made = await inScope(context.database.api, scope, async (tx) => {
        const { workspace_id: workspaceId, title } = body;
        const description = body.description ?? '';
        const id = await plan(tx, { caller, request }, { ...judged, workspaceId, title, description, uid: null });
        return id === null ? null : readWindow(scope, tx, id);
      });
      if (made === null) throw new Error('a maintenance window was written and is not there');
      request.reply.header('etag', etagOf(made.version)).header('location', `/api/v1/maintenance/${made.id}`);
      return made;
    }),

    handle(previewMaintenanceRoute, async ({ body, caller }) => {
      requireRole(caller, body.workspace_id, 'viewer');
      const nowMs = context.now();
      const what = judgeScope(body.scope);
      const judged = judgePlan(body, nowMs);
      const scope = scopeOf(caller);
      return inScope(context.database.api, scope, async (tx) => {
        if (!(await seesWorkspace(tx, body.workspace_id))) throw noWorkspace(body.workspace_id);
        requireItems(body.workspace_id, await missingItems(tx, body.workspace_id, what.items));
        const { subjects, total } = await covered(tx, body.workspace_id, what, mostCovered);
        const past = wouldHaveBeen(judged.schedule, nowMs - lookedBackMs, nowMs);
        const names = subjects.map(({ type, id }) => `${type}:${id}`);
        return {
          occurrences: nextOccurrences(judged.schedule, nowMs, previewed).map((one) => ({
            starts_at: iso(one.startsMs),
            ends_at: iso(one.endsMs),
            is_shifted: one.isShifted || judged.isShifted,
          })),
          subjects: subjects.slice(0, mostShown),
          subject_count: total,
          held_incidents: await incidentsWithin(tx, body.workspace_id, past, names, mostShown),
        };
      });
    }),

    handle(readMaintenanceRoute, async ({ params, caller, request }) => {
      const scope = scopeOf(caller);
      const window = await inScope(context.database.api, scope, (tx) => readWindow(scope, tx, params.id));
      if (window === null) throw noWindow(params.id);
      request.reply.header('etag', etagOf(window.version));
      return window;
    }),

    handle(updateMaintenanceRoute, async ({ params, body, caller, request }) => {
      const changed = await changing(context, { caller, request }, params.id, async (_scope, tx, window) => {
        const fields = Object.keys(body);
        if (fields.length === 0) return null;
        await change(tx, window, body, context.now());
        return { action: 'maintenance.updated', detail: { fields } };
      });
      return present(changed, params.id);
    }),

    handle(cancelMaintenanceRoute, async ({ params, caller, request }) => {
      const changed = await changing(context, { caller, request }, params.id, async (_scope, tx, window) => {
        if (window.status === 'cancelled') return null;
        if (window.status === 'completed') throw new Problem('conflict', `maintenance ${params.id} is over`);
        await stop(tx, window, 'cancelled', context.now());
        return { action: 'maintenance.cancelled' };
      });
      return present(changed, params.id);
    }),

    handle(endMaintenanceRoute, async ({ params, caller, request }) => {
      const changed = await changing(context, { caller, request }, params.id, async (_scope, tx) => {
        const open = await openOccurrence(tx, params.id);
        if (open === null || !(await endOccurrence(tx, open, Math.min(context.now(), open.endsMs)))) {
          throw new Problem('conflict', `nothing of maintenance ${params.id} is under way`);
        }
        await planNext(tx, params.id, after(open));
        return { action: 'maintenance.occurrence_ended' };
      });
      return present(changed, params.id);
    }),

    handle(deleteMaintenanceRoute, async ({ params, caller, request }) => {
      await changing(context, { caller, request }, params.id, async (_scope, tx, window) => {
        await stop(tx, window, 'deleted', context.now());
        return { action: 'maintenance.deleted', detail: { title: window.title } };
      });
    }),
  ];
}

/** What of a body says when a window is. */
const timeFields = ['starts_at', 'ends_at', 'duration_seconds', 'rrule', 'timezone', 'exdates'] as const;

/** @throws Problem `conflict` where what is to change has begun or is over, `invalid_input`, `not_found` */
async function change(tx: Transaction, window: Maintenance, body: UpdateMaintenance, nowMs: number): Promise<void> {
  const isTimed = timeFields.some((field) => body[field] !== undefined);
  const isOver = window.status === 'completed' || window.status === 'cancelled';
  if (isOver && (isTimed || body.scope !== undefined)) {
    throw new Problem('conflict', `maintenance ${window.id} is ${window.status}; plan another one`);
  }
  if (isTimed && window.status === 'active' && window.rrule === null) {
    throw new Problem(
      'conflict',
      `maintenance ${window.id} has begun; end it, and plan another one for the time after`,
    );
  }
  const what = body.scope === undefined ? undefined : judgeScope(body.scope);
  if (what !== undefined) {
    requireItems(window.workspace_id, await missingItems(tx, window.workspace_id, what.items));
    await writeScope(tx, { id: window.id, workspaceId: window.workspace_id }, what.items);
  }
  await writeWindow(tx, window.id, {
    title: body.title,
    description: body.description === null ? '' : body.description,
    isForAll: what?.isForAll,
    times: isTimed ? timesOf(window, body, nowMs) : undefined,
  });
}

function timesOf(window: Maintenance, body: UpdateMaintenance, nowMs: number) {
  const hasLength = body.duration_seconds != null || body.ends_at != null;
  const rrule = body.rrule === undefined ? window.rrule : body.rrule;
  const given = {
    starts_at: body.starts_at ?? window.starts_at,
    ends_at: body.ends_at,
    duration_seconds: hasLength ? body.duration_seconds : window.duration_seconds,
    rrule,
    timezone: body.timezone === undefined ? window.timezone : body.timezone,
    exdates: body.exdates === undefined && rrule !== null ? window.exdates : body.exdates,
  };
  // A series that began long ago keeps its beginning.
  const hasBegun = window.occurrences.length > 0 || Date.parse(window.starts_at) < nowMs;
  const [open] = window.occurrences;
  const lastMs = open === undefined ? undefined : Date.parse(open.starts_at);
  const judged = judgePlan(given, nowMs, hasBegun && body.starts_at === undefined, lastMs);
  if (window.status !== 'active') return judged;
  // What is under way ends as it was planned, and then the new times hold.
  const next = open === undefined ? judged.next : nextOccurrence(judged.schedule, nowMs, Date.parse(open.ends_at));
  return { ...judged, next };
}
