import { Problem } from '@parallax/api-contract';
import type { InputError, Maintenance } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { recordAudit } from '../../identity/audit/index.ts';
import type { AuditEvent } from '../../identity/audit/index.ts';
import { statusPagesSubject } from '../../platform/bus/subjects.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { inScope } from '../../platform/database/scope.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { etagOf, requireMatch } from '../../platform/http/etag.ts';
import type { RequestFacts } from '../../platform/http/handler.ts';
import { findMaintenance, lockMaintenance } from './queries.ts';
import { isWorkspaceThere } from './scope/queries.ts';

export type Actor = { readonly caller: Caller; readonly request: RequestFacts };

/** What a change was, for the audit log. */
export type Done = { readonly action: string; readonly detail?: AuditEvent['detail'] };

/** There is no such maintenance, or it is another's. */
export function noMaintenance(id: number): Problem {
  return new Problem('not_found', `there is no maintenance ${id}`);
}

/**
 * Asks the database for a workspace of which nothing else is read: the caller's role says the same, and either is to keep strangers out alone.
 * @throws Problem `not_found`
 */
export async function requireWorkspace(scope: Scope, tx: Transaction, workspaceId: number): Promise<void> {
  if (!(await isWorkspaceThere(scope, tx, workspaceId)))
    throw new Problem('not_found', `there is no workspace ${workspaceId}`);
}

/** A 422 for everything that is wrong with a body. */
export function invalidBody(errors: readonly InputError[]): Problem {
  return new Problem('invalid_input', errors[0]?.message ?? 'the body is not valid', { errors });
}

/**
 * Changes a maintenance in one transaction: locked, by an editor of its workspace, in the version that `If-Match` names; recorded.
 * @param work writes; null when there was nothing to change
 * @returns the maintenance as it is afterwards, undefined when it is gone; its ETag is set
 * @throws Problem `not_found`, `forbidden`, `version_mismatch`
 */
export async function changeMaintenance(
  context: Pick<Context, 'bus' | 'database'>,
  actor: Actor,
  id: number,
  work: (tx: Transaction, maintenance: Maintenance) => Promise<Done | null>,
): Promise<Maintenance | undefined> {
  const scope = scopeOf(actor.caller);
  let workspaceId = 0;
  const after = await inScope(context.database.api, scope, async (tx) => {
    const before = await lockMaintenance(scope, tx, id);
    if (before === null) throw noMaintenance(id);
    requireRole(actor.caller, before.workspace_id, 'editor');
    requireMatch(actor.request.header('if-match'), before.version);
    const done = await work(tx, before);
    if (done !== null) await record(tx, actor, before, done);
    workspaceId = before.workspace_id;
    return findMaintenance(scope, tx, id);
  });
  context.bus.hint(statusPagesSubject, { workspace_id: workspaceId });
  if (after === null) return undefined;
  actor.request.reply.header('etag', etagOf(after.version));
  return after;
}

/** Writes the row of the audit log. */
export function record(
  tx: Transaction,
  { caller, request }: Actor,
  maintenance: Pick<Maintenance, 'id' | 'workspace_id'>,
  { action, detail }: Done,
): Promise<void> {
  return recordAudit(tx, caller, request, {
    action,
    workspaceId: maintenance.workspace_id,
    subjectType: 'maintenance',
    subjectId: maintenance.id,
    ...(detail === undefined ? {} : { detail }),
  });
}
