import type { RangeReplay } from '@parallax/api-contract';
import { errorCodeOf } from '@parallax/checks';
import { evidenceDifferences, rangeDifferences, resultsBehind } from './replay.ts';
import type { Replay, ReplayedRange, TimedResult } from './replay.ts';
import type { StoredEvidence } from './votes.ts';

/** Name and region of a probe; null for what is gone. */
export type Who = (voter: number) => {
  readonly probe_id: number | null;
  readonly probe_name: string | null;
  readonly region: string | null;
};

const iso = (us: number): string => new Date(us / 1_000).toISOString();

/** The part of the answer that a replay makes. */
export function replayReport(range: ReplayedRange, stored: StoredEvidence, replayed: Replay, who: Who): RangeReplay {
  const differences = rangeDifferences(range, replayed);
  const evidence = evidenceDifferences(stored, replayed);
  const what = replayed.isWhole ? 'The whole range' : 'The range is long: its beginning';
  return {
    state: 'replayed',
    message: `${what} was computed again from ${replayed.results} stored results, ${differences.length === 0 ? 'and comes to the same.' : 'and comes to something else.'}`,
    from: iso(replayed.fromUs),
    to: iso(replayed.toUs),
    is_whole: replayed.isWhole,
    results: replayed.results,
    matches: differences.length === 0,
    differences,
    evidence_matches: evidence.length === 0,
    evidence_differences: evidence,
    segments: replayed.segments.map((segment) => ({
      from: iso(segment.fromUs),
      to: iso(segment.toUs),
      status: segment.status,
      rule: segment.evidence.rule,
    })),
    votes: replayed.evidence.voters.map((vote) => ({
      ...who(vote.voter),
      vote: vote.vote,
      since: iso(vote.sinceUs),
      error_code: codeOf(vote.error),
      results: resultsBehind(vote, range.startedUs, replayed).map(resultOf),
    })),
  };
}

/** What is answered when the results that a range rests on are not kept any more. */
export function goneReport(keptFromMs: number): RangeReplay {
  return {
    state: 'results_gone',
    message: `The results that this range rests on are not kept any more (those from ${new Date(keptFromMs).toISOString()} on are); what was stored with the range remains.`,
    from: null,
    to: null,
    is_whole: false,
    results: 0,
    matches: null,
    differences: [],
    evidence_matches: null,
    evidence_differences: [],
    segments: [],
    votes: [],
  };
}

function resultOf(row: TimedResult): RangeReplay['votes'][number]['results'][number] {
  const isAnswer = row.outcome === 'ok' || row.outcome === 'slow' || row.outcome === 'warn';
  return {
    created_at: iso(row.eUs),
    received_at: iso(row.receivedUs),
    kind: row.kind,
    outcome: row.outcome,
    error_code: codeOf(row.error),
    response_time_ms: isAnswer && row.totalUs > 0 ? row.totalUs / 1_000 : null,
  };
}

const codeOf = (error: number): string | null => (error === 0 ? null : (errorCodeOf(error) ?? null));
