import { countMembers } from './incident-state.ts';
import type { IncidentState } from './incident-state.ts';
import { settle } from './settle.ts';
import type { Settled } from './settle.ts';

/**
 * Settles an incident from which a reset of statistics took members. Where nothing else of it lasts, the reset ended it, and that is no recovery. A
 * member that fails again afterwards is news once more.
 */
export function settleAfterReset(before: IncidentState, nowMs: number, isHeld: boolean): Settled {
  const members = Math.min(before.told.members, countMembers(before));
  const settled = settle({ ...before, told: { ...before.told, members } }, nowMs, isHeld);
  if (before.told.seq === 0) return settled;
  const messages = settled.messages.map((message) =>
    message.kind === 'resolved' ? { ...message, reason: 'reset' as const } : message,
  );
  return { ...settled, messages };
}
