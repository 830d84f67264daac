import { Problem, scheduledReportLimits } from '@parallax/api-contract';
import type { ScheduledReport } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { recordAudit } from '../../identity/audit/index.ts';
import type { AuditEvent } from '../../identity/audit/index.ts';
import { requireConfirmedAddress } from '../../identity/unconfirmed/index.ts';
import { scheduledReportsSubject } from '../../platform/bus/subjects.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { inScope } from '../../platform/database/scope.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { etagOf, requireMatch } from '../../platform/http/etag.ts';
import type { RequestFacts } from '../../platform/http/handler.ts';
import { askNewReaders } from '../../response/channels/index.ts';
import { findReport, lockCount, lockReport } from './queries.ts';
import { recipientsOf } from './recipients.queries.ts';
import { answerOf } from './row.ts';
import type { Recipient, ReportRow } from './row.ts';
import type { StoredRecipient } from './values.ts';

export type Actor = { readonly caller: Caller; readonly request: RequestFacts };

/** What a change was, for the audit log. */
export type Done = {
  readonly action: string;
  readonly detail?: AuditEvent['detail'];
  /** It lists recipients of whom some may be new: their readers are asked. */
  readonly recipients?: readonly StoredRecipient[];
};

/** There is no such report, or it is another's. */
export function noReport(id: number): Problem {
  return new Problem('not_found', `there is no scheduled report ${id}`);
}

/**
 * Changes a report in one transaction: locked, by an editor of its workspace, in the version that `If-Match` names, and recorded.
 * @param work writes; null when there was nothing to change
 * @returns the report as it is afterwards, null when it is gone
 * @throws Problem `not_found`, `forbidden`, `version_mismatch`
 */
export async function changeReport(
  context: Context,
  actor: Actor,
  id: number,
  work: (scope: Scope, tx: Transaction, row: ReportRow) => Promise<Done | null>,
): Promise<ReportRow | null> {
  const scope = scopeOf(actor.caller);
  const { row, done } = await inScope(context.database.api, scope, async (tx) => {
    const before = await lockReport(scope, tx, id);
    if (before === null) throw noReport(id);
    requireRole(actor.caller, before.workspace_id, 'editor');
    requireMatch(actor.request.header('if-match'), before.version);
    const made = await work(scope, tx, before);
    if (made !== null) await record(tx, actor, before, made);
    return { row: await findReport(scope, tx, id), done: made };
  });
  if (done !== null) context.bus.hint(scheduledReportsSubject, {});
  if (row !== null && done?.recipients !== undefined) await askReaders(context, scope, row, done.recipients);
  return row;
}

/**
 * Asks readers whom a report names and nobody has asked, on behalf of its owner. Who is not its owner adds nobody.
 */
export async function askReaders(
  context: Context,
  scope: Scope,
  row: ReportRow,
  recipients: readonly StoredRecipient[],
): Promise<void> {
  if (row.owner_id !== scope.userId) return;
  const targets = recipients.flatMap(({ address }) =>
    address === null ? [] : [{ channel: 'email', target: address }],
  );
  await askNewReaders(context, scope, targets);
}

/**
 * Requires that the caller may have reports mailed to those whom it lists.
 * @throws Problem `address_unconfirmed`
 */
export async function requireMayMail(
  context: Context,
  caller: Caller,
  recipients: readonly StoredRecipient[],
): Promise<void> {
  if (recipients.every(({ address }) => address === null)) return;
  await requireConfirmedAddress(context, caller, 'reports are mailed');
}

/**
 * Holds a workspace to the number of reports that it may have.
 * @throws Problem `too_many_scheduled_reports`
 */
export async function requireRoom(scope: Scope, tx: Transaction, workspaceId: number): Promise<void> {
  const { ofWorkspace } = scheduledReportLimits;
  if ((await lockCount(scope, tx, workspaceId)) < ofWorkspace) return;
  throw new Problem(
    'too_many_scheduled_reports',
    `the workspace has ${ofWorkspace} scheduled reports; delete one first`,
  );
}

/** A report that the caller may read. @throws Problem `not_found` */
export async function readReport(context: Context, caller: Caller, id: number): Promise<ReportRow> {
  const scope = scopeOf(caller);
  const row = await inScope(context.database.api, scope, (tx) => findReport(scope, tx, id));
  if (row === null) throw noReport(id);
  return row;
}

/** A report as its reader may see it, with its ETag. No transaction is open. */
export async function shown(context: Context, actor: Actor, row: ReportRow): Promise<ScheduledReport> {
  actor.request.reply.header('etag', etagOf(row.version));
  const [report] = await seenBy(context, actor.caller, [row]);
  if (report === undefined) throw new Error('a report was not made an answer of');
  return report;
}

/** Reports as a member may see them: addresses of recipients are masked for those who could not change them. */
export async function seenBy(context: Context, caller: Caller, rows: readonly ReportRow[]): Promise<ScheduledReport[]> {
  const recipients = await recipientsOf(
    context.database.worker,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => answerOf(row, recipients.get(row.id) ?? [], isMasked(caller, row.workspace_id)));
}

/** The present recipients of a report. No transaction of the API's pool is needed. */
export async function presentRecipients(context: Context, id: number): Promise<readonly Recipient[]> {
  return (await recipientsOf(context.database.worker, [id])).get(id) ?? [];
}

/** Whether addresses are masked for the caller. */
export function isMasked(caller: Caller, workspaceId: number): boolean {
  const role = caller.workspaces.get(workspaceId);
  if (role === undefined || role === 'viewer' || caller.readOnly) return true;
  return caller.scopes !== undefined && !caller.scopes.includes('scheduled-reports:write');
}

/** Writes the row of the audit log. */
export function record(
  tx: Transaction,
  { caller, request }: Actor,
  row: Pick<ReportRow, 'id' | 'workspace_id'>,
  { action, detail }: Done,
): Promise<void> {
  return recordAudit(tx, caller, request, {
    action,
    workspaceId: row.workspace_id,
    subjectType: 'scheduled_report',
    subjectId: row.id,
    ...(detail === undefined ? {} : { detail }),
  });
}
