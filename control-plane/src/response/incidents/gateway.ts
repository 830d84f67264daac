import { codeOf, evidenceBehind, failurePhase, readStored } from '../../monitoring/monitors/index.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { joinOccurrences } from '../maintenance/index.ts';
import { causeKey } from './folding/cause-key.ts';
import { fold } from './folding/fold.ts';
import type { DownEdge, Folded } from './folding/fold.ts';
import type { IncidentState } from './folding/incident-state.ts';
import { insertMembers, moveMembers } from './members/queries.ts';
import type { StoredCause } from './members/queries.ts';
import type { Onset } from './state/decisive/queries.ts';
import { heldSubjects, incidentsOfCauses, lockIncidents } from './state/queries.ts';
import { insertIncidents, writeIncidents } from './state/writing/queries.ts';
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

/** An outage as folding sees it. */
type Edge = DownEdge & { readonly beginning: Beginning };

/** Above the numbers of all incidents: those of such as are not written yet. */
const newIds = 2 ** 32;

/**
 * Writes outages that begin, of different subjects, into the incidents that they belong to, and announces what is due.
 * @throws when a subject has an open outage: the caller has looked, so somebody else was faster, and who tries again sees it
 */
export async function begin(transaction: Transaction, beginnings: readonly Beginning[], nowMs: number): Promise<void> {
  if (beginnings.length === 0) return;
  const edges = beginnings.map(edgeOf);
  const onsets = beginnings.flatMap(onsetsOf);
  const workspaces = await incidentsOfCauses(transaction, onsets);
  const ids = [...workspaces.keys()];
  const found = await lockIncidents(transaction, ids, onsets);
  // Who has just become a member of what is covered is held from now on, though no job has looked yet.
  await joinOccurrences(
    transaction,
    nowMs,
    beginnings.map(({ subject }) => subject),
  );
  const held = await heldSubjects(
    transaction,
    edges.map(({ subject }) => subject),
  );
  const folded = foldAll(edges, found, workspaces, held, nowMs);
  const mayBeHeld = folded.taken.some((one) => !one.isNew && one.edges.every(({ subject }) => held.has(subject)));
  // All of their members count where several become one, and where a maintenance may cover them all; else those that decide do.
  if (folded.merged.length === 0 && !mayBeHeld) return write(transaction, folded);
  const whole = await lockIncidents(transaction, ids);
  const lasting = whole.flatMap(({ members }) => members.filter(({ endedMs }) => endedMs === null));
  const heldNow = await heldSubjects(transaction, [...new Set([...edges, ...lasting].map(({ subject }) => subject))]);
  await write(transaction, foldAll(edges, whole, workspaces, heldNow, nowMs));
}

function edgeOf(beginning: Beginning): Edge {
  const { subject, title, startedMs, windowMs, key, isUrgent } = beginning;
  return { subject: `${subject.type}:${subject.id}`, title, startedMs, windowMs, key, isUrgent, beginning };
}

function onsetsOf({ workspaceId, key, subject, startedMs, windowMs }: Beginning): Onset[] {
  return key === null ? [] : [{ workspaceId, key, of: subject, startedMs, windowMs }];
}

/** Each workspace by itself. */
function foldAll(
  edges: readonly Edge[],
  found: readonly IncidentState[],
  workspaces: ReadonlyMap<number, number>,
  held: ReadonlySet<string>,
  nowMs: number,
): Folded<Edge> {
  const isHeld = (subjects: readonly string[]): boolean => subjects.every((one) => held.has(one));
  const ofWorkspace = Map.groupBy(found, ({ id }) => workspaces.get(id));
  let newId = newIds;
  const folded = [...Map.groupBy(edges, ({ beginning }) => beginning.workspaceId)].map(([workspaceId, own]) => {
    const one = fold(ofWorkspace.get(workspaceId) ?? [], own, { nowMs, newId, isHeld });
    newId += own.length;
    return one;
  });
  return { taken: folded.flatMap(({ taken }) => taken), merged: folded.flatMap(({ merged }) => merged) };
}

async function write(transaction: Transaction, { taken, merged }: Folded<Edge>): Promise<void> {
  const made = taken.filter(({ isNew }) => isNew);
  const ids = await insertIncidents(
    transaction,
    made.flatMap(({ incident: { title, startedMs, key }, edges: [edge] }) =>
      edge === undefined ? [] : { workspaceId: edge.beginning.workspaceId, title, startedMs, key, detectedLate: false },
    ),
  );
  const numbers = new Map(made.map(({ incident }, index) => [incident.id, ids[index] ?? incident.id]));
  const idOf = ({ id }: IncidentState): number => numbers.get(id) ?? id;
  const members = taken.flatMap(({ incident, edges }) =>
    edges.map(({ beginning }) => ({
      ...beginning,
      incidentId: idOf(incident),
      endedMs: null,
      windowSeconds: Math.round(beginning.windowMs / 1_000),
      detectedLate: false,
    })),
  );
  const written = await insertMembers(transaction, members);
  if (written < members.length) throw new Error('a subject has an outage that lasts');
  for (const { incident } of merged) {
    if (incident.foldedInto !== null) await moveMembers(transaction, incident.id, incident.foldedInto);
  }
  await writeIncidents(transaction, [
    ...merged,
    ...taken.map(({ incident, messages }) => ({ incident: { ...incident, id: idOf(incident) }, messages })),
  ]);
}

/** An outage whose cause is asked for. */
export type Unexplained = { readonly monitorId: number; readonly startedMs: number; readonly evidence: unknown };

/**
 * What outages of different monitors have in common with others, from the evidence of their ranges and what was kept of the failures behind them; by
 * monitor, null when nothing tells.
 */
export async function causeKeysOf(
  transaction: Transaction,
  outages: readonly Unexplained[],
): Promise<ReadonlyMap<number, string | null>> {
  const explained = outages.map(({ monitorId, startedMs, evidence }) => {
    const { voters } = readStored(evidence);
    const votes = voters.filter(({ vote }) => vote === 'DOWN' || vote === 'TIMEOUT');
    return { monitorId, rangeStartedUs: startedMs * 1_000, voters, votes };
  });
  const kept = await evidenceBehind(transaction, explained);
  return new Map(
    explained.map(({ monitorId, voters }) => {
      const votes = voters.map((vote) => {
        const code = codeOf(vote);
        const evidence = kept.get(monitorId)?.get(vote.voter);
        return { voter: vote.voter, vote: vote.vote, code, phase: failurePhase(code), evidence };
      });
      return [monitorId, causeKey(votes)];
    }),
  );
}
