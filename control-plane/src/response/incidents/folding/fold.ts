import type { IncidentState, MemberState, Message } from './incident-state.ts';
import { noneUnlisted, untold } from './incident-state.ts';
import { settle } from './settle.ts';

/** A group waits so long before its first message, so that what fails together is told together. */
const gatheringMs = 3_000;

/** An outage that begins. */
export type DownEdge = Pick<MemberState, 'subject' | 'title' | 'startedMs' | 'windowMs'> & {
  /** Of its cause; null: it folds with nothing. */
  readonly key: string | null;
  /** Told at once: a job that says itself that it has failed. */
  readonly isUrgent: boolean;
};

export type Folded = {
  /** The incident that the outage belongs to, as it is with it. */
  readonly incident: IncidentState;
  readonly isNew: boolean;
  readonly messages: readonly Message[];
  /** Incidents that turned out to be part of it, as they are without their members. */
  readonly merged: readonly { readonly incident: IncidentState; readonly messages: readonly Message[] }[];
};

/**
 * Decides which incident an outage belongs to: the one of the same cause with a member whose onset is near, else a new one. Incidents that it
 * is a link between become one, the oldest; so incidents are what is connected by nearness, in whatever order the outages become known. One that
 * a person has resolved takes nobody in.
 * @param incidents those of the workspace with the key; others do no harm. Where it is a link between several, with all of their members
 * @param newId for one that is new
 */
export function fold(
  incidents: readonly IncidentState[],
  edge: DownEdge,
  now: {
    readonly nowMs: number;
    readonly newId: number;
    /** Whether a maintenance covers all of these subjects. */
    readonly isHeld: (subjects: readonly string[]) => boolean;
  },
): Folded {
  const near = takersOf(incidents, edge);
  const [target, ...others] = near;
  const member: MemberState = {
    subject: edge.subject,
    title: edge.title,
    startedMs: edge.startedMs,
    endedMs: null,
    resolution: null,
    windowMs: edge.windowMs,
  };
  const into = target ?? newIncident(edge, now);
  const members = [...into.members, ...others.flatMap((other) => other.members), member];
  const dueMs = into.told.dueMs === null ? null : edge.isUrgent ? now.nowMs : into.told.dueMs;
  const unlisted = {
    outages: near.reduce((sum, one) => sum + one.unlisted.outages, 0),
    subjects: near.reduce((sum, one) => sum + one.unlisted.subjects, 0),
  };
  const joined = { ...into, members, unlisted, told: { ...into.told, dueMs } };
  return {
    ...settle(joined, now.nowMs, now.isHeld(lastingSubjects(joined))),
    isNew: target === undefined,
    merged: others.map((other) => foldInto(other, into.id, now.nowMs)),
  };
}

/** Incidents that an outage belongs to, oldest first; with several it is a link between them. */
export const takersOf = (incidents: readonly IncidentState[], edge: DownEdge): IncidentState[] =>
  incidents.filter((incident) => mayTake(incident, edge)).toSorted((a, b) => a.id - b.id);

/** Subjects of an incident that still fail. */
const lastingSubjects = ({ members }: IncidentState): string[] =>
  members.filter(({ endedMs }) => endedMs === null).map(({ subject }) => subject);

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

function newIncident(
  edge: DownEdge,
  { nowMs, newId }: { readonly nowMs: number; readonly newId: number },
): IncidentState {
  return {
    id: newId,
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
}

function foldInto(other: IncidentState, into: number, nowMs: number): Folded['merged'][number] {
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
