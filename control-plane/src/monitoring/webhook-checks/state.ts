import type { PayloadStatus } from '@parallax/api-contract';

/** What decides about a check beside its deliveries, in milliseconds. */
export type Expectation = { readonly intervalMs: number | null; readonly graceMs: number };

/** What is known of a check. Times are milliseconds since the epoch. `late` is not stored: it is `up` or `degraded` after `nextExpectedMs`. */
export type State = {
  readonly status: 'new' | 'up' | 'degraded' | 'down' | 'paused';
  readonly statusSinceMs: number;
  /** Why it is down: by what a delivery said, or since none came. */
  readonly reason: 'failed' | 'missed' | null;
  readonly lastReceivedMs: number | null;
  /** The last delivery that counted, or when the check was resumed. */
  readonly expectsFromMs: number | null;
  readonly nextExpectedMs: number | null;
  readonly deadlineMs: number | null;
};

/** A change that others are told of. */
export type Announcement = {
  readonly what: 'failed' | 'missed' | 'recovered' | 'paused' | 'resumed';
  readonly from: State['status'];
  readonly to: State['status'];
  /** When it came to be so: of a miss the deadline. */
  readonly atMs: number;
};

export type Change = { readonly state: State; readonly announcements: readonly Announcement[] };

/** A check that nothing has come for. */
export function newState(nowMs: number): State {
  return {
    status: 'new',
    statusSinceMs: nowMs,
    reason: null,
    lastReceivedMs: null,
    expectsFromMs: null,
    nextExpectedMs: null,
    deadlineMs: null,
  };
}

/**
 * What an accepted delivery makes of a check.
 * @param said null: nothing about the status, and the next one is expected as before
 */
export function deliver(expectation: Expectation, state: State, said: PayloadStatus | null, nowMs: number): Change {
  // Of two at once the later one may be written first.
  const received: State = { ...state, lastReceivedMs: Math.max(nowMs, state.lastReceivedMs ?? nowMs) };
  if (said === null || state.status === 'paused') return { state: received, announcements: [] };
  const reason = said === 'down' ? ('failed' as const) : null;
  const isChange = said !== state.status || reason !== state.reason;
  const atMs = Math.max(nowMs, state.statusSinceMs);
  const next = expecting(
    expectation,
    { ...received, status: said, reason, statusSinceMs: isChange ? atMs : state.statusSinceMs },
    nowMs,
  );
  return { state: next, announcements: isChange ? told(state.status, said, atMs) : [] };
}

function told(from: State['status'], to: PayloadStatus, atMs: number): Announcement[] {
  if (to === 'down') return [{ what: 'failed', from, to, atMs }];
  return from === 'down' ? [{ what: 'recovered', from, to, atMs }] : [];
}

/** Notices a miss. Null when no deadline has passed, so that a delivery which came in between is not overlooked. */
export function miss(state: State, nowMs: number): Change | null {
  const { deadlineMs, status } = state;
  if (deadlineMs === null || deadlineMs > nowMs) return null;
  const atMs = Math.max(deadlineMs, state.statusSinceMs);
  return {
    state: { ...state, status: 'down', reason: 'missed', statusSinceMs: atMs, deadlineMs: null },
    announcements: [{ what: 'missed', from: status, to: 'down', atMs }],
  };
}

/** Nothing is expected any more. Null when it is paused already. */
export function pause(state: State, nowMs: number): Change | null {
  if (state.status === 'paused') return null;
  const atMs = Math.max(nowMs, state.statusSinceMs);
  return {
    state: { ...newState(atMs), status: 'paused', lastReceivedMs: state.lastReceivedMs },
    announcements: [{ what: 'paused', from: state.status, to: 'paused', atMs }],
  };
}

/** How it is, the next delivery says; one that had deliveries before expects it as if one had come now. Null when it is not paused. */
export function resume(expectation: Expectation, state: State, nowMs: number): Change | null {
  if (state.status !== 'paused') return null;
  const atMs = Math.max(nowMs, state.statusSinceMs);
  const resumed: State = { ...newState(atMs), lastReceivedMs: state.lastReceivedMs };
  return {
    state: state.lastReceivedMs === null ? resumed : expecting(expectation, resumed, nowMs),
    announcements: [{ what: 'resumed', from: 'paused', to: 'new', atMs }],
  };
}

/** Another expectation for the same state. It counts from the last delivery, or from now where that would be missed already: alarms are for what happens, not for what is edited. */
export function reschedule(expectation: Expectation, state: State, nowMs: number): State {
  if (state.expectsFromMs === null) return state;
  const counted = expecting(expectation, state, state.expectsFromMs);
  return counted.deadlineMs !== null && counted.deadlineMs <= nowMs ? expecting(expectation, state, nowMs) : counted;
}

/** The state that expects a delivery after an instant. One that is down has been told of, so nothing is missed. */
function expecting({ intervalMs, graceMs }: Expectation, state: State, fromMs: number): State {
  const nextExpectedMs = intervalMs === null ? null : fromMs + intervalMs;
  const deadlineMs = nextExpectedMs === null || state.status === 'down' ? null : nextExpectedMs + graceMs;
  return { ...state, expectsFromMs: fromMs, nextExpectedMs, deadlineMs };
}
