import { outcomes } from '@parallax/checks';
import type { Outcome } from '@parallax/checks';
import type { OutcomeCounts } from '../../monitoring/check-results/index.ts';

/** Numbers of checks as answers show them. */
export type CheckCounts = Readonly<Record<Outcome, number>> & {
  /** Scheduled checks and rechecks. */
  readonly total: number;
  /** Of the total: by the control plane beside probes that could not vote. */
  readonly fallback: number;
  /** Not in the total. */
  readonly manual: number;
};

/** Counts by outcome what counts, and apart what was asked for by hand; undefined for no results at all. */
export function checkCounts(counts: OutcomeCounts | undefined): CheckCounts {
  const sum = { total: 0, fallback: 0, manual: 0, ...noOutcomes };
  for (const { kind, outcome, origin, count } of counts?.entries() ?? []) {
    if (kind === 'manual') {
      sum.manual += count;
      continue;
    }
    sum.total += count;
    sum[outcome] += count;
    if (origin === 'fallback') sum.fallback += count;
  }
  return sum;
}

const noOutcomes = Object.fromEntries(outcomes.map((outcome) => [outcome, 0])) as Record<Outcome, number>;
