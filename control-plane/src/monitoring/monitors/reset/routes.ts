import { Problem, resetStatsRoute } from '@parallax/api-contract';
import type { ResetStats } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { recordAudit } from '../../../identity/audit/index.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../../platform/http/handler.ts';
import { emptyMonitor, recordResetEmpty } from '../emptying/queries.ts';
import { sumOfRemoved } from '../emptying/rows.ts';
import type { Removed, RowsOfMonitor } from '../emptying/rows.ts';
import { etagOf, requireMatch } from '../../../platform/http/etag.ts';
import { announceChange } from '../gateway.ts';
import { noMonitor } from '../not-found.ts';
import { lockMonitor } from '../queries.ts';
import { markReset } from './queries.ts';
import type { MarkedReset, OnMonitorReset } from './queries.ts';

export type ResetOptions = {
  readonly hooks: readonly OnMonitorReset[];
  /** Rows of capabilities to the right. */
  readonly more: readonly RowsOfMonitor[];
  /** How long a request may remove rows before it answers 504; the server's own limit for an answer is above it. */
  readonly deadlineMs: number;
};

/** Forgetting what was measured of a monitor. */
export function resetRoutes(context: Context, options: ResetOptions): Route[] {
  return [
    handle(resetStatsRoute, async ({ params, caller, request }) => {
      const startedMs = performance.now();
      const { monitor_id: monitorId } = params;
      const marked = await mark(context, { caller, request }, monitorId, options.hooks);
      request.reply.header('etag', etagOf(marked.reset.version));
      const { atMs } = marked.reset;
      const isInTime = () => performance.now() - startedMs < options.deadlineMs;
      const what = { monitorId, beforeMs: atMs, more: options.more };
      const emptied = await emptyMonitor(context.database.worker, what, isInTime);
      if (!emptied.isDone) throw tookTooLong(monitorId, options.deadlineMs);
      await recordResetEmpty(context.database.worker, monitorId, atMs);
      return answer(monitorId, atMs, sumOfRemoved(marked.removed, emptied.removed));
    }),
  ];
}

type Actor = { readonly caller: Caller; readonly request: RequestFacts };

/** The reset itself: committed when this resolves, however long the removal of the rows takes. */
async function mark(
  context: Context,
  actor: Actor,
  monitorId: number,
  hooks: readonly OnMonitorReset[],
): Promise<{ readonly reset: MarkedReset; readonly removed: Removed }> {
  const scope = scopeOf(actor.caller);
  const done = await inScope(context.database.api, scope, async (tx) => {
    const stored = await lockMonitor(tx, scope, monitorId);
    if (stored === null) throw noMonitor(monitorId);
    requireRole(actor.caller, stored.workspace_id, 'editor');
    requireMatch(actor.request.header('if-match'), stored.version);
    const reset = await markReset(tx, stored, context.now());
    const parts: (Removed | void)[] = [];
    for (const hook of hooks) parts.push(await hook(tx, monitorId, reset.atMs));
    await recordAudit(tx, actor.caller, actor.request, {
      action: 'monitor.reset',
      workspaceId: stored.workspace_id,
      subjectType: 'monitor',
      subjectId: monitorId,
      detail: { reset_at: new Date(reset.atMs).toISOString() },
    });
    return { reset, removed: sumOfRemoved(...parts), shard: stored.shard };
  });
  announceChange(context.bus, done.shard, []);
  return done;
}

function tookTooLong(monitorId: number, deadlineMs: number): Problem {
  return new Problem(
    'deadline_exceeded',
    `the statistics of monitor ${monitorId} are reset, but removing what was measured takes longer than ${deadlineMs / 1000} s; ` +
      'it goes on in the background and is not shown any more',
  );
}

function answer(monitorId: number, atMs: number, removed: ResetStats['removed']): ResetStats {
  return { monitor_id: monitorId, reset_at: new Date(atMs).toISOString(), removed };
}
