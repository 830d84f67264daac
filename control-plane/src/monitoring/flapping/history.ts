/** Confirmed states that are remembered. */
const remembered = 21;
/** Nagios' weights of a change: of the oldest that is remembered, and of the newest; those between lie on a line. */
const oldestWeight = 0.75;
const newestWeight = 1.25;
const startsAtPercent = 20;
const stopsBelowPercent = 5;
/** Between two states that are remembered lies at least so much, or a memory of 21 checks would be shorter than the flapping. */
const leastIntervalMs = 60_000;

/** Up or down, as far as it is confirmed. */
export type State = 'u' | 'd';

/** The last confirmed states of a monitor, oldest first, always 21; one for each change, and one for each interval without a change. */
export type History = {
  readonly states: string;
  /** Effective time of the last of them, ms since the epoch. */
  readonly atMs: number;
};

/** What a status confirms; undefined: nothing, the state before stands. */
export function stateOf(status: string): State | undefined {
  if (status === 'DOWN' || status === 'TIMEOUT') return 'd';
  return status === 'UP' || status === 'WARNING' || status === 'DEGRADED' ? 'u' : undefined;
}

/** A history without a change. */
export function calm(state: State, atMs: number): History {
  return { states: state.repeat(remembered), atMs };
}

/** The history after time has passed without a change. */
export function elapse(history: History, nowMs: number, intervalMs: number): History {
  const stepMs = Math.max(intervalMs, leastIntervalMs);
  const steps = Math.max(0, Math.floor((nowMs - history.atMs) / stepMs));
  const last = history.states.at(-1) ?? '';
  const states = (history.states + last.repeat(Math.min(steps, remembered))).slice(-remembered);
  return { states, atMs: history.atMs + steps * stepMs };
}

/** The history after a change at an instant; what is told to be older than the last change counts as if it were now. */
export function change(history: History, state: State, atMs: number, intervalMs: number): History {
  const before = elapse(history, atMs, intervalMs);
  if (before.states.at(-1) === state) return before;
  return { states: (before.states + state).slice(-remembered), atMs: Math.max(before.atMs, atMs) };
}

/** How much the states changed, 0 to 100: changes that were possible, where the newer ones weigh more. */
export function percentOf({ states }: History): number {
  let changed = 0;
  for (let index = 1; index < remembered; index += 1) {
    if (states[index] === states[index - 1]) continue;
    changed += oldestWeight + ((index - 1) * (newestWeight - oldestWeight)) / (remembered - 2);
  }
  return (changed * 100) / (remembered - 1);
}

/** Whether the monitor flaps, given whether it did. */
export function isFlapping(history: History, was: boolean): boolean {
  return percentOf(history) >= (was ? stopsBelowPercent : startsAtPercent);
}

/** When a monitor ceases to flap, or one that does not has nothing left to be remembered, if nothing changes until then; ms since the epoch. */
export function calmAt(history: History, flaps: boolean, intervalMs: number): number {
  const stepMs = Math.max(intervalMs, leastIntervalMs);
  let later = history;
  while (flaps ? isFlapping(later, true) : percentOf(later) > 0) later = elapse(later, later.atMs + stepMs, intervalMs);
  return later.atMs;
}
