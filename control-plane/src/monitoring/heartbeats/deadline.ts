import type { Rules, Run, State } from './state.ts';

/**
 * When a miss is to be noticed; null while nothing is expected. The deadline of the schedule waits for a run that began after the last one ended, as
 * long as that may take, or lives; no run may take longer than its maximum, whatever the schedule says.
 */
export function deadlineOf(rules: Rules, state: Omit<State, 'deadlineMs'>): number | null {
  const { status, nextExpectedMs, runs } = state;
  if (status !== 'up' && !(status === 'new' && runs.length > 0)) return null;
  const open = runs.filter(({ isOverdue }) => !isOverdue);
  const limits = rules.maxRuntimeMs === null ? [] : open.map(({ aliveMs }) => aliveMs + (rules.maxRuntimeMs ?? 0));
  const ofSchedule = nextExpectedMs === null ? [] : [scheduleDeadline(rules, state, nextExpectedMs, open)];
  const least = Math.min(...limits, ...ofSchedule);
  return Number.isFinite(least) ? least : null;
}

function scheduleDeadline(
  rules: Rules,
  { creditMs, expectsFromMs }: Pick<State, 'creditMs' | 'expectsFromMs'>,
  nextExpectedMs: number,
  open: readonly Run[],
): number {
  const held = open
    .filter(({ startedMs }) => expectsFromMs === null || startedMs >= expectsFromMs)
    .map(({ aliveMs, isKeptAlive }) => {
      if (rules.maxRuntimeMs !== null) return aliveMs + rules.maxRuntimeMs;
      return isKeptAlive ? aliveMs + rules.graceMs : Number.NEGATIVE_INFINITY;
    });
  return Math.max(nextExpectedMs + rules.graceMs + creditMs, ...held);
}

/** The state with its deadline. */
export function withDeadline(rules: Rules, state: Omit<State, 'deadlineMs'>): State {
  return { ...state, deadlineMs: deadlineOf(rules, state) };
}

/** The state that expects the next run after an instant, with nothing credited. */
export function expecting(rules: Rules, state: State, fromMs: number): State {
  return withDeadline(rules, {
    ...state,
    expectsFromMs: fromMs,
    nextExpectedMs: rules.schedule.next(fromMs) ?? null,
    creditMs: 0,
  });
}
