import { isDeepStrictEqual } from 'node:util';
import { Problem, statusPageLimits } from '@parallax/api-contract';
import type { StatusPage } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { recordAudit } from '../../../identity/audit/index.ts';
import type { AuditEvent } from '../../../identity/audit/index.ts';
import { outboxSubject, statusPagesSubject } from '../../../platform/bus/subjects.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { etagOf, requireMatch } from '../../../platform/http/etag.ts';
import type { RequestFacts } from '../../../platform/http/handler.ts';
import { missingOf, requireFound } from '../../../response/maintenance/index.ts';
import { announceChanges } from './announce.gateway.ts';
import { namedBy } from './items.ts';
import type { ItemValues } from './items.ts';
import { findPage, lockCount, lockPage } from './pages.queries.ts';
import { answerOf } from './row.ts';
import type { PageRow } from './row.ts';

export type Actor = { readonly caller: Caller; readonly request: RequestFacts };

/** What a change was, for the audit log. */
export type Done = { readonly action: string; readonly detail?: AuditEvent['detail'] };

/** There is no such page, or it is another's. */
export function noPage(id: number): Problem {
  return new Problem('not_found', `there is no status page ${id}`);
}

/** A page that the caller may read. @throws Problem `not_found` */
export async function readPage(context: Context, caller: Caller, id: number): Promise<PageRow> {
  const scope = scopeOf(caller);
  const row = await inScope(context.database.api, scope, (tx) => findPage(scope, tx, id));
  if (row === null) throw noPage(id);
  return row;
}

/**
 * Changes a page in one transaction: locked, by an editor of its workspace, in the version that `If-Match` names; recorded, and told to whoever
 * keeps prepared pages.
 * @param work writes; null when there was nothing to change
 * @returns the page as it is afterwards, null when it is gone
 * @throws Problem `not_found`, `forbidden`, `version_mismatch`
 */
export async function changePage(
  context: Context,
  actor: Actor,
  id: number,
  work: (scope: Scope, tx: Transaction, row: PageRow) => Promise<Done | null>,
): Promise<PageRow | null> {
  const scope = scopeOf(actor.caller);
  const { row, done, workspaceId, isAccess } = await inScope(context.database.api, scope, async (tx) => {
    const before = await lockPage(scope, tx, id);
    if (before === null) throw noPage(id);
    requireRole(actor.caller, before.workspace_id, 'editor');
    requireMatch(actor.request.header('if-match'), before.version);
    const made = await work(scope, tx, before);
    if (made !== null) await record(tx, actor, before, made);
    const after = await findPage(scope, tx, id);
    const { workspace_id: workspaceId } = before;
    return { row: after, done: made, workspaceId, isAccess: !isDeepStrictEqual(readersOf(before), readersOf(after)) };
  });
  if (done !== null) {
    context.bus.hint(outboxSubject, {});
    // Whoever shows the page is told at once where it may be private from now on; the outbox tells them of every change.
    if (isAccess) context.bus.hint(statusPagesSubject, { id, workspace_id: workspaceId, is_access: true });
  }
  return row;
}

/** Whatever says who may read a page, and where. */
function readersOf(row: PageRow | null): unknown {
  if (row === null) return null;
  return [row.slug, row.is_published, row.password_hash, row.allowed_mail_domains, row.allowed_addresses];
}

/** A page as its reader may see it, with its ETag. */
export function shown(context: Context, actor: Actor, row: PageRow): StatusPage {
  actor.request.reply.header('etag', etagOf(row.version));
  return answerOf(row, context.publicUrl);
}

/** Writes the row of the audit log, and that of the outbox. */
export async function record(
  tx: Transaction,
  { caller, request }: Actor,
  row: Pick<PageRow, 'id' | 'workspace_id'>,
  { action, detail }: Done,
): Promise<void> {
  await recordAudit(tx, caller, request, {
    action,
    workspaceId: row.workspace_id,
    subjectType: 'status_page',
    subjectId: row.id,
    ...(detail === undefined ? {} : { detail }),
  });
  await announceChanges(tx, [row]);
}

/**
 * Holds a workspace to the number of pages that it may have.
 * @throws Problem `too_many_status_pages`
 */
export async function requireRoom(scope: Scope, tx: Transaction, workspaceId: number): Promise<void> {
  const { ofWorkspace } = statusPageLimits;
  if ((await lockCount(scope, tx, workspaceId)) < ofWorkspace) return;
  throw new Problem('too_many_status_pages', `the workspace has ${ofWorkspace} status pages; delete one first`);
}

/**
 * Requires that what items name is in the workspace; it stays until the transaction ends.
 * @throws Problem `not_found` that names each by its place
 */
export async function requireSubjects(
  tx: Transaction,
  workspaceId: number,
  items: readonly ItemValues[],
  field: 'items' | 'monitor_ids' = 'items',
): Promise<void> {
  const named = namedBy(items, field);
  requireFound(workspaceId, named, await missingOf(tx, workspaceId, named));
}
