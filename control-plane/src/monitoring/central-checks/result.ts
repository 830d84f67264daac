import { outcomeColumns } from '@parallax/checks';
import type { CheckOutcome } from '@parallax/checks';
import type { ResultRecord } from '@parallax/wire';
import type { CentralKind } from './schedule.ts';

/** A result of the control plane on its way into a round of the ingest. */
export type CentralResult = ResultRecord & { readonly isFallback: boolean };

/** The result of a check by the control plane. */
export function toCentralResult(
  facts: {
    readonly monitorId: number;
    readonly probeRevision: number;
    readonly freshS: number;
    readonly isFallback: boolean;
    readonly kind: CentralKind;
    readonly startedMs: number;
    /** Its evidence is kept. */
    readonly isNew: boolean;
  },
  outcome: CheckOutcome,
): CentralResult {
  const { monitorId, probeRevision, freshS, isFallback, kind, startedMs, isNew } = facts;
  const effectiveUs = Math.round(startedMs * 1_000);
  return { ...outcomeColumns(outcome, isNew), monitorId, probeRevision, freshS, isFallback, kind, effectiveUs };
}
