import { Problem } from '@parallax/api-contract';
import type { WebhookCheck } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { recordAudit } from '../../identity/audit/index.ts';
import type { AuditEvent } from '../../identity/audit/index.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { inScope } from '../../platform/database/scope.ts';
import { maySignal, requireRole, scopeOf } from '../../platform/http/caller.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { etagOf, requireMatch } from '../../platform/http/etag.ts';
import type { RequestFacts } from '../../platform/http/handler.ts';
import { outboxSubject } from '../../platform/bus/subjects.ts';
import { answerOf } from './answer.ts';
import { findCheck, lockCheck } from './queries.ts';
import type { CheckRow } from './row.ts';
import { openSlug } from './seal.ts';

export type Actor = { readonly caller: Caller; readonly request: RequestFacts };

/** What a change was, for the audit log. */
export type Done = {
  readonly action: string;
  readonly detail?: AuditEvent['detail'];
  /** Something was written into the outbox. */
  readonly isTold?: boolean;
};

/** There is no such check, or it is another's. */
export function noCheck(checkId: number): Problem {
  return new Problem('not_found', `there is no webhook check ${checkId}`);
}

/**
 * Changes a check in one transaction: locked, by an editor of its workspace, in the version that `If-Match` names, and recorded.
 * @param work writes; null when there was nothing to change
 * @returns the check as it is afterwards, undefined when it is gone; its ETag is set
 * @throws Problem `not_found`, `forbidden`, `version_mismatch`
 */
export async function changeCheck(
  context: Context,
  actor: Actor,
  checkId: number,
  work: (tx: Transaction, check: CheckRow) => Promise<Done | null>,
): Promise<WebhookCheck | undefined> {
  const scope = scopeOf(actor.caller);
  const { row, done } = await inScope(context.database.api, scope, async (tx) => {
    const before = await lockCheck(scope, tx, checkId);
    if (before === null) throw noCheck(checkId);
    requireRole(actor.caller, before.workspace_id, 'editor');
    requireMatch(actor.request.header('if-match'), before.version);
    const outcome = await work(tx, before);
    if (outcome !== null) await record(tx, actor, before, outcome);
    return { row: await findCheck(scope, tx, checkId), done: outcome };
  });
  if (done?.isTold === true) context.bus.hint(outboxSubject, {});
  return row === null ? undefined : shown(context, actor, row);
}

/** A check as its reader may see it, with its ETag. */
export function shown(context: Context, actor: Actor, row: CheckRow): WebhookCheck {
  actor.request.reply.header('etag', etagOf(row.version));
  return seenBy(context, actor.caller, row);
}

/** A check as a member may see it: whoever knows the URL may deliver to it, so viewers do not. */
export function seenBy(context: Context, caller: Caller, row: CheckRow): WebhookCheck {
  return answerOf(
    row,
    maySignal(caller, row.workspace_id) ? openSlug(context.sealer, row) : null,
    context.publicUrl,
    context.now(),
  );
}

/** Writes the row of the audit log. */
export function record(
  tx: Transaction,
  actor: Actor,
  check: Pick<CheckRow, 'id' | 'workspace_id'>,
  { action, detail }: Done,
): Promise<void> {
  return recordAudit(tx, actor.caller, actor.request, {
    action,
    workspaceId: check.workspace_id,
    subjectType: 'webhook_check',
    subjectId: check.id,
    ...(detail === undefined ? {} : { detail }),
  });
}
