import { errorCodes } from '@parallax/checks';
import type { CheckOutcome, Evidence } from '@parallax/checks';
import type { ResultRecord } from '@parallax/wire';
import type { CentralKind, Verdict } from './schedule.ts';

/** A result of the control plane on its way into a round of the ingest. */
export type CentralResult = ResultRecord & { readonly isFallback: boolean };

/** What is remembered of the last result of a monitor, to tell what is new about the next. */
export type LastSeen = { readonly isFailing: boolean; readonly code: string | undefined };

const maxEvidenceCharacters = 40_000;
const maxMessageCharacters = 1_000;
const maxMicroseconds = 4_000_000_000;

/** What an outcome means for a streak of failures (rule 3). */
export function verdictOf(outcome: CheckOutcome['outcome']): Verdict {
  if (outcome === 'fail' || outcome === 'timeout') return 'failing';
  return outcome === 'ok' || outcome === 'slow' || outcome === 'warn' ? 'good' : 'neutral';
}

/** Whether the evidence is kept: of a first failure and when the error code changes, and of the first warning. */
export function isNews(last: LastSeen | undefined, outcome: CheckOutcome): boolean {
  const verdict = verdictOf(outcome.outcome);
  if (verdict === 'good') return outcome.outcome === 'warn' && last?.code !== outcome.code;
  return last?.isFailing !== (verdict === 'failing') || last.code !== outcome.code;
}

/** What is remembered after an outcome; one that says nothing of the target leaves what was known of it. */
export function seen(last: LastSeen | undefined, outcome: CheckOutcome): LastSeen {
  const verdict = verdictOf(outcome.outcome);
  return {
    isFailing: verdict === 'neutral' ? (last?.isFailing ?? false) : verdict === 'failing',
    code: outcome.code,
  };
}

/** The result of a check by the control plane. */
export function toCentralResult(
  facts: {
    readonly monitorId: number;
    readonly probeRevision: number;
    readonly freshS: number;
    readonly isFallback: boolean;
    readonly kind: CentralKind;
    readonly startedMs: number;
    readonly isNew: boolean;
  },
  outcome: CheckOutcome,
): CentralResult {
  const { phases } = outcome;
  return {
    monitorId: facts.monitorId,
    effectiveUs: Math.round(facts.startedMs * 1_000),
    probeRevision: facts.probeRevision,
    kind: facts.kind,
    outcome: outcome.outcome,
    source: outcome.source,
    error: outcome.code === undefined ? 0 : errorCodes[outcome.code],
    freshS: facts.freshS,
    totalUs: bounded(outcome.total) ?? 0,
    dnsUs: bounded(phases.dns),
    connectUs: bounded(phases.connect),
    tlsUs: bounded(phases.tls),
    firstByteUs: bounded(phases.first_byte),
    transferUs: bounded(phases.transfer),
    evidence: facts.isNew
      ? { message: (outcome.message ?? '').slice(0, maxMessageCharacters), json: evidenceJson(outcome.evidence ?? {}) }
      : undefined,
    isFallback: facts.isFallback,
  };
}

function bounded(microseconds: number | undefined): number | undefined {
  return microseconds === undefined ? undefined : Math.min(maxMicroseconds, Math.max(0, Math.round(microseconds)));
}

/** JSON of the evidence; what is largest leaves first when it is too large. */
function evidenceJson(evidence: Evidence): string {
  const { headers: _headers, ...bare } = evidence;
  const { body: _body, answers: _answers, ...barest } = bare;
  const fitting = [evidence, bare, barest].map((part) => JSON.stringify(part));
  return fitting.find((json) => json.length <= maxEvidenceCharacters) ?? '{}';
}
