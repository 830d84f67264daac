import { Problem } from '@parallax/api-contract';
import type { Webhook } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { recordAudit } from '../../identity/audit/index.ts';
import type { AuditEvent } from '../../identity/audit/index.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { inScope } from '../../platform/database/scope.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { etagOf, requireMatch } from '../../platform/http/etag.ts';
import type { RequestFacts } from '../../platform/http/handler.ts';
import { findWebhook, lockWebhook } from './queries.ts';
import { answerOf } from './row.ts';
import type { WebhookRow } from './row.ts';
import { openSecrets } from './seal.ts';

export type Actor = { readonly caller: Caller; readonly request: RequestFacts };

/** What a change was, for the audit log. */
export type Done = { readonly action: string; readonly detail?: AuditEvent['detail'] };

/** There is no such webhook, or it is another's. */
export function noWebhook(id: number): Problem {
  return new Problem('not_found', `there is no webhook ${id}`);
}

/**
 * Changes a webhook in one transaction: locked, by an editor of its workspace, in the version that `If-Match` names, and recorded.
 * @param work writes; null when there was nothing to change
 * @returns the webhook as it is afterwards, undefined when it is gone; its ETag is set
 * @throws Problem `not_found`, `forbidden`, `version_mismatch`
 */
export async function changeWebhook(
  context: Context,
  actor: Actor,
  id: number,
  work: (scope: Scope, tx: Transaction, row: WebhookRow) => Promise<Done | null>,
): Promise<WebhookRow | null> {
  const scope = scopeOf(actor.caller);
  return inScope(context.database.api, scope, async (tx) => {
    const before = await lockWebhook(scope, tx, id);
    if (before === null) throw noWebhook(id);
    requireRole(actor.caller, before.workspace_id, 'editor');
    requireMatch(actor.request.header('if-match'), before.version);
    const done = await work(scope, tx, before);
    if (done !== null) await record(tx, actor, before, done);
    return findWebhook(scope, tx, id);
  });
}

/** A webhook that the caller may read. @throws Problem `not_found` */
export async function readWebhook(context: Context, caller: Caller, id: number): Promise<WebhookRow> {
  const scope = scopeOf(caller);
  const row = await inScope(context.database.api, scope, (tx) => findWebhook(scope, tx, id));
  if (row === null) throw noWebhook(id);
  return row;
}

/** A webhook as its reader may see it, with its ETag. */
export function shown(context: Context, actor: Actor, row: WebhookRow): Webhook {
  actor.request.reply.header('etag', etagOf(row.version));
  return seenBy(context, actor.caller, row);
}

/** A webhook as a member may see it: its address often holds a key, so viewers see the origin. */
export function seenBy(context: Context, caller: Caller, row: WebhookRow): Webhook {
  const url = mayChange(caller, row.workspace_id) ? openSecrets(context.sealer, row.id, row.sealed).url : null;
  return answerOf(row, url, context.now());
}

/** Whether the caller could change webhooks of a workspace. */
export function mayChange(caller: Caller, workspaceId: number): boolean {
  const role = caller.workspaces.get(workspaceId);
  if (role === undefined || role === 'viewer' || caller.readOnly) return false;
  return caller.scopes === undefined || caller.scopes.includes('webhooks:write');
}

/** Writes the row of the audit log. */
export function record(
  tx: Transaction,
  { caller, request }: Actor,
  row: Pick<WebhookRow, 'id' | 'workspace_id'>,
  { action, detail }: Done,
): Promise<void> {
  return recordAudit(tx, caller, request, {
    action,
    workspaceId: row.workspace_id,
    subjectType: 'webhook',
    subjectId: row.id,
    ...(detail === undefined ? {} : { detail }),
  });
}
