import {
  createHeartbeatRoute,
  deleteHeartbeatRoute,
  listHeartbeatsRoute,
  pauseHeartbeatRoute,
  readHeartbeatRoute,
  resumeHeartbeatRoute,
  updateHeartbeatRoute,
} from '@parallax/api-contract';
import type { Heartbeat, InputOf } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { inScope } from '../../platform/database/scope.ts';
import { mayReadPingKey, maySignal, requireRole, scopeOf } from '../../platform/http/caller.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { etagOf } from '../../platform/http/etag.ts';
import { handle } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';
import { enqueueHeld } from '../../platform/outbox/enqueue.ts';
import { answerOf } from './answer.ts';
import type { HeartbeatRow } from './answer.ts';
import { changeOf, configured, isRescheduled } from './change.ts';
import { changeHeartbeat, makeHeartbeat, newCredentials, record, writeSwitched } from './gateway.ts';
import type { Actor, Credentials } from './gateway.ts';
import { slugOf } from './make.ts';
import { noHeartbeat } from './not-found.ts';
import { findHeartbeat, listHeartbeats, markDeleted, nextVersion, writeConfiguration, zoneOfUser } from './queries.ts';
import { outboxKey } from './stored/announce.ts';
import { writeStates } from './stored/queries.ts';
import type { Locked } from './stored/queries.ts';
import { rulesOf } from './stored/rules.ts';
import { pause, reschedule, resume } from './switches.ts';
import type { Switched } from './switches.ts';

/** Creating, reading, changing, pausing and deleting heartbeats. */
export function heartbeatRoutes(context: Context): Route[] {
  const answer = (row: HeartbeatRow, caller: Caller): Heartbeat =>
    answerOf(row, context.sealer, context.publicUrl, {
      uuid: maySignal(caller, row.workspace_id),
      pingKey: mayReadPingKey(caller, row.workspace_id),
    });
  const answered = (id: number, row: HeartbeatRow | undefined, caller: Caller): Heartbeat => {
    if (row === undefined) throw noHeartbeat(id);
    return answer(row, caller);
  };
  return [
    handle(listHeartbeatsRoute, async ({ query, caller }) => {
      if (query.workspace_id !== undefined) requireRole(caller, query.workspace_id, 'viewer');
      const scope = scopeOf(caller);
      const { rows, total } = await inScope(context.database.api, scope, (tx) => listHeartbeats(scope, tx, query));
      return {
        heartbeats: rows.map((row) => answer(row, caller)),
        total,
        page: query.page,
        page_size: query.page_size,
      };
    }),

    handle(createHeartbeatRoute, async ({ query, body, caller, request }) => {
      requireRole(caller, query.workspace_id, 'editor');
      const credentials = newCredentials();
      const created = await create(context, { caller, request }, query.workspace_id, body, credentials);
      request.reply.header('etag', etagOf(created.version)).header('location', `/api/v1/heartbeats/${created.id}`);
      return { ...answer(created, caller), secret: credentials.secret };
    }),

    handle(readHeartbeatRoute, async ({ params, caller, request }) => {
      const scope = scopeOf(caller);
      const row = await inScope(context.database.api, scope, (tx) => findHeartbeat(scope, tx, params.id));
      if (row === null) throw noHeartbeat(params.id);
      request.reply.header('etag', etagOf(row.version));
      return answer(row, caller);
    }),

    handle(updateHeartbeatRoute, async ({ params, body, caller, request }) => {
      const changed = await changeHeartbeat(context, { caller, request }, params.id, async (tx, row, locked) => {
        const nowMs = context.now();
        const change = changeOf(row, body, nowMs);
        if (change === null) return null;
        await writeConfiguration(tx, row, change);
        if (isRescheduled(change)) {
          const after = reschedule(rulesOf({ ...locked, ...change }), locked.state, nowMs);
          await writeStates(tx, [{ id: row.id, before: locked.state, after }]);
        }
        return { action: 'heartbeat.updated', detail: { fields: Object.keys(change) } };
      });
      return answered(params.id, changed, caller);
    }),

    handle(deleteHeartbeatRoute, async ({ params, caller, request }) => {
      await changeHeartbeat(context, { caller, request }, params.id, async (tx, row) => {
        await markDeleted(tx, row.id);
        const { id, workspace_id: workspaceId, name } = row;
        const payload = {
          heartbeat_id: id,
          workspace_id: workspaceId,
          name,
          at: new Date(context.now()).toISOString(),
        };
        await enqueueHeld(tx, [{ key: outboxKey(id), kind: 'heartbeat.deleted', payload }]);
        return { action: 'heartbeat.deleted', detail: { name } };
      });
    }),

    handle(pauseHeartbeatRoute, async ({ params, caller, request }) => {
      const paused = await changeSwitch(context, { caller, request }, params.id, 'heartbeat.paused', pauseLocked);
      return answered(params.id, paused, caller);
    }),

    handle(resumeHeartbeatRoute, async ({ params, caller, request }) => {
      const resumed = await changeSwitch(context, { caller, request }, params.id, 'heartbeat.resumed', resumeLocked);
      return answered(params.id, resumed, caller);
    }),
  ];
}

/** Makes a heartbeat in the time zone of its user where it names none, and its slug from its name. */
function create(
  context: Context,
  actor: Actor,
  workspaceId: number,
  body: InputOf<typeof createHeartbeatRoute>['body'],
  credentials: Credentials,
): Promise<HeartbeatRow> {
  const scope = scopeOf(actor.caller);
  return inScope(context.database.api, scope, async (tx) => {
    const timezone = body.timezone ?? (await zoneOfUser(scope, tx));
    const fields = configured(body, { slug: body.slug ?? slugOf(body.name), timezone }, context.now());
    const wanted = { fields, wantsExactly: body.slug != null };
    const id = await makeHeartbeat(context, scope, tx, workspaceId, wanted, credentials);
    const row = id === null ? null : await findHeartbeat(scope, tx, id);
    if (row === null) throw new Error('a heartbeat was written and is not there');
    await record(tx, actor, row, { action: 'heartbeat.created', detail: { name: row.name } });
    return row;
  });
}

const pauseLocked = ({ state }: Locked, nowMs: number): Switched | null => pause(state, nowMs);
const resumeLocked = (locked: Locked, nowMs: number): Switched | null => resume(rulesOf(locked), locked.state, nowMs);

/** Pauses or resumes a heartbeat; one that is as it is wanted already stays in its version. */
function changeSwitch(
  context: Context,
  actor: Actor,
  id: number,
  action: string,
  decide: (locked: Locked, nowMs: number) => Switched | null,
): Promise<HeartbeatRow | undefined> {
  return changeHeartbeat(context, actor, id, async (tx, row, locked) => {
    const nowMs = context.now();
    const switched = decide(locked, nowMs);
    if (switched === null) return null;
    await writeSwitched(tx, locked, switched, nowMs);
    await nextVersion(tx, row.id);
    return { action };
  });
}
