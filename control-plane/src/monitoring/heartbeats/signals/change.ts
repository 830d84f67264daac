import type { State } from '../state.ts';

/**
 * Whether a signal changed what is known of a heartbeat beyond the time of its last signal: its status, `late` included, why it is down, its failures in a
 * row, or its open runs. Such a signal is never one too many, since refusing it would leave a wrong state or make a false alarm.
 */
export function changesState(before: State, after: State, atMs: number): boolean {
  return (
    before.status !== after.status ||
    before.reason !== after.reason ||
    before.failures !== after.failures ||
    before.runs.length !== after.runs.length ||
    isLate(before, atMs) !== isLate(after, atMs)
  );
}

function isLate({ status, nextExpectedMs }: State, atMs: number): boolean {
  return status === 'up' && nextExpectedMs !== null && nextExpectedMs <= atMs;
}
