import type { DownReason } from '@parallax/api-contract';
import { expecting } from './deadline.ts';
import type { Announcement, Rules, State } from './state.ts';

/** What a deadline that has passed makes of a heartbeat. */
export type Missed = { readonly state: State; readonly announcements: readonly Announcement[] };

/**
 * Notices a miss: nothing came until the deadline, or a run took longer than it may. It counts like a run that failed. Null when no deadline has passed,
 * so that a signal which came in between is not overlooked.
 */
export function noticeMiss(rules: Rules, state: State, nowMs: number): Missed | null {
  const { deadlineMs } = state;
  if (deadlineMs === null || deadlineMs > nowMs) return null;
  const { maxRuntimeMs } = rules;
  const isOverdue = (aliveMs: number): boolean => maxRuntimeMs !== null && aliveMs + maxRuntimeMs <= nowMs;
  const runs = state.runs.map((run) => ({ ...run, isOverdue: run.isOverdue || isOverdue(run.aliveMs) }));
  const reason: DownReason = runs.some((run, index) => run.isOverdue && state.runs[index]?.isOverdue === false)
    ? 'overran'
    : 'missed';
  const failures = state.failures + 1;
  const isDown = failures >= rules.failuresBeforeAlert;
  const next = expecting(
    rules,
    isDown
      ? { ...state, runs, failures, status: 'down', statusSinceMs: deadlineMs, reason }
      : { ...state, runs, failures, ...(state.status === 'new' ? { status: 'up', statusSinceMs: deadlineMs } : {}) },
    nowMs,
  );
  return {
    state: next,
    announcements: isDown
      ? [{ kind: 'heartbeat.missed', from: state.status, to: 'down', reason, atMs: deadlineMs }]
      : [],
  };
}
