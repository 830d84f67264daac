import { deleteMonitorRoute, pauseMonitorRoute, Problem, resumeMonitorRoute } from '@parallax/api-contract';
import type { Monitor } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { recordAudit } from '../../../identity/audit/index.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../../platform/http/handler.ts';
import { emptyMonitor, recordDeletedEmpty } from '../emptying/queries.ts';
import type { RowsOfMonitor } from '../emptying/rows.ts';
import { etagOf, requireMatch } from '../../../platform/http/etag.ts';
import { announceChange } from '../gateway.ts';
import type { Actor } from '../gateway.ts';
import { readMonitorJson } from '../list/queries.ts';
import { noMonitor, requireShown } from '../not-found.ts';
import type { MonitorView } from '../not-found.ts';
import { lockMonitor } from '../queries.ts';
import { openSecrets } from '../secrets.ts';
import { lackOf } from './resumable.ts';
import { lockDeletable, markDeleted, switchMonitor } from './queries.ts';
import type { OnMonitorDeleted } from './queries.ts';

export type DeletionOptions = {
  readonly hooks: readonly OnMonitorDeleted[];
  /** Rows of capabilities to the right. */
  readonly more: readonly RowsOfMonitor[];
  /** How long a DELETE may work before it answers 504; the server's own limit for an answer is above it. */
  readonly deadlineMs: number;
};

/** Pausing, resuming and deleting monitors. */
export function lifecycleRoutes(context: Context, deletion: DeletionOptions): Route[] {
  return [
    handle(pauseMonitorRoute, ({ params, caller, request }) =>
      switched(context, { caller, request }, params.monitor_id, false),
    ),
    handle(resumeMonitorRoute, ({ params, caller, request }) =>
      switched(context, { caller, request }, params.monitor_id, true),
    ),
    handle(deleteMonitorRoute, ({ params, caller, request }) =>
      deleteMonitor(context, { caller, request }, params.monitor_id, deletion),
    ),
  ];
}

async function switched(context: Context, actor: Actor, monitorId: number, isActive: boolean): Promise<Monitor> {
  const monitor = await setMonitorActive(context, actor, monitorId, isActive);
  actor.request.reply.header('etag', etagOf(monitor.version));
  return monitor;
}

/** Who does something to a monitor, and from where: also by other ways than a request of the API. */
export type Doer = {
  readonly caller: Caller;
  readonly request: Pick<RequestFacts, 'remoteAddress' | 'requestId' | 'header'>;
};

/**
 * Pauses or resumes a monitor as POST /monitors/{monitor_id}/pause and …/resume do.
 * @throws Problem as these routes answer it
 */
export async function setMonitorActive(
  context: Context,
  actor: Doer,
  monitorId: number,
  isActive: boolean,
): Promise<Monitor> {
  const scope = scopeOf(actor.caller);
  const done = await inScope(context.database.api, scope, async (tx) => {
    const stored = await lockMonitor(tx, scope, monitorId);
    if (stored === null) throw noMonitor(monitorId);
    requireRole(actor.caller, stored.workspace_id, 'editor');
    requireMatch(actor.request.header('if-match'), stored.version);
    let probeIds: readonly number[] = [];
    if (isActive && !stored.is_active) {
      const lack = lackOf(stored, openSecrets(context.sealer, stored));
      if (lack !== undefined) throw new Problem('secret_missing', lack.detail, { errors: lack.errors });
    }
    if (stored.is_active !== isActive) {
      probeIds = await switchMonitor(tx, stored, isActive);
      await recordAudit(tx, actor.caller, actor.request, {
        action: isActive ? 'monitor.resumed' : 'monitor.paused',
        workspaceId: stored.workspace_id,
        subjectType: 'monitor',
        subjectId: monitorId,
      });
    }
    const monitor = await readMonitorJson(tx, scope, monitorId);
    if (monitor === null) throw noMonitor(monitorId);
    return { probeIds, monitor, shard: stored.shard, isChange: stored.is_active !== isActive };
  });
  if (done.isChange) announceChange(context.bus, done.shard, done.probeIds);
  return done.monitor;
}

/**
 * Deletes a monitor as DELETE /monitors/{monitor_id} does.
 * @throws Problem as that route answers it
 */
export async function deleteMonitor(
  context: Context,
  actor: Actor,
  monitorId: number,
  deletion: DeletionOptions,
  view?: MonitorView,
): Promise<void> {
  const startedMs = performance.now();
  const scope = scopeOf(actor.caller);
  const marked = await inScope(context.database.api, scope, async (tx) => {
    const found = await lockDeletable(tx, scope, monitorId);
    // Once somebody was told that it is gone, it is gone for this route too.
    const stored = requireShown(found?.deletion_told === true ? null : found, monitorId, view);
    requireRole(actor.caller, stored.workspace_id, 'editor');
    if (stored.is_deleted) return { shard: stored.shard, probeIds: [], isEmptied: stored.is_emptied };
    requireMatch(actor.request.header('if-match'), stored.version);
    const probeIds = await markDeleted(tx, monitorId, deletion.hooks);
    await recordAudit(tx, actor.caller, actor.request, {
      action: 'monitor.deleted',
      workspaceId: stored.workspace_id,
      subjectType: 'monitor',
      subjectId: monitorId,
    });
    return { shard: stored.shard, probeIds, isEmptied: false };
  });
  announceChange(context.bus, marked.shard, marked.probeIds);
  const isInTime = () => performance.now() - startedMs < deletion.deadlineMs;
  const what = { monitorId, beforeMs: null, more: deletion.more };
  if (!marked.isEmptied && !(await emptyMonitor(context.database.worker, what, isInTime)).isDone) {
    throw new Problem(
      'deadline_exceeded',
      `monitor ${monitorId} is deleted, but removing its results takes longer than ${deletion.deadlineMs / 1000} s; ` +
        'it goes on in the background, and the same call again answers 204 when it is done',
    );
  }
  await recordDeletedEmpty(context.database.worker, monitorId, true);
}
