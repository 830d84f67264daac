import { invalidInput, Problem } from '@parallax/api-contract';
import type { IncidentReport } from '@parallax/api-contract';
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
import { enqueue } from '../../../platform/outbox/enqueue.ts';
import { resolveByHand } from '../folding/by-hand.ts';
import { settle } from '../folding/settle.ts';
import { noIncident } from '../not-found.ts';
import { readIncident } from '../queries.ts';
import { messageEntry } from '../state/message-entry.ts';
import type { Announced } from '../state/message-entry.ts';
import { isHeld, lockIncidents } from '../state/queries.ts';
import { factsOf, writeIncident } from '../state/writing/queries.ts';
import {
  acknowledge,
  endManualMembers,
  isMember,
  knownComponents,
  lockIncident,
  nextMessage,
  noteResolver,
} from './queries.ts';
import type { LockedIncident, NewUpdate } from './queries.ts';

export type Actor = { readonly caller: Caller; readonly request: RequestFacts };

/** What was done, for the audit log; nothing where nothing had to be. */
export type Done = Pick<AuditEvent, 'action' | 'detail'> | null;

/** The same by other ways than a request of the API. */
export type Doer = {
  readonly caller: Caller;
  readonly request: Pick<RequestFacts, 'remoteAddress' | 'requestId' | 'header'>;
};

type Work = (scope: Scope, tx: Transaction, incident: LockedIncident) => Promise<Done>;

/**
 * Changes an incident in one transaction: locked, by an editor of its workspace, in the version that `If-Match` names, and recorded.
 * @returns the incident as it is afterwards, null when it is gone; its ETag is set
 * @throws Problem `not_found`, `forbidden`, `version_mismatch`
 */
export async function changing(
  context: Context,
  actor: Actor,
  incidentId: number,
  work: Work,
): Promise<IncidentReport | null> {
  const changed = await changingBy(context, actor, incidentId, work);
  if (changed !== null) actor.request.reply.header('etag', etagOf(changed.version));
  return changed;
}

async function changingBy(
  context: Context,
  actor: Doer,
  incidentId: number,
  work: Work,
): Promise<IncidentReport | null> {
  const scope = scopeOf(actor.caller);
  let workspaceId = 0;
  const changed = await inScope(context.database.api, scope, async (tx) => {
    const incident = await lockIncident(scope, tx, incidentId);
    if (incident === null) throw noIncident(incidentId);
    requireRole(actor.caller, incident.workspace_id, 'editor');
    requireMatch(actor.request.header('if-match'), incident.version);
    const done = await work(scope, tx, incident);
    if (done !== null) await record(tx, actor, incident, done);
    workspaceId = incident.workspace_id;
    return readIncident(tx, scope, incidentId);
  });
  context.bus.hint(outboxSubject, {});
  context.bus.hint(statusPagesSubject, { workspace_id: workspaceId });
  return changed;
}

/**
 * Acknowledges an incident as POST /incidents/{incident_id}/acknowledge does; one that is acknowledged stays as it is.
 * @throws Problem `not_found`, `forbidden`, `version_mismatch`, and `conflict` when it is resolved
 */
export async function acknowledgeIncident(context: Context, actor: Doer, incidentId: number): Promise<IncidentReport> {
  const changed = await changingBy(context, actor, incidentId, async (scope, tx) => {
    if (await acknowledge(tx, incidentId, actor.caller.userId)) {
      await announce(tx, incidentId, { kind: 'acknowledged' }, context.now());
      return { action: 'incident.acknowledged' };
    }
    const now = await readIncident(tx, scope, incidentId);
    if (now?.status !== 'resolved') return null;
    throw new Problem('conflict', `incident ${incidentId} is resolved; there is nothing to acknowledge`);
  });
  return present(changed, incidentId);
}

/** The incident as it is after a change. */
export function present(incident: IncidentReport | null, incidentId: number): IncidentReport {
  if (incident === null) throw noIncident(incidentId);
  return incident;
}

/** Writes the row of the audit log. */
export function record(
  tx: Transaction,
  { caller, request }: Doer,
  incident: Pick<LockedIncident, 'id' | 'workspace_id'>,
  done: NonNullable<Done>,
): Promise<void> {
  return recordAudit(tx, caller, request, {
    ...done,
    workspaceId: incident.workspace_id,
    subjectType: 'incident',
    subjectId: incident.id,
  });
}

/**
 * Announces what a person has done with an incident. Where its first message still waits for company, that goes before; where it is held back or
 * was found late, nobody knows of the incident, and nothing is said.
 * @returns the number of the message among those of the incident, null when nothing is said
 */
export async function announce(
  tx: Transaction,
  incidentId: number,
  message: Announced,
  nowMs: number,
): Promise<number | null> {
  const [waiting] = await lockIncidents(tx, [incidentId]);
  if (waiting === undefined) return null;
  const { told } = waiting;
  if (told.seq === 0 && told.dueMs !== null) {
    const due = { ...waiting, told: { ...told, dueMs: Math.min(told.dueMs, nowMs) } };
    const { incident, messages } = settle(due, nowMs, await isHeld(tx, waiting));
    await writeIncident(tx, incident, messages);
    if (incident.told.seq === 0) return null;
  } else if (told.seq === 0) {
    return null;
  }
  const seq = await nextMessage(tx, incidentId);
  const facts = await factsOf(tx, incidentId);
  if (facts === null) return null;
  await enqueue(tx, messageEntry(facts, message, seq));
  return seq;
}

/**
 * Acknowledges an incident for whoever has a link of a message about it: nobody is named. What is acknowledged or resolved already stays as it is.
 * @returns whether there was something to acknowledge
 */
export async function acknowledgeByLink(
  context: Context,
  request: Pick<RequestFacts, 'remoteAddress' | 'requestId'>,
  place: { readonly workspaceId: number; readonly incidentId: number },
): Promise<boolean> {
  const { workspaceId, incidentId } = place;
  const scope = { userId: null, workspaceIds: [workspaceId] };
  const isDone = await inScope(context.database.api, scope, async (tx) => {
    if ((await lockIncident(scope, tx, incidentId)) === null || !(await acknowledge(tx, incidentId, null)))
      return false;
    await announce(tx, incidentId, { kind: 'acknowledged' }, context.now());
    await recordAudit(tx, { kind: 'system', userId: null }, request, {
      action: 'incident.acknowledged',
      workspaceId,
      subjectType: 'incident',
      subjectId: incidentId,
      detail: { by: 'link' },
    });
    return true;
  });
  if (isDone) context.bus.hint(outboxSubject, {});
  return isDone;
}

/** By which message of its incident a resolution is told; null where nobody is told of it. */
export type Resolved = { readonly seq: number | null };

/** Resolves a locked incident by hand. @returns null when it was resolved before */
export async function resolve(
  tx: Transaction,
  incidentId: number,
  userId: number,
  nowMs: number,
): Promise<Resolved | null> {
  const [before] = await lockIncidents(tx, [incidentId]);
  if (before === undefined || before.status === 'resolved') return null;
  const { incident, messages } = resolveByHand(before, nowMs);
  await endManualMembers(tx, incidentId, incident.resolvedMs ?? nowMs);
  await noteResolver(tx, incidentId, userId);
  await writeIncident(tx, incident, messages);
  return { seq: messages.length > 0 ? incident.told.seq : null };
}

/** @throws Problem `invalid_input` for somebody who is no member of the workspace */
export async function requireAssignee(
  tx: Transaction,
  workspaceId: number,
  assigneeId: number | null | undefined,
): Promise<void> {
  if (assigneeId == null || (await isMember(tx, workspaceId, assigneeId))) return;
  const message = `the user ${assigneeId} is no member of workspace ${workspaceId}`;
  throw invalidInput('body', '/assignee_id', 'not_found', message);
}

/**
 * Requires that an update names components that there are, and a time that has been.
 * @param at.path of the update in the body, as a JSON pointer
 * @throws Problem `invalid_input`
 */
export async function requireSayable(
  tx: Transaction,
  workspaceId: number,
  { impacts = [], display_at: displayAt }: Pick<NewUpdate, 'impacts' | 'display_at'>,
  at: { readonly path: '' | '/update'; readonly nowMs: number },
): Promise<void> {
  if (displayAt != null && Date.parse(displayAt) > at.nowMs) {
    throw invalidInput('body', `${at.path}/display_at`, 'too_late', 'must not be in the future');
  }
  const named = impacts.map(({ component_id }) => component_id);
  const known = await knownComponents(tx, workspaceId, named);
  const missing = named.findIndex((id) => !known.has(id));
  if (missing === -1) return;
  const message = `no status page of workspace ${workspaceId} has a component ${named[missing]}`;
  throw invalidInput('body', `${at.path}/impacts/${missing}/component_id`, 'not_found', message);
}

/** There are too many updates. */
export function tooManyUpdates(most: number): Problem {
  return new Problem('conflict', `an incident has at most ${most} updates; open another one`);
}
