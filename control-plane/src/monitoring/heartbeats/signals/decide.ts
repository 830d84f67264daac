import type { DownReason, SignalKind } from '@parallax/api-contract';
import { expecting, withDeadline } from '../deadline.ts';
import type { Announcement, Rules, State } from '../state.ts';
import { begin, end, runOf } from './runs.ts';
import type { Signal, Warning } from './signal.ts';

/** What a signal makes of a heartbeat, and how it is recorded. */
export type Decided = {
  readonly state: State;
  readonly kind: SignalKind;
  readonly durationMs: number | null;
  readonly warnings: readonly Warning[];
  readonly announcements: readonly Announcement[];
};

/**
 * Takes a signal. Every signal is recorded; whatever is odd about it is a warning. One that comes after the deadline and before the miss was noticed
 * counts like any other: nobody was told of a miss.
 */
export function decide(rules: Rules, before: State, signal: Signal): Decided {
  const nothing = { kind: signal.kind, durationMs: signal.durationMs, announcements: [] };
  if (rules.methods === 'post' && signal.method !== 'POST') {
    return { ...nothing, kind: 'ignored', state: before, warnings: ['method_ignored'] };
  }
  const seen: State = { ...before, lastPingMs: Math.max(signal.atMs, before.lastPingMs ?? 0) };
  if (signal.kind === 'log') return { ...nothing, state: seen, warnings: [] };
  if (seen.status === 'paused') {
    if (!rules.resumeOnPing) return { ...nothing, state: seen, warnings: ['paused'] };
    const resumed = decide(rules, { ...seen, status: 'new', statusSinceMs: signal.atMs, failures: 0 }, signal);
    const told: Announcement = {
      kind: 'heartbeat.resumed',
      from: 'paused',
      to: 'new',
      reason: null,
      atMs: signal.atMs,
    };
    return { ...resumed, announcements: [told, ...resumed.announcements] };
  }
  switch (signal.kind) {
    case 'start':
      return { ...nothing, durationMs: null, ...onStart(rules, seen, signal) };
    case 'keepalive':
      return { ...nothing, durationMs: null, ...onKeepalive(rules, seen, signal) };
    case 'ping':
    case 'success':
    case 'fail':
      return { kind: signal.kind, ...onEnd(rules, seen, signal) };
  }
}

function onStart(rules: Rules, state: State, signal: Signal) {
  const { runs, warnings } = begin(state.runs, signal);
  const begun = { ...state, runs };
  // The first run of all is expected to end as if one had ended when it began.
  const isFirst = state.status === 'new' && state.nextExpectedMs === null;
  return { state: isFirst ? expecting(rules, begun, signal.atMs) : withDeadline(rules, begun), warnings };
}

function onKeepalive(rules: Rules, state: State, signal: Signal) {
  const run = runOf(state.runs, signal.rid);
  if (run === undefined) return { state, warnings: ['unknown_run' as const] };
  const alive = { ...run, aliveMs: signal.atMs, isKeptAlive: true, isOverdue: false };
  const runs = state.runs.map((other) => (other === run ? alive : other));
  return { state: withDeadline(rules, { ...state, runs }), warnings: [] };
}

function onEnd(rules: Rules, state: State, signal: Signal): Omit<Decided, 'kind'> {
  const { runs, durationMs, warnings } = end(state.runs, signal);
  const isTooFast = durationMs !== null && rules.minRuntimeMs !== null && durationMs < rules.minRuntimeMs;
  if (isTooFast) warnings.push('too_fast');
  if (durationMs !== null && rules.maxRuntimeMs !== null && durationMs > rules.maxRuntimeMs) warnings.push('overran');
  const ended: State = { ...state, runs, lastDurationMs: durationMs };
  const reason: DownReason | null = signal.kind === 'fail' ? 'failed' : isTooFast ? 'too_fast' : null;
  const outcome = reason === null ? succeeded(rules, ended, signal.atMs) : failed(rules, ended, signal.atMs, reason);
  return { ...outcome, durationMs, warnings };
}

type Outcome = Pick<Decided, 'state' | 'announcements'>;

function succeeded(rules: Rules, state: State, atMs: number): Outcome {
  const up = expecting(rules, inStatus({ ...state, failures: 0, reason: null }, 'up', atMs), atMs);
  const isRecovered = state.status === 'down';
  return {
    state: up,
    announcements: isRecovered
      ? [{ kind: 'heartbeat.recovered', from: 'down', to: 'up', reason: state.reason, atMs }]
      : [],
  };
}

function failed(rules: Rules, state: State, atMs: number, reason: DownReason): Outcome {
  const failures = state.failures + 1;
  const isDown = state.status === 'down' || failures >= rules.failuresBeforeAlert;
  const next = inStatus({ ...state, failures, reason: isDown ? reason : null }, isDown ? 'down' : 'up', atMs);
  // Of one that is down already only another cause is news.
  const isNews = isDown && (state.status !== 'down' || state.reason !== reason);
  return {
    state: expecting(rules, next, atMs),
    announcements: isNews ? [{ kind: 'heartbeat.failed', from: state.status, to: 'down', reason, atMs }] : [],
  };
}

function inStatus(state: State, status: State['status'], atMs: number): State {
  return state.status === status ? state : { ...state, status, statusSinceMs: atMs };
}
