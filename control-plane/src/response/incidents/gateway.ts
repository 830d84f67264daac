import { codeOf, failurePhase, failuresBehind, readStored } from '../../monitoring/monitors/index.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { joinOccurrences } from '../maintenance/index.ts';
import { causeKey } from './folding/cause-key.ts';
import { fold, takersOf } from './folding/fold.ts';
import type { DownEdge } from './folding/fold.ts';
import { insertMember, moveMembers } from './members/queries.ts';
import type { StoredCause } from './members/queries.ts';
import { heldSubjects, insertIncident, lockIncidents, lockIncidentsOfCause, writeIncident } from './state/queries.ts';
import type { Subject } from './subject.ts';

/** An outage that begins, with whom it is of. */
export type Beginning = {
  readonly workspaceId: number;
  readonly subject: Subject;
  readonly name: string;
  readonly title: string;
  readonly startedMs: number;
  readonly windowMs: number;
  readonly key: string | null;
  readonly isUrgent: boolean;
  readonly cause: StoredCause;
};

/**
 * Writes an outage that begins into the incident that it belongs to, and announces what is due.
 * @throws when the subject has an open outage: the caller has looked, so somebody else was faster, and who tries again sees it
 */
export async function begin(transaction: Transaction, beginning: Beginning, nowMs: number): Promise<void> {
  const { workspaceId, subject, key } = beginning;
  const edge: DownEdge = { ...beginning, subject: `${subject.type}:${subject.id}` };
  const found = key === null ? [] : await lockIncidentsOfCause(transaction, workspaceId, key, { ...edge, of: subject });
  const takers = takersOf(found, edge);
  // Who has just become a member of what is covered is held from now on, though no job has looked yet.
  await joinOccurrences(transaction, nowMs, subject);
  const isEdgeHeld = (await heldSubjects(transaction, [edge.subject])).size > 0;
  // All of their members count where several become one, and where a maintenance may cover them all; else those that decide do.
  const isWhole = takers.length > 1 || (isEdgeHeld && takers.length > 0);
  const ids = takers.map(({ id }) => id);
  const near = isWhole ? await lockIncidents(transaction, ids) : takers;
  const lasting = near.flatMap(({ members }) => members.filter(({ endedMs }) => endedMs === null));
  const held = isEdgeHeld
    ? await heldSubjects(transaction, [edge.subject, ...lasting.map((member) => member.subject)])
    : new Set<string>();
  const folded = fold(near, edge, { nowMs, newId: 0, isHeld: (subjects) => subjects.every((one) => held.has(one)) });
  const id = folded.isNew
    ? await insertIncident(transaction, { ...beginning, detectedLate: false })
    : folded.incident.id;
  const isWritten = await insertMember(transaction, {
    ...beginning,
    incidentId: id,
    endedMs: null,
    windowSeconds: Math.round(beginning.windowMs / 1_000),
    detectedLate: false,
  });
  if (!isWritten) throw new Error(`${edge.subject} has an outage that lasts`);
  for (const { incident, messages } of folded.merged) {
    await moveMembers(transaction, incident.id, id);
    await writeIncident(transaction, incident, messages);
  }
  await writeIncident(transaction, { ...folded.incident, id }, folded.messages);
}

/** What an outage of a monitor has in common with others, from the evidence of its range and what was kept of the failures behind it. */
export async function causeKeyOf(
  transaction: Transaction,
  monitorId: number,
  startedMs: number,
  evidence: unknown,
): Promise<string | null> {
  const { voters } = readStored(evidence);
  const failing = voters.filter(({ vote }) => vote === 'DOWN' || vote === 'TIMEOUT');
  if (failing.length === 0) return null;
  const failures = await failuresBehind(transaction, monitorId, startedMs * 1_000, failing);
  return causeKey(
    voters.map((vote) => {
      const code = codeOf(vote);
      return {
        voter: vote.voter,
        vote: vote.vote,
        code,
        phase: failurePhase(code),
        evidence: failures.get(vote.voter)?.evidence,
      };
    }),
  );
}
