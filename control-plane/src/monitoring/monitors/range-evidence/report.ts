import type { RangeEvidenceReport, RangeReplay } from '@parallax/api-contract';
import type { KeptDiagnosis, KeptSide } from '../../diagnostics/index.ts';
import type { KeptFailure, OneRange } from './queries.ts';
import { codeOf, failurePhase } from './votes.ts';
import type { StoredEvidence, StoredVote } from './votes.ts';

/** All that a range can say for itself, as it was read. */
export type RangeParts = {
  readonly monitorId: number;
  readonly rangeId: number;
  readonly range: OneRange;
  readonly stored: StoredEvidence;
  readonly probes: ReadonlyMap<number, { readonly name: string; readonly region: string }>;
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
    rule: stored.rule,
    quorum: stored.quorum,
    quorum_out_of_reach: stored.quorum_out_of_reach,
    votes: stored.voters.map((vote) => ({
      ...whoOf(parts.probes, vote.voter),
      ...why(vote, parts.failures.get(vote.voter)),
    })),
    missing: stored.missing.map((voter) => whoOf(parts.probes, voter)),
    diagnoses: parts.diagnoses.map(diagnosisOf),
    replay,
  };
}

/** A voter as answers name it. */
export function whoOf(probes: RangeParts['probes'], voter: number) {
  if (voter === 0) return { probe_id: null, probe_name: null, region: 'central' };
  const probe = probes.get(voter);
  return { probe_id: voter, probe_name: probe?.name ?? null, region: probe?.region ?? null };
}

function why(vote: StoredVote, failure: KeptFailure | undefined) {
  const evidence = record(failure?.evidence);
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
    certificate: record(evidence?.['certificate']),
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
    differences: kept.differences.map(({ field, a, b }) => ({ field, failing: a, passing: b })),
  };
}

function sideOf(side: KeptSide | null) {
  return side === null ? null : { probe_id: side.probeId, probe_name: side.name, diagnosis: record(side.diagnosis) };
}

function record(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
}
