import {
  acknowledgeIncidentRoute,
  addIncidentUpdateRoute,
  createIncidentRoute,
  deleteIncidentRoute,
  invalidInput,
  mostIncidentUpdates,
  Problem,
  resolveIncidentRoute,
  updateIncidentRoute,
} from '@parallax/api-contract';
import type { CreateIncident, IncidentReport, IncidentTemplate } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { outboxSubject, statusPagesSubject } from '../../../platform/bus/subjects.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import { etagOf } from '../../../platform/http/etag.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { readIncident } from '../queries.ts';
import { settleIncident } from '../state/queries.ts';
import { fillIncident } from '../templates/fill.ts';
import { findTemplate } from '../templates/templates.queries.ts';
import {
  acknowledgeIncident,
  announce,
  changing,
  present,
  record,
  requireAssignee,
  requireSayable,
  resolve,
  tooManyUpdates,
} from './gateway.ts';
import type { Actor } from './gateway.ts';
import {
  changeIncident,
  differingFields,
  countUpdates,
  endManualMembers,
  hideIncident,
  insertManual,
  insertManualMembers,
  insertUpdate,
  noteAnnounced,
} from './queries.ts';
import type { LockedIncident, ManualTimes, NewUpdate } from './queries.ts';

/** What people do with incidents. */
export function incidentChangeRoutes(context: Context): Route[] {
  return [
    handle(createIncidentRoute, async ({ body, caller, request }) => {
      requireRole(caller, body.workspace_id, 'editor');
      const made = await create(context, { caller, request }, body);
      request.reply.header('etag', etagOf(made.version)).header('location', `/api/v1/incidents/${made.id}`);
      return made;
    }),

    handle(updateIncidentRoute, async ({ params, body, caller, request }) => {
      const id = params.incident_id;
      const changed = await changing(context, { caller, request }, id, async (_scope, tx, incident) => {
        const change = await differingFields(tx, id, body);
        const fields = Object.keys(change);
        if (fields.length === 0) return null;
        await requireAssignee(tx, incident.workspace_id, change.assignee_id);
        await changeIncident(tx, id, change);
        await settleIncident(tx, id, context.now());
        await announce(tx, id, { kind: 'updated', reason: 'changed' }, context.now());
        return { action: 'incident.updated', detail: { fields } };
      });
      return present(changed, id);
    }),

    handle(addIncidentUpdateRoute, async ({ params, body, caller, request }) => {
      const id = params.incident_id;
      const changed = await changing(context, { caller, request }, id, async (_scope, tx, incident) => {
        const updateId = await say(tx, incident, body, { userId: caller.userId, nowMs: context.now() });
        const resolved = body.kind === 'resolved' ? await resolve(tx, id, caller.userId, context.now()) : null;
        const seq =
          resolved === null
            ? await announce(tx, id, { kind: 'updated', reason: 'update' }, context.now())
            : resolved.seq;
        if (seq !== null) await noteAnnounced(tx, updateId, seq);
        return { action: 'incident.update_added', detail: { kind: body.kind, is_public: body.is_public } };
      });
      return present(changed, id);
    }),

    handle(resolveIncidentRoute, async ({ params, body, caller, request }) => {
      const id = params.incident_id;
      const changed = await changing(context, { caller, request }, id, async (_scope, tx, incident) => {
        const resolved = await resolve(tx, id, caller.userId, context.now());
        if (resolved === null) return null;
        if (body?.body !== undefined) {
          const { body: text, is_public, notify } = body;
          const update = { kind: 'resolved', body: text, is_public, notify };
          const updateId = await say(tx, incident, update, { userId: caller.userId, nowMs: context.now() });
          if (resolved.seq !== null) await noteAnnounced(tx, updateId, resolved.seq);
        }
        return { action: 'incident.resolved' };
      });
      return present(changed, id);
    }),

    handle(acknowledgeIncidentRoute, async ({ params, caller, request }) => {
      const acknowledged = await acknowledgeIncident(context, { caller, request }, params.incident_id);
      request.reply.header('etag', etagOf(acknowledged.version));
      return acknowledged;
    }),

    handle(deleteIncidentRoute, async ({ params, caller, request }) => {
      const id = params.incident_id;
      await changing(context, { caller, request }, id, async (_scope, tx, incident) => {
        await announce(tx, id, { kind: 'deleted', userId: caller.userId }, context.now());
        await hideIncident(tx, id);
        return { action: 'incident.deleted', detail: { title: incident.title } };
      });
    }),
  ];
}

/** Who says something, and when. */
type Saying = { readonly userId: number; readonly nowMs: number };

/** @returns the number of the update @throws Problem `conflict` when the incident has as many updates as it may, `invalid_input`, `not_found` */
async function say(tx: Transaction, incident: LockedIncident, update: NewUpdate, by: Saying): Promise<number> {
  if ((await countUpdates(tx, incident.id)) >= mostIncidentUpdates) throw tooManyUpdates(mostIncidentUpdates);
  await requireSayable(tx, incident.workspace_id, update, { path: '', nowMs: by.nowMs });
  return insertUpdate(tx, incident, update, by.userId);
}

async function create(context: Context, actor: Actor, given: CreateIncident): Promise<IncidentReport> {
  const nowMs = context.now();
  const times = timesOf(given, nowMs);
  const { userId } = actor.caller;
  const scope = scopeOf(actor.caller);
  const made = await inScope(context.database.api, scope, async (tx) => {
    const body = fillIncident(given, await templateOf(scope, tx, given));
    await requireAssignee(tx, body.workspace_id, body.assignee_id);
    const id = await insertManual(tx, body, times, { userId, nowMs });
    const place = { id, workspace_id: body.workspace_id };
    const monitorIds = body.monitor_ids ?? [];
    const found = await insertManualMembers(
      tx,
      { id, workspaceId: body.workspace_id, title: body.title, startedMs: times.startedMs },
      monitorIds,
    );
    requireMonitors(body.workspace_id, monitorIds, found);
    if (times.resolvedMs !== null) await endManualMembers(tx, id, times.resolvedMs);
    const { update } = body;
    if (update != null) {
      await requireSayable(tx, body.workspace_id, update, { path: '/update', nowMs });
      await insertUpdate(tx, place, update, userId);
    }
    await settleIncident(tx, id, nowMs);
    await record(tx, actor, place, { action: 'incident.created', detail: { title: body.title } });
    return readIncident(tx, scope, id);
  });
  context.bus.hint(outboxSubject, {});
  context.bus.hint(statusPagesSubject, { workspace_id: given.workspace_id });
  if (made === null) throw new Error('an incident was written and is not there');
  return made;
}

/** The template that a body names. @throws Problem `not_found` where its workspace has none such */
async function templateOf(
  scope: Scope,
  tx: Transaction,
  { template_id: id, workspace_id: workspaceId }: CreateIncident,
): Promise<IncidentTemplate | null> {
  if (id == null) return null;
  const template = await findTemplate(scope, tx, id);
  if (template?.workspace_id === workspaceId) return template;
  const message = `workspace ${workspaceId} has no template of incidents ${id}`;
  throw new Problem('not_found', message, {
    errors: [{ in: 'body', path: '/template_id', code: 'not_found', message }],
  });
}

/** @throws Problem `invalid_input` */
function timesOf(body: CreateIncident, nowMs: number): ManualTimes {
  const startedMs = body.started_at == null ? nowMs : Date.parse(body.started_at);
  const resolvedMs = body.resolved_at == null ? null : Date.parse(body.resolved_at);
  if (startedMs > nowMs) {
    throw invalidInput('body', '/started_at', 'too_late', 'must not be in the future; plan a maintenance for that');
  }
  if (resolvedMs === null) return { startedMs, resolvedMs };
  if (resolvedMs > nowMs) throw invalidInput('body', '/resolved_at', 'too_late', 'must not be in the future');
  if (resolvedMs < startedMs)
    throw invalidInput('body', '/resolved_at', 'too_early', 'must not be before `started_at`');
  return { startedMs, resolvedMs };
}

/** @throws Problem `not_found` that names each monitor that is not there by its place */
function requireMonitors(workspaceId: number, named: readonly number[], found: readonly number[]): void {
  const errors = named.flatMap((id, index) =>
    found.includes(id)
      ? []
      : [
          {
            in: 'body' as const,
            path: `/monitor_ids/${index}` as const,
            code: 'not_found' as const,
            message: `there is no monitor ${id} in workspace ${workspaceId}`,
          },
        ],
  );
  const [first] = errors;
  if (first !== undefined) throw new Problem('not_found', first.message, { errors: errors.slice(0, 100) });
}
