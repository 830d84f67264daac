import type { RangeEvidenceReport, RangeReplay } from '@parallax/api-contract';
import type { KeptDiagnosis, KeptSide } from '../../diagnostics/index.ts';
import type { KeptFailure, OneRange } from './queries.ts';
import { readableEvidence, whoOf } from './readable-evidence.ts';
import type { NamedProbes } from './readable-evidence.ts';
import { readableDifference, readableRecord } from './readable-record.ts';
import { codeOf, failurePhase } from './votes.ts';
import type { StoredEvidence, StoredVote } from './votes.ts';

/** All that a range can say for itself, as it was read. */
export type RangeParts = {
  readonly monitorId: number;
  readonly rangeId: number;
  readonly range: OneRange;
  readonly stored: StoredEvidence;
  readonly probes: NamedProbes;
  readonly failures: ReadonlyMap<number, KeptFailure>;
  readonly diagnoses: readonly KeptDiagnosis[];
};

const iso = (ms: number): string => new Date(ms).toISOString();
const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms));

/** Puts the parts into the answer, with a replay if there is one. */
export function rangeEvidenceReport(parts: RangeParts, replay: RangeReplay | null): RangeEvidenceReport {
  const { range, stored } = parts;
  return {
    monitor_id: parts.monitorId,
    range_id: parts.rangeId,
    status: range.status,
    started_at: iso(range.startedMs),
    ended_at: isoOrNull(range.endedMs),
    revised_at: isoOrNull(range.revisedMs),
    ...readableEvidence(stored, parts.probes),
    votes: stored.voters.map((vote) => ({
      ...whoOf(parts.probes, vote.voter),
      ...why(vote, parts.failures.get(vote.voter)),
    })),
    diagnoses: parts.diagnoses.map(diagnosisOf),
    replay,
  };
}

function why(vote: StoredVote, failure: KeptFailure | undefined) {
  const evidence = readableRecord(failure?.evidence);
  const { address } = evidence ?? {};
  const code = codeOf(vote);
  return {
    vote: vote.vote,
    since: iso(vote.sinceUs / 1_000),
    error_code: code ?? null,
    message: failure?.message ?? null,
    failure_source: failure?.source ?? null,
    phase: failurePhase(code),
    address: typeof address === 'string' ? address : null,
    certificate: readableRecord(evidence?.['certificate']),
    evidence,
  };
}

function diagnosisOf(kept: KeptDiagnosis): RangeEvidenceReport['diagnoses'][number] {
  return {
    since: iso(kept.sinceMs),
    made_at: isoOrNull(kept.madeMs),
    state: kept.state,
    summary: kept.summary,
    failing: sideOf(kept.failing),
    passing: sideOf(kept.passing),
    differences: kept.differences.map(readableDifference).map(({ field, a, b }) => ({ field, failing: a, passing: b })),
  };
}

function sideOf(side: KeptSide | null) {
  return side === null
    ? null
    : { probe_id: side.probeId, probe_name: side.name, diagnosis: readableRecord(side.diagnosis) };
}
