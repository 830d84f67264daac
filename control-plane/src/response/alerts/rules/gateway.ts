import { alertLimits, Problem } from '@parallax/api-contract';
import type { Alert } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { recordAudit } from '../../../identity/audit/index.ts';
import type { AuditEvent } from '../../../identity/audit/index.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { etagOf, requireMatch } from '../../../platform/http/etag.ts';
import type { RequestFacts } from '../../../platform/http/handler.ts';
import { askNewReaders, judgeTargets, maskTarget, unusableTargets } from '../../channels/index.ts';
import { verdictErrors, withRead } from '../target-check/verdict.ts';
import { answerOf } from './answer.ts';
import { findAlert, lockAlert, lockCount } from './queries.ts';
import type { AlertRow } from './row.ts';
import { placedTargets, requireNone } from './values.ts';
import type { AlertValues } from './values.ts';

export type Actor = { readonly caller: Caller; readonly request: RequestFacts };

/** What routes of alerts act with. */
export type RuleParts = Pick<
  Context,
  'database' | 'limits' | 'now' | 'publicUrl' | 'sealer' | 'isPublished' | 'channels'
>;

/** What a change was, for the audit log. */
export type Done = {
  readonly action: string;
  readonly detail?: AuditEvent['detail'];
  /** It names other targets: readers of mail among them whom nobody has asked are asked. */
  readonly hasNewTargets?: boolean;
};

/** There is no such alert, or it is another's. */
export function noAlert(id: number): Problem {
  return new Problem('not_found', `there is no alert ${id}`);
}

/**
 * Changes an alert in one transaction: locked, by an editor of its workspace, in the version that `If-Match` names, and recorded.
 * @param work writes; null when there was nothing to change
 * @returns the alert as it is afterwards, undefined when it is gone; its ETag is set
 * @throws Problem `not_found`, `forbidden`, `version_mismatch`
 */
export async function changeAlert(
  parts: RuleParts,
  actor: Actor,
  id: number,
  work: (scope: Scope, tx: Transaction, alert: AlertRow) => Promise<Done | null>,
): Promise<Alert | undefined> {
  const scope = scopeOf(actor.caller);
  const { after, done } = await inScope(parts.database.api, scope, async (tx) => {
    const before = await lockAlert(scope, tx, id);
    if (before === null) throw noAlert(id);
    requireRole(actor.caller, before.workspace_id, 'editor');
    requireMatch(actor.request.header('if-match'), before.version);
    const done = await work(scope, tx, before);
    if (done !== null) await record(tx, actor, before, done);
    return { after: await findAlert(scope, tx, id), done };
  });
  if (after !== null && done?.hasNewTargets === true) await askReadersOf(parts, scope, after);
  return after === null ? undefined : shown(parts, actor, after);
}

/** Asks readers whom an alert of the scope's user names and nobody has asked, as far as that may be at once. The alert stands, whatever becomes of it. */
export async function askReadersOf(parts: RuleParts, scope: Scope, row: AlertRow): Promise<void> {
  await askNewReaders(
    parts,
    scope,
    placedTargets(row).map(({ target }) => target),
  );
}

/** An alert as its reader may see it, with its ETag. No transaction is open. */
export async function shown(parts: Pick<RuleParts, 'database'>, actor: Actor, row: AlertRow): Promise<Alert> {
  actor.request.reply.header('etag', etagOf(row.version));
  const [alert] = await seenBy(parts, actor.caller, [row]);
  if (alert === undefined) throw new Error('an alert was not made an answer of');
  return alert;
}

/** Alerts as a member may see them, with what is known of their targets. No transaction is open. */
export async function seenBy(
  parts: Pick<RuleParts, 'database'>,
  caller: Caller,
  rows: readonly AlertRow[],
): Promise<Alert[]> {
  const owned = rows.map((row) => ({ row, targets: ownedTargets(row) }));
  const all = new Map(owned.flatMap(({ targets }) => [...targets]));
  const reasons = await unusableTargets(parts.database.worker, all);
  return owned.map(({ row, targets }) => {
    const unusable = [...targets].flatMap(([key, { target }]) => {
      const reason = reasons.get(key);
      return reason === undefined ? [] : [{ target, reason }];
    });
    return answerOf(row, { userId: caller.userId, mask: maskTarget }, unusable);
  });
}

/** Whom an alert tells when, as a member may see it. */
export function stepsSeenBy(caller: Caller, row: AlertRow): Alert['steps'] {
  return answerOf(row, { userId: caller.userId, mask: maskTarget }, []).steps;
}

/** The targets of an alert by what is known of them together: in whatever language and zone, each is one. */
function ownedTargets(row: AlertRow) {
  const { owner_id: ownerId, workspace_id: workspaceId } = row;
  return new Map(
    placedTargets(row).map(({ target }) => {
      const key = JSON.stringify([ownerId, workspaceId, target.channel, target.config_id, target.target]);
      return [key, { ownerId, workspaceId, target }] as const;
    }),
  );
}

/**
 * Has the channels judge the targets of values that the scope's user gives.
 * @param before the values whose targets are the user's already
 * @returns the values with targets in the form in which they are stored
 * @throws Problem `invalid_input` that names each target that cannot be
 */
export async function judged<Values extends Pick<AlertValues, 'steps' | 'failover'>>(
  parts: RuleParts,
  scope: Scope,
  tx: Transaction,
  values: Values,
  before?: Pick<AlertValues, 'steps' | 'failover'>,
): Promise<Values> {
  const placed = placedTargets(values);
  const verdicts = await judgeTargets(
    parts,
    scope,
    tx,
    placed.map(({ target }) => target),
    before === undefined ? [] : placedTargets(before).map(({ target }) => target),
  );
  requireNone(verdictErrors(placed, verdicts));
  return withRead(values, verdicts);
}

/**
 * Holds a workspace to the number of alerts that it may have.
 * @throws Problem `too_many_alerts`
 */
export async function requireRoom(scope: Scope, tx: Transaction, workspaceId: number): Promise<void> {
  if ((await lockCount(scope, tx, workspaceId)) < alertLimits.ofWorkspace) return;
  throw new Problem('too_many_alerts', `the workspace has ${alertLimits.ofWorkspace} alerts; delete one first`);
}

/** Writes the row of the audit log. */
export function record(
  tx: Transaction,
  { caller, request }: Actor,
  alert: Pick<AlertRow, 'id' | 'workspace_id'>,
  { action, detail }: Done,
): Promise<void> {
  return recordAudit(tx, caller, request, {
    action,
    workspaceId: alert.workspace_id,
    subjectType: 'alert',
    subjectId: alert.id,
    ...(detail === undefined ? {} : { detail }),
  });
}
