import type { Outcome } from '../outcome.ts';

/** Good answers end a streak of failures, failing ones extend it, all else does neither (rules 1 and 3 of the consensus). */
export type Verdict = 'good' | 'failing' | 'neutral';

/** What an outcome means for a streak of failures. */
export function verdictOf(outcome: Outcome): Verdict {
  if (outcome === 'fail' || outcome === 'timeout') return 'failing';
  return outcome === 'ok' || outcome === 'slow' || outcome === 'warn' ? 'good' : 'neutral';
}

/**
 * Seconds that a vote stays fresh (rule 2 of the consensus): at least 10 s and two and a half times the voter's cadence, and the timeout.
 * @param cadenceS seconds from one check to the next
 */
export function freshSeconds(cadenceS: number, timeoutS: number): number {
  return Math.max(10, Math.ceil(2.5 * cadenceS)) + timeoutS;
}
