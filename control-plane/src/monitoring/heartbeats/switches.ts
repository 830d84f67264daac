import { expecting } from './deadline.ts';
import { newState } from './state.ts';
import type { Announcement, Rules, State } from './state.ts';

/** What pausing, resuming or other rules make of a heartbeat. */
export type Switched = { readonly state: State; readonly announcements: readonly Announcement[] };

/** Nothing is expected any more, and what is open is forgotten. Null when it is paused already. */
export function pause(state: State, nowMs: number): Switched | null {
  if (state.status === 'paused') return null;
  const { lastPingMs, lastDurationMs } = state;
  return {
    state: { ...newState(nowMs), status: 'paused', lastPingMs, lastDurationMs },
    announcements: [{ kind: 'heartbeat.paused', from: state.status, to: 'paused', reason: state.reason, atMs: nowMs }],
  };
}

/** The next signal is expected as if a run had ended now; one that never sent any is new. Null when it is not paused. */
export function resume(rules: Rules, state: State, nowMs: number): Switched | null {
  if (state.status !== 'paused') return null;
  const status = state.lastPingMs === null ? 'new' : 'up';
  const resumed: State = { ...state, status, statusSinceMs: nowMs };
  return {
    state: status === 'up' ? expecting(rules, resumed, nowMs) : resumed,
    announcements: [{ kind: 'heartbeat.resumed', from: 'paused', to: status, reason: null, atMs: nowMs }],
  };
}

/** Other rules for the same state: they count from the last run, or from now where it would be overdue by them. Alarms are for what happens, not for what is edited. */
export function reschedule(rules: Rules, state: State, nowMs: number): State {
  if (state.expectsFromMs === null || state.nextExpectedMs === null) return state;
  // What no run may take from its start is judged from now.
  const runs = state.runs.map((run) => ({
    ...run,
    aliveMs:
      rules.maxRuntimeMs !== null && run.aliveMs + rules.maxRuntimeMs <= nowMs && !run.isOverdue ? nowMs : run.aliveMs,
  }));
  const counted = expecting(rules, { ...state, runs }, state.expectsFromMs);
  const isOverdue = counted.deadlineMs !== null && counted.deadlineMs <= nowMs;
  return isOverdue ? expecting(rules, { ...state, runs }, nowMs) : counted;
}
