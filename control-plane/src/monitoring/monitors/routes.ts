import {
  createMonitorRoute,
  listMonitorsRoute,
  Problem,
  readMonitorRoute,
  updateMonitorRoute,
  warningsOf,
} from '@parallax/api-contract';
import type { ChangedMonitor, CreateMonitor, Monitor, UpdateMonitor } from '@parallax/api-contract';
import { UniqueIntegrityConstraintViolationError } from 'slonik';
import type { Context } from '../../context.ts';
import { recordAudit } from '../../identity/audit/index.ts';
import { requireRoom } from '../../identity/unconfirmed/index.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { inScope } from '../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { handle, JsonText } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';
import { assignMonitor, touchAssignments } from '../assignments/index.ts';
import { requireWatchable } from '../groups/check/index.ts';
import { etagOf, requireMatch } from '../../platform/http/etag.ts';
import { withDestination } from './bulk/move/queries.ts';
import type { OpenDestination } from './bulk/move/queries.ts';
import { moveSingle } from './bulk/move/single.queries.ts';
import { lockPrivateProbes } from './bulk/queries.ts';
import type { OnMonitorsMoved } from './bulk/queries.ts';
import { droppedSecrets } from './dropped-secrets.ts';
import { announceChange } from './gateway.ts';
import type { Actor } from './gateway.ts';
import { switchMonitor } from './lifecycle/queries.ts';
import { monitorsPage, readMonitorJson } from './list/queries.ts';
import { noMonitor, requireShown } from './not-found.ts';
import type { MonitorView } from './not-found.ts';
import { planLimits } from './plan-limits.ts';
import { requireReachable } from './reachable.ts';
import {
  findMonitor,
  insertMonitor,
  lockMonitor,
  namesLike,
  reserveMonitorId,
  updateMonitor,
  workspaceOwner,
} from './queries.ts';
import type { MonitorRow, WorkspaceOwner } from './queries.ts';
import { openSecrets, sealedValues } from './secrets.ts';
import { freeName, nameFromTarget } from './target.ts';
import { changedMonitor, newMonitor } from './values.ts';
import type { MonitorChange, OpenMonitor, PlainValues, PlanLimits } from './values.ts';

/** Tries to find a free name before it gives up: each loses a race against another monitor of the same owner. */
const nameAttempts = 5;

/** Creating, reading and changing monitors. */
export function monitorRoutes(context: Context, onMoved: readonly OnMonitorsMoved[]): Route[] {
  return [
    handle(createMonitorRoute, async ({ body, caller, request }) => {
      const created = await createMonitor(context, { caller, request }, body);
      request.reply.header('etag', etagOf(created.version)).header('location', `/api/v1/monitors/${created.id}`);
      return created;
    }),

    handle(listMonitorsRoute, async ({ query, caller }) => {
      if (query.workspace_id !== undefined) requireRole(caller, query.workspace_id, 'viewer');
      const scope = scopeOf(caller);
      const { tag, ...filter } = query;
      const tags = (tag === undefined ? [] : [tag].flat()).map((each) => each.normalize('NFC'));
      const page = await inScope(context.database.api, scope, (tx) => monitorsPage(tx, scope, { ...filter, tags }));
      return new JsonText(
        `{"monitors":${page.monitorsJson},"total":${page.total},"page":${query.page},"page_size":${query.page_size}}`,
      );
    }),

    handle(readMonitorRoute, async ({ params, caller, request }) => {
      const scope = scopeOf(caller);
      const monitor = await inScope(context.database.api, scope, (tx) => readMonitorJson(tx, scope, params.monitor_id));
      if (monitor === null) throw noMonitor(params.monitor_id);
      request.reply.header('etag', etagOf(monitor.version));
      return monitor;
    }),

    handle(updateMonitorRoute, async ({ params, body, caller, request }) => {
      const { workspace_id: workspaceId, ...change } = body;
      const move = workspaceId === undefined ? undefined : { workspaceId, onMoved };
      const updated = await changeMonitor(context, { caller, request }, params.monitor_id, { body: change }, move);
      request.reply.header('etag', etagOf(updated.version));
      return updated;
    }),
  ];
}

function watchedBy(workspaceId: number, { protocol, settings }: PlainValues) {
  return { workspaceId, protocol, settings: settings.open };
}

/**
 * Creates a monitor as POST /monitors does.
 * @throws Problem as that route answers it
 */
export async function createMonitor(context: Context, actor: Actor, body: CreateMonitor): Promise<Monitor> {
  requireRole(actor.caller, body.workspace_id, 'editor');
  const owner = await workspaceOwner(context.database.worker, body.workspace_id);
  const limits = planLimits(context, owner);
  for (let attempt = 1; ; attempt += 1) {
    const name = body.name ?? (await nameOf(context, owner.ownerId, body));
    const values = newMonitor(body, name, limits);
    requireReachable(context, values, owner);
    try {
      return await writeMonitor(context, actor, body, values);
    } catch (error) {
      if (!isNameTaken(error)) throw error;
      if (body.name !== undefined || attempt >= nameAttempts) throw nameTaken(name);
    }
  }
}

async function writeMonitor(
  context: Context,
  actor: Actor,
  body: CreateMonitor,
  values: PlainValues,
): Promise<Monitor> {
  const scope = scopeOf(actor.caller);
  const done = await inScope(context.database.api, scope, async (tx) => {
    await requireRoom(context, tx, 'monitors', new Map([[body.workspace_id, 1]]));
    const id = await reserveMonitorId(tx);
    const place = { id, workspaceId: body.workspace_id, shards: context.shards };
    const row = await insertMonitor(tx, place, sealedValues(context.sealer, id, values));
    await requireWatchable(scope, tx, watchedBy(body.workspace_id, values));
    const probeIds = await assignMonitor(tx, id);
    await record(tx, actor, row, 'monitor.created');
    return { row, probeIds, monitor: await readMonitorJson(tx, scope, id) };
  });
  announceChange(context.bus, done.row.shard, done.probeIds);
  return present(done.monitor, done.row.id);
}

/** What a change of a monitor says. */
export type ChangeOfMonitor = {
  readonly body: UpdateMonitor;
  /** The whole of the change where it depends on what is stored: made from the locked row. Settings only may differ from those of `body`. */
  readonly complete?: (edited: OpenMonitor) => UpdateMonitor;
  readonly view?: MonitorView;
};

/** Where a change takes its monitor to. */
export type MoveOfMonitor = { readonly workspaceId: number; readonly onMoved: readonly OnMonitorsMoved[] };

/**
 * Changes a monitor as PATCH /monitors/{monitor_id} does.
 * @throws Problem as that route answers it
 */
export async function changeMonitor(
  context: Context,
  actor: Actor,
  monitorId: number,
  change: ChangeOfMonitor,
  move?: MoveOfMonitor,
): Promise<ChangedMonitor> {
  const limits = await limitsOfChange(context, actor.caller, monitorId, change);
  if (move === undefined) return rewriteMonitor(context, actor, monitorId, change, limits);
  const { name } = change.body;
  const moving = {
    monitor_ids: [monitorId],
    workspace_id: move.workspaceId,
    names: name === undefined ? undefined : [name],
  };
  requireRole(actor.caller, move.workspaceId, 'editor');
  return withDestination(context, scopeOf(actor.caller), moving, (destination) =>
    rewriteMonitor(context, actor, monitorId, change, limits, { ...move, destination }),
  );
}

async function rewriteMonitor(
  context: Context,
  actor: Actor,
  monitorId: number,
  { body: given, complete, view }: ChangeOfMonitor,
  { limits, owner }: LimitsOfChange,
  move?: MoveOfMonitor & { readonly destination: OpenDestination },
): Promise<ChangedMonitor> {
  const scope = scopeOf(actor.caller);
  const done = await inScope(context.database.api, scope, async (tx) => {
    const stored = requireShown(await lockMonitor(tx, scope, monitorId), monitorId, view);
    requireRole(actor.caller, stored.workspace_id, 'editor');
    requireMatch(actor.request.header('if-match'), stored.version);
    const secrets = openSecrets(context.sealer, stored);
    const body = complete === undefined ? given : complete({ stored, secrets });
    const change = changedMonitor(stored, secrets, body, limits);
    const told = new Set<number>();
    // Before the change may lock some of them: whoever gives monitors other probes locks these in ascending order.
    const goes = move?.workspaceId === stored.workspace_id ? undefined : move;
    if (goes !== undefined) await lockPrivateProbes(scope, tx, [stored.workspace_id, goes.workspaceId]);
    if (change.isChange) {
      await writeChange(context, tx, monitorId, change);
      if (change.checkedChanged) await requireWatchable(scope, tx, watchedBy(stored.workspace_id, change.values));
      const movesTarget = change.values.url !== stored.url || change.values.protocol !== stored.protocol;
      if (movesTarget && owner !== undefined) requireReachable(context, change.values, owner);
      const probeIds = change.choosesProbes
        ? await assignMonitor(tx, monitorId)
        : change.tellsProbes
          ? await touchAssignments(tx, monitorId)
          : [];
      for (const probeId of probeIds) told.add(probeId);
      await record(tx, actor, stored, 'monitor.updated');
    }
    if (body.is_active !== undefined && body.is_active !== stored.is_active) {
      for (const probeId of await switchMonitor(tx, stored, body.is_active)) told.add(probeId);
      await record(tx, actor, stored, body.is_active ? 'monitor.resumed' : 'monitor.paused');
    }
    if (goes !== undefined) {
      const { destination, onMoved } = goes;
      for (const probeId of await moveSingle(tx, actor, monitorId, destination, onMoved)) told.add(probeId);
    }
    const dropped = droppedSecrets(secrets, change.values.settings.secret, given);
    return { stored, told, dropped, monitor: await readMonitorJson(tx, scope, monitorId) };
  });
  announceChange(context.bus, done.stored.shard, [...done.told]);
  return { ...present(done.monitor, monitorId), ...warningsOf(done.dropped) };
}

/** @throws Problem `name_taken` */
async function writeChange(
  context: Context,
  tx: Transaction,
  monitorId: number,
  { values, checkedChanged }: MonitorChange,
): Promise<void> {
  try {
    await updateMonitor(tx, monitorId, sealedValues(context.sealer, monitorId, values), checkedChanged);
  } catch (error) {
    throw isNameTaken(error) ? nameTaken(values.name) : error;
  }
}

function record(tx: Transaction, actor: Actor, row: MonitorRow, action: string): Promise<void> {
  return recordAudit(tx, actor.caller, actor.request, {
    action,
    workspaceId: row.workspace_id,
    subjectType: 'monitor',
    subjectId: row.id,
  });
}

/** What the owner's plan and the workspace's reach allow; nobody is named where the change depends on neither. */
type LimitsOfChange = { readonly limits: PlanLimits; readonly owner?: WorkspaceOwner };

/** The owner matters only to a body that sets an interval or a target, and is read before the transaction, by another login. */
async function limitsOfChange(
  context: Context,
  caller: Caller,
  monitorId: number,
  { body, view }: ChangeOfMonitor,
): Promise<LimitsOfChange> {
  const { interval_seconds: interval, url, protocol } = body;
  if (interval === undefined && url === undefined && protocol === undefined)
    return { limits: { plan: '', minimumIntervalSeconds: 0, unconfirmedIntervalSeconds: 0 } };
  const scope = scopeOf(caller);
  const found = await inScope(context.database.api, scope, (tx) => findMonitor(tx, scope, monitorId));
  const stored = requireShown(found, monitorId, view);
  const owner = await workspaceOwner(context.database.worker, stored.workspace_id);
  return { limits: planLimits(context, owner), owner };
}

async function nameOf(context: Context, ownerId: number, body: CreateMonitor): Promise<string> {
  const wanted = nameFromTarget(body.url);
  return freeName(wanted, await namesLike(context.database.worker, ownerId, wanted));
}

function present(monitor: Monitor | null, monitorId: number): Monitor {
  if (monitor === null) throw new Error(`monitor ${monitorId} was written and is not there`);
  return monitor;
}

function isNameTaken(error: unknown): boolean {
  return error instanceof UniqueIntegrityConstraintViolationError && error.constraint === 'monitors_name';
}

function nameTaken(name: string): Problem {
  return new Problem('name_taken', `the owner of this workspace already has a monitor named "${name}"`, {
    errors: [
      { in: 'body', path: '/name', code: 'name_taken', message: 'must be unique among all workspaces of one owner' },
    ],
  });
}
