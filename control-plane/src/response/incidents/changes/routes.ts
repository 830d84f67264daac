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
import type { CreateIncident, IncidentReport } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { outboxSubject } from '../../../platform/bus/subjects.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import { etagOf } from '../../../platform/http/etag.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { readIncident } from '../queries.ts';
import { settleIncident } from '../state/queries.ts';
import {
  acknowledgeIncident,
  announce,
  changing,
  present,
  record,
  requireAssignee,
  resolve,
  tooManyUpdates,
} from './gateway.ts';
import type { Actor } from './gateway.ts';
import {
  changeIncident,
  countUpdates,
  hideIncident,
  insertManual,
  insertManualMembers,
  insertUpdate,
  noteAnnounced,
} from './queries.ts';
import type { LockedIncident, NewUpdate } from './queries.ts';

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
        const fields = Object.keys(body);
        if (fields.length === 0) return null;
        await requireAssignee(tx, incident.workspace_id, body.assignee_id);
        await changeIncident(tx, id, body);
        await settleIncident(tx, id, context.now());
        await announce(tx, id, { kind: 'updated', reason: 'changed' }, context.now());
        return { action: 'incident.updated', detail: { fields } };
      });
      return present(changed, id);
    }),

    handle(addIncidentUpdateRoute, async ({ params, body, caller, request }) => {
      const id = params.incident_id;
      const changed = await changing(context, { caller, request }, id, async (_scope, tx, incident) => {
        const updateId = await say(tx, incident, body, caller.userId);
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
          const { body: text, is_public } = body;
          const updateId = await say(tx, incident, { kind: 'resolved', body: text, is_public }, caller.userId);
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

/** @returns the number of the update @throws Problem `conflict` when the incident has as many updates as it may */
async function say(tx: Transaction, incident: LockedIncident, update: NewUpdate, userId: number): Promise<number> {
  if ((await countUpdates(tx, incident.id)) >= mostIncidentUpdates) throw tooManyUpdates(mostIncidentUpdates);
  return insertUpdate(tx, incident, update, userId);
}

async function create(context: Context, actor: Actor, body: CreateIncident): Promise<IncidentReport> {
  const nowMs = context.now();
  const startedMs = body.started_at == null ? nowMs : Date.parse(body.started_at);
  if (startedMs > nowMs) {
    throw invalidInput('body', '/started_at', 'too_late', 'must not be in the future; plan a maintenance for that');
  }
  const scope = scopeOf(actor.caller);
  const made = await inScope(context.database.api, scope, async (tx) => {
    await requireAssignee(tx, body.workspace_id, body.assignee_id);
    const id = await insertManual(tx, body, startedMs, nowMs);
    const place = { id, workspace_id: body.workspace_id };
    const monitorIds = body.monitor_ids ?? [];
    const found = await insertManualMembers(
      tx,
      { id, workspaceId: body.workspace_id, title: body.title, startedMs },
      monitorIds,
    );
    requireMonitors(body.workspace_id, monitorIds, found);
    const { update } = body;
    if (update != null) await insertUpdate(tx, place, update, actor.caller.userId);
    await settleIncident(tx, id, nowMs);
    await record(tx, actor, place, { action: 'incident.created', detail: { title: body.title } });
    return readIncident(tx, scope, id);
  });
  context.bus.hint(outboxSubject, {});
  if (made === null) throw new Error('an incident was written and is not there');
  return made;
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
