import {
  createMaintenanceRoute,
  deleteMaintenanceRoute,
  listMaintenanceOccurrencesRoute,
  listMaintenanceRoute,
  maintenanceLimits,
  Problem,
  readMaintenanceRoute,
  updateMaintenanceRoute,
} from '@parallax/api-contract';
import type { CreateMaintenance, Maintenance, UpdateMaintenance } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { statusPagesSubject } from '../../platform/bus/subjects.ts';
import { inScope } from '../../platform/database/scope.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { enqueue } from '../../platform/outbox/enqueue.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import { etagOf } from '../../platform/http/etag.ts';
import { handle } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';
import { maintenanceNews } from './claims/news.ts';
import { closeOccurrence, lastPlannedEnd } from './claims/queries.ts';
import { isOver } from './claims/states.ts';
import { changeMaintenance, invalidBody, noMaintenance, record } from './gateway.ts';
import type { Actor, Done } from './gateway.ts';
import { occurrencesPage } from './occurrence-list/queries.ts';
import {
  countToCome,
  findMaintenance,
  hideMaintenance,
  insertMaintenance,
  listMaintenance,
  writeMaintenance,
} from './queries.ts';
import type { MaintenanceChange } from './queries.ts';
import { judgeSchedule, nothingToCome } from './schedule.ts';
import { coveredOfAnswer, requireFound, sameCovered, scopeOfBody } from './scope/given.ts';
import { missingOf } from './scope/queries.ts';
import { plainChange, scheduleChange } from './update.ts';

/** Planning, reading, changing and deleting maintenance. */
export function maintenanceRoutes(context: Context): Route[] {
  return [
    handle(listMaintenanceRoute, async ({ query, caller }) => {
      if (query.workspace_id !== undefined) requireRole(caller, query.workspace_id, 'viewer');
      const scope = scopeOf(caller);
      const found = await inScope(context.database.api, scope, (tx) => listMaintenance(scope, tx, query));
      return {
        maintenance: [...found.maintenance],
        total: found.total,
        page: query.page,
        page_size: query.page_size,
      };
    }),

    handle(createMaintenanceRoute, async ({ body, caller, request }) => {
      requireRole(caller, body.workspace_id, 'editor');
      const created = await create(context, { caller, request }, body);
      context.bus.hint(statusPagesSubject, { workspace_id: created.workspace_id });
      request.reply.header('etag', etagOf(created.version)).header('location', `/api/v1/maintenance/${created.id}`);
      return created;
    }),

    handle(readMaintenanceRoute, async ({ params, caller, request }) => {
      const scope = scopeOf(caller);
      const found = await inScope(context.database.api, scope, (tx) => findMaintenance(scope, tx, params.id));
      if (found === null) throw noMaintenance(params.id);
      request.reply.header('etag', etagOf(found.version));
      return found;
    }),

    handle(updateMaintenanceRoute, async ({ params, body, caller, request }) => {
      const changed = await changeMaintenance(context, { caller, request }, params.id, (tx, maintenance) =>
        update(tx, maintenance, body, context.now()),
      );
      if (changed === undefined) throw noMaintenance(params.id);
      return changed;
    }),

    handle(deleteMaintenanceRoute, async ({ params, caller, request }) => {
      await changeMaintenance(context, { caller, request }, params.id, (tx, maintenance) =>
        remove(tx, maintenance, context.now()),
      );
    }),

    handle(listMaintenanceOccurrencesRoute, async ({ params, query, caller }) => {
      const scope = scopeOf(caller);
      return inScope(context.database.api, scope, async (tx) => {
        if ((await findMaintenance(scope, tx, params.id)) === null) throw noMaintenance(params.id);
        const found = await occurrencesPage(scope, tx, params.id, query);
        return { ...found, page: query.page, page_size: query.page_size };
      });
    }),
  ];
}

async function create(context: Context, actor: Actor, body: CreateMaintenance): Promise<Maintenance> {
  const scope = scopeOf(actor.caller);
  const covered = scopeOfBody(body.scope);
  const judged = judgeSchedule(body, { nowMs: context.now() });
  if ('errors' in judged) throw invalidBody(judged.errors);
  const { stored, next } = judged;
  if (next === undefined) throw invalidBody([nothingToCome()]);
  return inScope(context.database.api, scope, async (tx) => {
    const { workspace_id: workspaceId, name } = body;
    await requireRoom(scope, tx, workspaceId, 1);
    requireFound(workspaceId, covered, await missingOf(tx, workspaceId, covered));
    const description = body.description ?? '';
    const told = {
      is_public: body.is_public ?? true,
      public_title: body.public_title ?? null,
      public_text: body.public_text ?? null,
      notify: body.notify ?? true,
    };
    const id = await insertMaintenance(tx, { workspaceId, name, description, told, covered, stored, next });
    const made = id === null ? null : await findMaintenance(scope, tx, id);
    if (made === null) throw new Error('a maintenance was written and is not there');
    await record(tx, actor, made, { action: 'maintenance.created', detail: { name } });
    return made;
  });
}

/**
 * Holds a workspace to the number of maintenance that it may have at once.
 * @throws Problem `conflict`
 */
export async function requireRoom(scope: Scope, tx: Transaction, workspaceId: number, more: number): Promise<void> {
  const most = maintenanceLimits.ofWorkspace;
  if ((await countToCome(scope, tx, workspaceId)) + more <= most) return;
  throw new Problem(
    'conflict',
    `workspace ${workspaceId} may have ${most} maintenance windows that are not over; cancel or delete some`,
  );
}

async function update(
  tx: Transaction,
  maintenance: Maintenance,
  body: UpdateMaintenance,
  nowMs: number,
): Promise<Done | null> {
  const before = coveredOfAnswer(maintenance.scope);
  const given = body.scope === undefined ? undefined : scopeOfBody(body.scope, before);
  const covered = given === undefined || sameCovered(given, before) ? undefined : given;
  const lastEndMs = await lastPlannedEnd(tx, maintenance.id);
  const changed = isOver(maintenance.status) ? undefined : scheduleChange(maintenance, body, nowMs, lastEndMs);
  if (changed === undefined && (covered !== undefined || namesSchedule(body))) {
    throw new Problem('conflict', `it is ${maintenance.status}; plan a new maintenance instead`);
  }
  if (changed !== undefined && 'errors' in changed) throw invalidBody(changed.errors);
  if (covered !== undefined) {
    const { workspace_id: workspaceId } = maintenance;
    requireFound(workspaceId, covered, await missingOf(tx, workspaceId, covered));
  }
  const schedule = changed?.planned ?? undefined;
  const change: MaintenanceChange = {
    ...plainChange(maintenance, body),
    ...(covered === undefined ? {} : { covered }),
    ...(schedule === undefined ? {} : { schedule }),
  };
  const fields = Object.keys(change).map((field) => (field === 'covered' ? 'scope' : field));
  if (fields.length === 0) return null;
  await writeMaintenance(tx, maintenance, change);
  return { action: 'maintenance.updated', detail: { fields } };
}

function namesSchedule(body: UpdateMaintenance): boolean {
  const { starts_at: starts, ends_at: ends, duration_seconds: seconds, rrule, timezone, exdates } = body;
  return [starts, ends, seconds, rrule, timezone, exdates].some((field) => field !== undefined);
}

async function remove(tx: Transaction, maintenance: Maintenance, nowMs: number): Promise<Done> {
  const { status, name } = maintenance;
  await hideMaintenance(tx, maintenance.id);
  const closed = await closeOccurrence(tx, maintenance.id, 'deleted', nowMs);
  if (!isOver(status)) {
    const kind = closed === null ? 'maintenance.cancelled' : 'maintenance.ended';
    await enqueue(tx, maintenanceNews(kind, maintenance, closed, nowMs));
  }
  return { action: 'maintenance.deleted', detail: { name } };
}
