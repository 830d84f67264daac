import { errorCodes } from '../outcome.ts';
import type { CheckOutcome, Evidence } from '../outcome.ts';
import { lastingFactsOf } from './lasting-facts.ts';

/** Longest evidence that is kept of one failure, in characters of JSON; it must fit into a batch with its result. */
export const maxEvidenceCharacters = 40_000;
const maxMessageCharacters = 1_000;
const maxMicroseconds = 4_000_000_000;

/** The part of a result that its outcome decides, as it is logged and stored. Whole microseconds. */
export type OutcomeColumns = {
  readonly outcome: CheckOutcome['outcome'];
  readonly source: CheckOutcome['source'] | undefined;
  /** Number of `errorCodes`; 0 for none. */
  readonly error: number;
  readonly totalUs: number;
  readonly dnsUs: number | undefined;
  readonly connectUs: number | undefined;
  readonly tlsUs: number | undefined;
  readonly firstByteUs: number | undefined;
  readonly transferUs: number | undefined;
  readonly evidence: { readonly message: string; readonly json: string } | undefined;
};

/**
 * Of a good answer only the lasting facts are kept: nobody asks why it was good.
 * @param withEvidence on a first failure, when the error code has changed, and when a lasting fact has, see `Novelty`
 */
export function outcomeColumns(outcome: CheckOutcome, withEvidence: boolean): OutcomeColumns {
  const { phases } = outcome;
  const isGood = outcome.outcome === 'ok' || outcome.outcome === 'slow';
  const kept = isGood ? lastingFactsOf(outcome.evidence ?? {}) : outcome.evidence;
  return {
    outcome: outcome.outcome,
    source: outcome.source,
    error: outcome.code === undefined ? 0 : errorCodes[outcome.code],
    totalUs: bounded(outcome.total) ?? 0,
    dnsUs: bounded(phases.dns),
    connectUs: bounded(phases.connect),
    tlsUs: bounded(phases.tls),
    firstByteUs: bounded(phases.first_byte),
    transferUs: bounded(phases.transfer),
    evidence: withEvidence
      ? { message: (outcome.message ?? '').slice(0, maxMessageCharacters), json: evidenceJson(kept ?? {}) }
      : undefined,
  };
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
