import type { RateState } from './rate-limits.ts';

/** What is left of a rate, never below zero. */
const remaining = (state: RateState): number => Math.max(0, state.quota - state.used);

/** The state that refuses this request: the one that lasts longest; undefined when none does. */
export function refusedBy(states: readonly RateState[]): RateState | undefined {
  return states
    .filter((state) => state.used > state.quota)
    .reduce<RateState | undefined>(
      (worst, state) => (worst === undefined || state.resetSeconds > worst.resetSeconds ? state : worst),
      undefined,
    );
}

/**
 * `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers): all policies, longest window first, and of the one
 * that leaves least how much that is and until when.
 */
export function rateHeaders(states: readonly RateState[]): Readonly<Record<string, string>> {
  const longestFirst = states.toSorted((a, b) => b.windowSeconds - a.windowSeconds);
  const tightest = longestFirst.toSorted((a, b) => remaining(a) - remaining(b))[0];
  if (tightest === undefined) return {};
  return {
    'ratelimit-policy': longestFirst
      .map((state) => `"${state.name}";q=${state.quota};w=${state.windowSeconds}`)
      .join(', '),
    ratelimit: `"${tightest.name}";r=${remaining(tightest)};t=${Math.ceil(tightest.resetSeconds)}`,
  };
}
