import { errorCodes } from '@parallax/checks';
import type { CheckKind, CheckOutcome, Evidence } from '@parallax/checks';
import type { Assignment, ResultRecord } from '@parallax/wire';
import type { Verdict } from './schedule.ts';

/** Longest evidence that is kept of one failure, in characters of JSON; it must fit into a batch with its result. */
export const maxEvidenceCharacters = 40_000;
const maxMessageCharacters = 1_000;
const maxMicroseconds = 4_000_000_000;

/** Seconds that a vote stays fresh (rule 2 of the consensus): at least 10 s and two and a half intervals, and the timeout. */
export function freshSeconds(assignment: Pick<Assignment, 'intervalSeconds' | 'timeoutSeconds'>): number {
  return Math.max(10, Math.ceil(2.5 * assignment.intervalSeconds)) + assignment.timeoutSeconds;
}

/** What an outcome means for a streak of failures (rule 3). */
export function verdictOf(outcome: CheckOutcome['outcome']): Verdict {
  if (outcome === 'fail' || outcome === 'timeout') return 'failing';
  return outcome === 'ok' || outcome === 'slow' || outcome === 'warn' ? 'good' : 'neutral';
}

/** The result of a check as it is logged. `withEvidence` on a first failure and when the error code has changed. */
export function toResult(
  assignment: Assignment,
  kind: CheckKind,
  outcome: CheckOutcome,
  effectiveUs: number,
  withEvidence: boolean,
): ResultRecord {
  const { phases } = outcome;
  return {
    monitorId: assignment.monitorId,
    effectiveUs,
    probeRevision: assignment.probeRevision,
    kind,
    outcome: outcome.outcome,
    source: outcome.source,
    error: outcome.code === undefined ? 0 : errorCodes[outcome.code],
    freshS: freshSeconds(assignment),
    totalUs: bounded(outcome.total) ?? 0,
    dnsUs: bounded(phases.dns),
    connectUs: bounded(phases.connect),
    tlsUs: bounded(phases.tls),
    firstByteUs: bounded(phases.first_byte),
    transferUs: bounded(phases.transfer),
    evidence: withEvidence
      ? { message: (outcome.message ?? '').slice(0, maxMessageCharacters), json: evidenceJson(outcome.evidence ?? {}) }
      : undefined,
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

function bounded(microseconds: number | undefined): number | undefined {
  return microseconds === undefined ? undefined : Math.min(maxMicroseconds, Math.max(0, Math.round(microseconds)));
}

/** JSON of the evidence; what is largest leaves first when it is too large. */
function evidenceJson(evidence: Evidence): string {
  const whole = JSON.stringify(evidence);
  if (whole.length <= maxEvidenceCharacters) return whole;
  const { headers: _headers, ...withoutHeaders } = evidence;
  const smaller = JSON.stringify(withoutHeaders);
  if (smaller.length <= maxEvidenceCharacters) return smaller;
  const { body: _body, answers: _answers, ...withoutBody } = withoutHeaders;
  const smallest = JSON.stringify(withoutBody);
  return smallest.length <= maxEvidenceCharacters ? smallest : '{}';
}
