import { countMembers } from './incident-state.ts';
import type { IncidentState, MemberResolution, MemberState, Message, Told } from './incident-state.ts';

/** Later members update an incident with at most one message in so long. */
const followUpEveryMs = 60_000;

const mostTitle = 200;

export type Settled = { readonly incident: IncidentState; readonly messages: readonly Message[] };

/**
 * Brings an incident to what its members say, and decides what is told of it now. Doing it again changes nothing and tells nothing.
 * @param isHeld whether a maintenance covers all that lasts of it
 */
export function settle(before: IncidentState, nowMs: number, isHeld: boolean): Settled {
  if (before.foldedInto !== null) return { incident: before, messages: [] };
  const incident = stateOf(before);
  const { told, messages } = whatIsTold(before, incident, nowMs, isHeld);
  return { incident: { ...incident, told: countMessages(told, messages, incident, nowMs) }, messages };
}

const isOpen = (member: MemberState): boolean => member.endedMs === null;

function stateOf(before: IncidentState): IncidentState {
  if (before.isManual || before.members.length === 0) return before;
  const startedMs = Math.min(...before.members.map((member) => member.startedMs));
  const incident = {
    ...before,
    startedMs,
    title: before.hasOwnTitle ? before.title : titleOfMany(before.members, before.unlisted.subjects),
  };
  // What somebody has resolved stays so; the end is theirs.
  if (before.resolution === 'manual') return { ...incident, resolvedMs: Math.max(startedMs, before.resolvedMs ?? 0) };
  if (before.members.some(isOpen)) {
    return { ...incident, status: before.isAcknowledged ? 'acknowledged' : 'open', resolution: null, resolvedMs: null };
  }
  const resolvedMs = Math.max(startedMs, ...before.members.map((member) => member.endedMs ?? 0));
  return { ...incident, status: 'resolved', resolution: resolutionOf(before.members), resolvedMs };
}

/** How it ended is how its last member did; what turned out to be no outage says nothing where another was one. */
function resolutionOf(members: readonly MemberState[]): MemberResolution {
  const real = members.filter(({ resolution }) => resolution !== 'corrected');
  if (real.length === 0) return 'corrected';
  const last = real.reduce((latest, member) => ((member.endedMs ?? 0) > (latest.endedMs ?? 0) ? member : latest));
  return last.resolution ?? 'auto';
}

function whatIsTold(
  before: IncidentState,
  after: IncidentState,
  nowMs: number,
  isHeld: boolean,
): { readonly told: Told; readonly messages: readonly Message[] } {
  const { told } = before;
  if (after.isDeleted) return toldOfRecovery(after, { ...told, heldMs: null });
  if (after.resolution === 'manual' && !after.isManual) return toldOfRecovery(after, told);
  return after.status === 'resolved'
    ? toldOfEnd(before, after, nowMs, isHeld)
    : toldOfOpen(before, after, nowMs, isHeld);
}

/** What is told of an incident that a person has ended or removed: the recovery of what still failed then. */
function toldOfRecovery(after: IncidentState, told: Told) {
  const isEnded = !after.members.some(isOpen);
  // That nobody looks any more, by a pause or a deletion, is no recovery.
  const end = resolutionOf(after.members);
  const isRecovered = told.awaitsRecovery && isEnded && (end === 'auto' || end === 'corrected');
  return {
    told: { ...told, dueMs: null, awaitsRecovery: told.awaitsRecovery && !isEnded },
    messages: isRecovered ? ([{ kind: 'recovered' }] as const) : [],
  };
}

function toldOfOpen(before: IncidentState, after: IncidentState, nowMs: number, isHeld: boolean) {
  const { told } = before;
  const isDue = told.dueMs !== null && told.dueMs <= nowMs;
  if (told.seq === 0) {
    if (!isDue) return { told, messages: [] };
    if (isHeld) return { told: { ...told, dueMs: null, heldMs: told.heldMs ?? nowMs }, messages: [] };
    return { told, messages: [{ kind: 'opened' }] as const };
  }
  if (before.status === 'resolved') return { told, messages: [{ kind: 'updated', reason: 'reopened' }] as const };
  if (countMembers(after) <= told.members) return { told: { ...told, dueMs: null }, messages: [] };
  const dueMs = told.dueMs ?? Math.max(nowMs, (told.atMs ?? 0) + followUpEveryMs);
  if (dueMs > nowMs) return { told: { ...told, dueMs }, messages: [] };
  // Who joins inside of a maintenance is no news while that lasts.
  if (isHeld) return { told: { ...told, dueMs: nowMs + followUpEveryMs }, messages: [] };
  return { told, messages: [{ kind: 'updated', reason: 'members' }] as const };
}

function toldOfEnd(before: IncidentState, after: IncidentState, nowMs: number, isHeld: boolean) {
  const { told } = before;
  const quiet = { ...told, dueMs: null };
  if (before.status === 'resolved') return { told: quiet, messages: [] };
  if (told.seq > 0) return { told: quiet, messages: [{ kind: 'resolved' }] as const };
  // It was never told: what was no outage need not be, what a maintenance holds is part of its all-clear.
  if (told.dueMs === null || after.resolution === 'corrected') return { told: quiet, messages: [] };
  if (isHeld) return { told: { ...quiet, heldMs: told.heldMs ?? nowMs }, messages: [] };
  return { told: quiet, messages: [{ kind: 'opened' }, { kind: 'resolved' }] as const };
}

/** Notes what was told. */
function countMessages(told: Told, messages: readonly Message[], incident: IncidentState, nowMs: number): Told {
  if (messages.length === 0) return told;
  return {
    ...told,
    seq: told.seq + messages.length,
    atMs: nowMs,
    members: countMembers(incident),
    dueMs: null,
    heldMs: null,
  };
}

/** Names what failed first, and how many others did: "Shop is down, and 49 more". At most 200 characters. */
export function titleOfMany(members: readonly MemberState[], unlistedSubjects = 0): string {
  const [first] = members.toSorted((a, b) => a.startedMs - b.startedMs || (a.subject < b.subject ? -1 : 1));
  const others = new Set(members.map(({ subject }) => subject)).size - 1 + unlistedSubjects;
  const title = first?.title ?? '';
  if (others <= 0) return title;
  const more = `, and ${others} more`;
  const characters = Array.from(title);
  const room = mostTitle - more.length;
  return (characters.length > room ? `${characters.slice(0, room - 1).join('')}…` : title) + more;
}
