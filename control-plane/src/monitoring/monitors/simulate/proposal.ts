import { errorCodes } from '@parallax/checks';
import type { MonitorInputs, Policy, StoredResult } from '../../consensus/index.ts';

/** Settings that are tried; what is absent stays as it was at each time. */
export type Proposal = {
  readonly policy?: Policy | undefined;
  readonly confirmations?: number | undefined;
  readonly intervalS?: number | undefined;
  /** null: no threshold. */
  readonly degradedThresholdMs?: number | null | undefined;
  readonly probeIds?: readonly number[] | undefined;
};

/** A stored result with how long the check took. */
export type TimedResult = StoredResult & { readonly totalUs: number };

/** The inputs as if the proposed settings had held all the time. A shorter interval stays what it was: nothing was measured between. */
export function proposedInputs(inputs: MonitorInputs, proposal: Proposal): MonitorInputs {
  const { policy, confirmations, intervalS, probeIds } = proposal;
  const chosen = probeIds === undefined ? undefined : new Set(probeIds);
  return {
    ...inputs,
    configurations: inputs.configurations.map((event) => ({
      ...event,
      policy: policy ?? event.policy,
      confirmations: confirmations ?? event.confirmations,
      ...(event.intervalS === undefined ? {} : { intervalS: Math.max(event.intervalS, intervalS ?? 0) }),
    })),
    assignments:
      chosen === undefined
        ? inputs.assignments
        : inputs.assignments.filter((row) => chosen.has(row.voter)).map((row) => ({ ...row, supplement: false })),
  };
}

/** An answer judged by another threshold of its duration; what was slow for another reason stays so. */
export function judgedBy<Row extends TimedResult>(row: Row, thresholdMs: number | null): Row {
  const isSlow = thresholdMs !== null && row.totalUs > thresholdMs * 1_000;
  const slow = errorCodes.response_slow;
  if (row.outcome === 'ok' && isSlow) return { ...row, outcome: 'slow', error: slow };
  if (row.outcome === 'slow' && row.error === slow && !isSlow) return { ...row, outcome: 'ok', error: 0 };
  return row;
}
