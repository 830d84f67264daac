import { freshSeconds, outcomeColumns } from '@parallax/checks';
import type { CheckKind, CheckOutcome } from '@parallax/checks';
import type { Assignment, ResultRecord } from '@parallax/wire';

/** The result of a check as it is logged. `withEvidence` on a first failure and when the error code has changed. */
export function toResult(
  assignment: Assignment,
  kind: CheckKind,
  outcome: CheckOutcome,
  effectiveUs: number,
  withEvidence: boolean,
): ResultRecord {
  const columns = outcomeColumns(outcome, withEvidence);
  return {
    monitorId: assignment.monitorId,
    effectiveUs,
    probeRevision: assignment.probeRevision,
    kind,
    outcome: columns.outcome,
    source: columns.source,
    error: columns.error,
    freshS: freshSeconds(assignment.intervalSeconds, assignment.timeoutSeconds),
    totalUs: columns.totalUs,
    dnsUs: columns.dnsUs,
    connectUs: columns.connectUs,
    tlsUs: columns.tlsUs,
    firstByteUs: columns.firstByteUs,
    transferUs: columns.transferUs,
    evidence: columns.evidence,
  };
}

/** A slot that was not run. */
export function toSkipped(assignment: Assignment, effectiveUs: number, why: 'overrun' | 'overload'): ResultRecord {
  return toResult(
    assignment,
    'scheduled',
    { outcome: 'skipped', total: 0, phases: {}, source: 'probe', code: why },
    effectiveUs,
    false,
  );
}
