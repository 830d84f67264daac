import type { IncidentState, MemberState } from './incident-state.ts';
import { noneUnlisted, untold } from './incident-state.ts';
import { settle } from './settle.ts';
import type { Settled } from './settle.ts';

/** A group waits so long before its first message, so that what fails together is told together. */
const gatheringMs = 3_000;

/** An outage that begins. */
export type DownEdge = Pick<MemberState, 'subject' | 'title' | 'startedMs' | 'windowMs'> & {
  /** Of its cause; null: it folds with nothing. */
  readonly key: string | null;
  /** Told at once: a job that says itself that it has failed. */
  readonly isUrgent: boolean;
};

/** An incident that took outages in, as it is with them. */
export type Taken<Edge extends DownEdge = DownEdge> = Settled & {
  readonly isNew: boolean;
  readonly edges: readonly Edge[];
};

export type Folded<Edge extends DownEdge = DownEdge> = {
  readonly taken: readonly Taken<Edge>[];
  /** Incidents that turned out to be part of others (`foldedInto`), as they are without their members; in the order in which that is to be done. */
  readonly merged: readonly Settled[];
};

/** An incident while outages join it: as it was, and as it is so far. */
type Gathering<Edge extends DownEdge> = {
  readonly before: IncidentState;
  readonly isNew: boolean;
  readonly state: IncidentState;
  readonly edges: readonly Edge[];
};

/**
 * Decides which incidents outages of one workspace belong to: the one of the same cause with a member whose onset is near, else a new one. Incidents
 * that an outage is a link between become one, the oldest; so incidents are what is connected by nearness, in whatever order and however many at a
 * time the outages become known. One that a person has resolved takes nobody in. Of each incident is told once what all of them make of it.
 * @param incidents those of the workspace with the keys; others do no harm. Where an outage is a link between several, with all of their members
 */
export function fold<Edge extends DownEdge>(
  incidents: readonly IncidentState[],
  edges: readonly Edge[],
  now: {
    readonly nowMs: number;
    /** For the first that is new; the next ones count on. Above those of all others. */
    readonly newId: number;
    /** Whether a maintenance covers all of these subjects. */
    readonly isHeld: (subjects: readonly string[]) => boolean;
  },
): Folded<Edge> {
  let newId = now.newId;
  const parts = new Map<number, Gathering<Edge>>(
    incidents.map((incident) => [incident.id, { before: incident, isNew: false, state: incident, edges: [] }]),
  );
  const merged: Settled[] = [];
  for (const edge of edges) {
    const [target, ...others] = takersOf(
      [...parts.values()].map(({ state }) => state),
      edge,
    ).flatMap(({ id }) => parts.get(id) ?? []);
    const into = target ?? newGathering<Edge>(edge, now.nowMs, newId);
    if (target === undefined) newId += 1;
    for (const other of others) {
      parts.delete(other.before.id);
      if (!other.isNew) merged.push(foldInto(other.before, into.before.id, now.nowMs));
    }
    parts.set(into.before.id, {
      ...into,
      state: joined([into, ...others].map(({ state }) => state) as [IncidentState, ...IncidentState[]], edge),
      edges: [...into.edges, ...others.flatMap((other) => other.edges), edge],
    });
  }
  const changed = [...parts.values()].filter((part) => part.edges.length > 0);
  return { taken: changed.map((part) => settled(part, now)), merged };
}

/** Incidents that an outage belongs to, oldest first; with several it is a link between them. */
const takersOf = (incidents: readonly IncidentState[], edge: DownEdge): IncidentState[] =>
  edge.key === null ? [] : incidents.filter((one) => mayTake(one, edge)).toSorted((a, b) => a.id - b.id);

/** Incidents as one, with an outage that lasts. */
function joined(incidents: readonly [IncidentState, ...IncidentState[]], edge: DownEdge): IncidentState {
  const [into] = incidents;
  const { subject, title, startedMs, windowMs } = edge;
  return {
    ...into,
    // What a person has resolved takes nobody in, so this one is open from now on.
    status: into.status === 'resolved' ? 'open' : into.status,
    members: [
      ...incidents.flatMap(({ members }) => members),
      { subject, title, startedMs, windowMs, endedMs: null, resolution: null },
    ],
    unlisted: {
      outages: incidents.reduce((sum, one) => sum + one.unlisted.outages, 0),
      subjects: incidents.reduce((sum, one) => sum + one.unlisted.subjects, 0),
    },
  };
}

function settled<Edge extends DownEdge>(
  { before, state, isNew, edges }: Gathering<Edge>,
  now: { readonly nowMs: number; readonly isHeld: (subjects: readonly string[]) => boolean },
): Taken<Edge> {
  const { members, unlisted } = state;
  const isUrgent = edges.some((edge) => edge.isUrgent);
  const dueMs = before.told.dueMs !== null && isUrgent ? now.nowMs : before.told.dueMs;
  const lasting = members.filter(({ endedMs }) => endedMs === null).map(({ subject }) => subject);
  const told = { ...before.told, dueMs };
  return { ...settle({ ...before, members, unlisted, told }, now.nowMs, now.isHeld(lasting)), isNew, edges };
}

function mayTake(incident: IncidentState, edge: DownEdge): boolean {
  if (edge.key === null || incident.key !== edge.key) return false;
  if (incident.isManual || incident.isDeleted || incident.foldedInto !== null) return false;
  const isThere =
    incident.status !== 'resolved' ||
    // It was open when this began, and merely became known earlier.
    (incident.resolution === 'auto' && (incident.resolvedMs ?? 0) > edge.startedMs);
  return isThere && incident.members.some((member) => areNear(member, edge));
}

/** Two onsets belong together when they are within the wider of the two windows, so which of them is known first does not matter. */
const areNear = (
  one: Pick<MemberState, 'startedMs' | 'windowMs'>,
  other: Pick<MemberState, 'startedMs' | 'windowMs'>,
): boolean => Math.abs(one.startedMs - other.startedMs) <= Math.max(one.windowMs, other.windowMs);

/** How near onsets must be for a subject that is looked at so often, in milliseconds: max(60 s, 2 × its interval). */
export const windowOf = (intervalSeconds: number): number => Math.max(60, 2 * intervalSeconds) * 1_000;

function newGathering<Edge extends DownEdge>(edge: DownEdge, nowMs: number, id: number): Gathering<Edge> {
  const state: IncidentState = {
    id,
    key: edge.key,
    title: edge.title,
    hasOwnTitle: false,
    status: 'open',
    resolution: null,
    isAcknowledged: false,
    isManual: false,
    isDeleted: false,
    startedMs: edge.startedMs,
    resolvedMs: null,
    foldedInto: null,
    members: [],
    unlisted: noneUnlisted,
    // What folds with nothing need not wait for company.
    told: { ...untold, dueMs: edge.isUrgent || edge.key === null ? nowMs : nowMs + gatheringMs },
  };
  return { before: state, isNew: true, state, edges: [] };
}

function foldInto(other: IncidentState, into: number, nowMs: number): Settled {
  const isOver = other.status === 'resolved';
  const wasTold = other.told.seq > 0 && !isOver;
  return {
    incident: {
      ...other,
      status: 'resolved',
      resolution: 'folded',
      resolvedMs: other.resolvedMs ?? Math.max(other.startedMs, nowMs),
      foldedInto: into,
      members: [],
      unlisted: noneUnlisted,
      told: {
        ...other.told,
        seq: other.told.seq + (wasTold ? 1 : 0),
        dueMs: null,
        heldMs: null,
        awaitsRecovery: false,
      },
    },
    messages: wasTold ? [{ kind: 'resolved' }] : [],
  };
}
