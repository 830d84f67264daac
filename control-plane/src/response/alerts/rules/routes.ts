import {
  createAlertRoute,
  deleteAlertRoute,
  listAlertsRoute,
  readAlertRoute,
  snoozeAlertRoute,
  toggleAlertRoute,
  updateAlertRoute,
} from '@parallax/api-contract';
import type { Alert, CreateAlert, UpdateAlert } from '@parallax/api-contract';
import type { Transaction } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { maskTarget } from '../../channels/index.ts';
import { missingOf, requireFound, sameCovered, scopeOfBody } from '../../maintenance/index.ts';
import { lookAgain } from '../occasions/queries.ts';
import { coveredOf, targetRight, valuesOf } from './change.ts';
import { askReadersOf, changeAlert, judged, noAlert, record, requireRoom, seenBy, shown } from './gateway.ts';
import type { Actor, RuleParts, Done } from './gateway.ts';
import { findAlert, insertAlert, listAlerts, ownDefaults, removeAlert, writeAlert } from './queries.ts';
import type { AlertChange } from './queries.ts';
import type { AlertRow } from './row.ts';
import { changedValues, createdValues, differing, mayTellMore, mutedUntil } from './values.ts';

/** Creating, reading, changing, silencing and deleting alerts. */
export function alertRuleRoutes(parts: RuleParts): Route[] {
  const present = (alert: Alert | undefined, id: number): Alert => {
    if (alert === undefined) throw noAlert(id);
    return alert;
  };
  return [
    handle(listAlertsRoute, async ({ query, caller }) => {
      if (query.workspace_id !== undefined) requireRole(caller, query.workspace_id, 'viewer');
      const scope = scopeOf(caller);
      const { rows, total } = await inScope(parts.database.api, scope, (tx) => listAlerts(scope, tx, query));
      const alerts = await seenBy(parts, caller, rows);
      return { alerts, total, page: query.page, page_size: query.page_size };
    }),

    handle(createAlertRoute, async ({ body, caller, request }) => {
      requireRole(caller, body.workspace_id, 'editor');
      return create(parts, { caller, request }, body);
    }),

    handle(readAlertRoute, async ({ params, caller, request }) => {
      const scope = scopeOf(caller);
      const row = await inScope(parts.database.api, scope, (tx) => findAlert(scope, tx, params.alert_id));
      if (row === null) throw noAlert(params.alert_id);
      return shown(parts, { caller, request }, row);
    }),

    handle(updateAlertRoute, async ({ params, body, caller, request }) => {
      const id = params.alert_id;
      const changed = await changeAlert(parts, { caller, request }, id, (scope, tx, alert) =>
        update(parts, scope, tx, alert, body),
      );
      return present(changed, id);
    }),

    handle(deleteAlertRoute, async ({ params, caller, request }) => {
      await changeAlert(parts, { caller, request }, params.alert_id, async (_scope, tx, alert) => {
        await removeAlert(tx, alert.id);
        return { action: 'alert.deleted', detail: { name: alert.name } };
      });
    }),

    handle(toggleAlertRoute, async ({ params, caller, request }) => {
      const id = params.alert_id;
      const changed = await changeAlert(parts, { caller, request }, id, async (_scope, tx, alert) => {
        await write(parts, tx, alert, { is_active: !alert.is_active });
        return { action: alert.is_active ? 'alert.deactivated' : 'alert.activated' };
      });
      return present(changed, id);
    }),

    handle(snoozeAlertRoute, async ({ params, body, caller, request }) => {
      const id = params.alert_id;
      const untilMs = mutedUntil(body, parts.now());
      const changed = await changeAlert(parts, { caller, request }, id, async (_scope, tx, alert) => {
        await write(parts, tx, alert, { muted_until: untilMs });
        return { action: 'alert.snoozed', detail: { until: new Date(untilMs).toISOString() } };
      });
      return present(changed, id);
    }),
  ];
}

async function create(parts: RuleParts, actor: Actor, body: CreateAlert): Promise<Alert> {
  const scope = scopeOf(actor.caller);
  const workspaceId = body.workspace_id;
  const covered = scopeOfBody(body.scope ?? { all: true });
  const made = await inScope(parts.database.api, scope, async (tx) => {
    const own = await ownDefaults(scope, tx);
    const given = createdValues(body, own, parts.now());
    await requireRoom(scope, tx, workspaceId);
    requireFound(workspaceId, covered, await missingOf(tx, workspaceId, covered));
    const values = await judged(parts, scope, tx, given);
    const id = await insertAlert(tx, { workspaceId, ownerId: actor.caller.userId }, values, covered);
    await record(
      tx,
      actor,
      { id, workspace_id: workspaceId },
      { action: 'alert.created', detail: { name: body.name } },
    );
    if (values.is_active) await lookAgain(tx, workspaceId, parts.now());
    return findAlert(scope, tx, id);
  });
  if (made === null) throw new Error('an alert was written and is not there');
  await askReadersOf(parts, scope, made);
  actor.request.reply.header('location', `/api/v1/alerts/${made.id}`);
  return shown(parts, actor, made);
}

async function update(
  parts: RuleParts,
  scope: Scope,
  tx: Transaction,
  alert: AlertRow,
  body: UpdateAlert,
): Promise<Done | null> {
  const userId = scope.userId ?? 0;
  const own = await ownDefaults(scope, tx);
  const right = targetRight(alert, body, userId, own, maskTarget);
  const { steps, failover, ...rest } = body;
  const given = changedValues(
    valuesOf(alert),
    right === 'unchanged' ? rest : { ...rest, steps, failover: right === 'owner' ? failover : (failover ?? null) },
    own,
    parts.now(),
  );
  const targets = await judged(
    parts,
    scope,
    tx,
    { steps: given.steps ?? [], failover: given.failover ?? null },
    right === 'owner' ? alert : undefined,
  );
  const covered = body.scope === undefined ? undefined : scopeOfBody(body.scope, coveredOf(alert));
  if (covered !== undefined) {
    requireFound(alert.workspace_id, covered, await missingOf(tx, alert.workspace_id, covered));
  }
  const isCovered = covered === undefined || sameCovered(covered, coveredOf(alert));
  const read = differing(valuesOf(alert), {
    ...given,
    ...(given.steps === undefined ? {} : { steps: targets.steps }),
    ...(given.failover == null ? {} : { failover: targets.failover }),
  });
  const change: AlertChange = {
    ...read,
    ...(isCovered ? {} : { covered }),
    ...(right === 'takes_over' ? { ownerId: userId } : {}),
  };
  const fields = Object.keys(change).map((field) => (field === 'covered' ? 'scope' : field));
  if (fields.length === 0) return null;
  await write(parts, tx, alert, change);
  const hasNewTargets = change.steps !== undefined || change.failover !== undefined;
  return { action: 'alert.updated', detail: { fields }, hasNewTargets };
}

/** Writes a change; where it may let the alert tell of what fails already, that is looked at. */
async function write(parts: RuleParts, tx: Transaction, alert: AlertRow, change: AlertChange): Promise<void> {
  const isActive = change.is_active ?? alert.is_active;
  const beginsAnew =
    isActive && (change.is_active === true || change.covered !== undefined || change.events !== undefined);
  await writeAlert(tx, alert, { ...change, ...(beginsAnew ? { beginsAnew } : {}) });
  const tellsMore = isActive && (change.covered !== undefined || change.ownerId !== undefined);
  if (tellsMore || mayTellMore(change, isActive)) await lookAgain(tx, alert.workspace_id, parts.now());
}
