import { countMembers } from './incident-state.ts';
import type { IncidentState, Message } from './incident-state.ts';
import type { Settled } from './settle.ts';

/**
 * A person ends an incident. What still fails stays its member, so it opens no other; its recovery is told. Members that nobody measures end
 * with it. One that is resolved stays as it is.
 */
export function resolveByHand(before: IncidentState, nowMs: number): Settled {
  if (before.status === 'resolved') return { incident: before, messages: [] };
  const { told } = before;
  const messages: readonly Message[] =
    told.seq > 0 ? [{ kind: 'resolved' }] : told.dueMs === null ? [] : [{ kind: 'opened' }, { kind: 'resolved' }];
  const isTold = told.seq + messages.length > 0;
  return {
    incident: {
      ...before,
      status: 'resolved',
      resolution: 'manual',
      resolvedMs: Math.max(before.startedMs, nowMs),
      members: before.members.map((member) =>
        before.isManual && member.endedMs === null
          ? { ...member, endedMs: Math.max(member.startedMs, nowMs), resolution: 'manual' }
          : member,
      ),
      told: {
        ...told,
        seq: told.seq + messages.length,
        atMs: messages.length > 0 ? nowMs : told.atMs,
        members: countMembers(before),
        dueMs: null,
        heldMs: null,
        awaitsRecovery: isTold && !before.isManual && before.members.some((member) => member.endedMs === null),
      },
    },
    messages,
  };
}

/** What a maintenance held back is told when it is over: what still lasts, now. What ended meanwhile is part of the all-clear. */
export function released(held: IncidentState, nowMs: number): IncidentState {
  const isOver = held.status === 'resolved';
  return { ...held, told: { ...held.told, heldMs: null, dueMs: isOver ? null : nowMs } };
}
