import type { CheckOutcome } from '@parallax/checks';

/**
 * The outcome as it counts: that the control plane may not reach an address says nothing about the target. It is the control plane's own
 * lack, as a missing capability is, and ends its vote in place of making DOWN.
 */
export function withOwnDenial(outcome: CheckOutcome): CheckOutcome {
  if (outcome.outcome !== 'fail' || outcome.code !== 'address_denied') return outcome;
  return { ...outcome, outcome: 'probe_error', source: 'probe' };
}
