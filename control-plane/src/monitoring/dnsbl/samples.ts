import type { HistoryWindow, ListingState } from '@parallax/api-contract';

/** A time in which a list said the same; no end: it does so now. Milliseconds since the epoch. */
export type StateRun = { readonly state: ListingState; readonly startedMs: number; readonly endedMs: number | null };
export type Sample = { readonly atMs: number; readonly state: ListingState };

const minuteMs = 60_000;
/** How long each window is, and each sample of it: some 300 samples. */
const plans: Readonly<Record<HistoryWindow, { readonly windowMs: number; readonly stepMs: number }>> = {
  '24h': { windowMs: 24 * 60 * minuteMs, stepMs: 5 * minuteMs },
  '7d': { windowMs: 7 * 24 * 60 * minuteMs, stepMs: 30 * minuteMs },
  '30d': { windowMs: 30 * 24 * 60 * minuteMs, stepMs: 144 * minuteMs },
};
const gravity: Readonly<Record<ListingState, number>> = { clean: 0, error: 1, listed: 2 };

/** The times that the samples of a window stand for. The first begins at a multiple of the step, so that the same question gives the same samples. */
export function spanOf(window: HistoryWindow, nowMs: number) {
  const { windowMs, stepMs } = plans[window];
  return { fromMs: Math.ceil((nowMs - windowMs) / stepMs) * stepMs, untilMs: nowMs, stepMs };
}

/** Samples of equal length, each with the gravest state of its time: a listing that was short is not lost between two of them. */
export function samplesOf(
  runs: readonly StateRun[],
  { fromMs, untilMs, stepMs }: { readonly fromMs: number; readonly untilMs: number; readonly stepMs: number },
): Sample[] {
  const states = new Map<number, ListingState>();
  for (const { state, startedMs, endedMs } of runs) {
    const endMs = Math.min(endedMs ?? untilMs, untilMs);
    const beginMs = Math.max(startedMs, fromMs);
    if (beginMs >= endMs) continue;
    const firstMs = Math.floor(beginMs / stepMs) * stepMs;
    for (let atMs = firstMs; atMs < endMs; atMs += stepMs) {
      const known = states.get(atMs);
      if (known === undefined || gravity[state] > gravity[known]) states.set(atMs, state);
    }
  }
  return [...states].map(([atMs, state]) => ({ atMs, state })).sort((one, other) => one.atMs - other.atMs);
}
