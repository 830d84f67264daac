import { mostMaintenance, Problem } from '@parallax/api-contract';
import type { Maintenance } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { recordAudit } from '../../identity/audit/index.ts';
import type { AuditEvent } from '../../identity/audit/index.ts';
import { outboxSubject } from '../../platform/bus/subjects.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { inScope } from '../../platform/database/scope.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { etagOf, requireMatch } from '../../platform/http/etag.ts';
import type { RequestFacts } from '../../platform/http/handler.ts';
import { noWindow } from './not-found.ts';
import { announce, endOccurrence, openOccurrence } from './occurrences/queries.ts';
import type { Plan } from './plan.ts';
import { countWindows, insertWindow, lockWindow, readWindow, stopWindow } from './queries.ts';
import { requireItems } from './scope/judge.ts';
import type { JudgedScope } from './scope/judge.ts';
import { missingItems, writeScope } from './scope/queries.ts';

export type Actor = { readonly caller: Caller; readonly request: RequestFacts };
type Done = Pick<AuditEvent, 'action' | 'detail'> | null;

/** Writes the row of the audit log. */
export function record(
  tx: Transaction,
  { caller, request }: Actor,
  window: { readonly id: number; readonly workspace_id: number },
  done: NonNullable<Done>,
): Promise<void> {
  return recordAudit(tx, caller, request, {
    ...done,
    workspaceId: window.workspace_id,
    subjectType: 'maintenance',
    subjectId: window.id,
  });
}

/**
 * Changes a window in one transaction: locked, by an editor of its workspace, in the version that `If-Match` names, and recorded.
 * @returns the window as it is afterwards, null when it is gone; its ETag is set
 * @throws Problem `not_found`, `forbidden`, `version_mismatch`
 */
export async function changing(
  context: Context,
  actor: Actor,
  windowId: number,
  work: (scope: Scope, tx: Transaction, window: Maintenance) => Promise<Done>,
): Promise<Maintenance | null> {
  const scope = scopeOf(actor.caller);
  const changed = await inScope(context.database.api, scope, async (tx) => {
    const window = await lockWindow(scope, tx, windowId);
    if (window === null) throw noWindow(windowId);
    requireRole(actor.caller, window.workspace_id, 'editor');
    requireMatch(actor.request.header('if-match'), window.version);
    const done = await work(scope, tx, window);
    if (done !== null) await record(tx, actor, window, done);
    return readWindow(scope, tx, windowId);
  });
  context.bus.hint(outboxSubject, {});
  if (changed !== null) actor.request.reply.header('etag', etagOf(changed.version));
  return changed;
}

/** The window as it is after a change. */
export function present(window: Maintenance | null, windowId: number): Maintenance {
  if (window === null) throw noWindow(windowId);
  return window;
}

export type Planned = {
  readonly workspaceId: number;
  readonly title: string;
  readonly description: string;
  readonly scope: JudgedScope;
  readonly plan: Plan;
  readonly uid: string | null;
};

/**
 * Writes a window that was judged. @returns its number, null where one of the same UID is there
 * @throws Problem `not_found` for what the workspace does not have, `conflict` for too many windows
 */
export async function plan(tx: Transaction, actor: Actor, planned: Planned): Promise<number | null> {
  const { workspaceId, scope } = planned;
  requireItems(workspaceId, await missingItems(tx, workspaceId, scope.items));
  if ((await countWindows(tx, workspaceId)) >= mostMaintenance) {
    throw new Problem(
      'conflict',
      `workspace ${workspaceId} has ${mostMaintenance} windows that are not over; cancel some, or use a series`,
    );
  }
  const id = await insertWindow(tx, {
    ...planned.plan,
    ...planned,
    isForAll: scope.isForAll,
    userId: actor.caller.userId,
  });
  if (id === null) return null;
  await writeScope(tx, { id, workspaceId }, scope.items);
  await record(
    tx,
    actor,
    { id, workspace_id: workspaceId },
    { action: 'maintenance.created', detail: { title: planned.title } },
  );
  return id;
}

/** Ends what is under way of a locked window and lets nothing follow; announced. */
export async function stop(
  tx: Transaction,
  window: Maintenance,
  how: 'cancelled' | 'deleted',
  nowMs: number,
): Promise<void> {
  const open = await openOccurrence(tx, window.id);
  if (open !== null) await endOccurrence(tx, open, Math.min(nowMs, open.endsMs));
  await stopWindow(tx, window.id, how);
  if (window.status !== 'scheduled' && window.status !== 'active') return;
  await announce(tx, 'maintenance.cancelled', {
    id: window.id,
    workspaceId: window.workspace_id,
    title: window.title,
    occurrenceId: open?.id ?? null,
    startsMs: open?.startsMs ?? (window.next_occurrence === null ? null : Date.parse(window.next_occurrence.starts_at)),
    endsMs: open?.endsMs ?? (window.next_occurrence === null ? null : Date.parse(window.next_occurrence.ends_at)),
    endedMs: open === null ? null : nowMs,
  });
}
