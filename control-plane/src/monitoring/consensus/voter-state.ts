import type { PreparedInputs } from './prepared-inputs.ts';
import type { StoredResult, Vote } from './types.ts';

/** A run of failures of one voter as far as it is known (rule 3). */
export type Streak = {
  readonly startUs: number;
  readonly count: number;
  /** Start of its first `fail`: from there on it votes DOWN. Infinity: timeouts only; minus infinity: before what is known. */
  readonly firstFailUs: number;
  readonly confirmed: boolean;
  /** Its latest failure, for the gap to the next. */
  readonly lastUs: number;
  readonly lastFreshUs: number;
  readonly revision: number;
};

/** What a voter's rows up to one row say. Immutable. */
export type VoterState = {
  /** The latest row that counts. */
  readonly eUs: number;
  readonly freshUs: number;
  readonly revision: number;
  readonly error: number;
  /** Null: none, by the probe's own error or because a first failure had no vote to carry. */
  readonly vote: Vote | null;
  /** When the vote ends without another result. */
  readonly endsUs: number;
  readonly streak: Streak | null;
};

/** A state is settled when nothing that comes after its row can change what was voted before its row. */
export function isSettled(state: VoterState): boolean {
  return state.streak === null || state.streak.confirmed;
}

/** The state after one more row that counts and is younger than the state's. A pure step; rules 2 and 3. */
export function nextState(state: VoterState | null, row: StoredResult, inputs: PreparedInputs): VoterState {
  const freshUs = row.freshS * 1_000_000;
  const streak = nextStreak(state, row, inputs);
  return {
    eUs: row.eUs,
    freshUs,
    revision: row.probeRevision,
    error: row.error,
    vote: voteAfter(state, row, streak, inputs),
    endsUs: Math.min(
      row.eUs + freshUs,
      inputs.presentUntil(row.voter, row.eUs),
      inputs.revisionUntil(row.probeRevision, row.eUs),
    ),
    streak,
  };
}

function nextStreak(state: VoterState | null, row: StoredResult, inputs: PreparedInputs): Streak | null {
  const streak = state?.streak ?? null;
  const alive = streak !== null && reaches(inputs, row, streak.lastUs, streak.lastFreshUs, streak.revision);
  // The probe's own error neither extends nor breaks a streak; one that is out of reach for good is dropped.
  if (row.outcome === 'probe_error') return streak !== null && outOfReach(inputs, row, streak) ? null : streak;
  if (row.outcome !== 'fail' && row.outcome !== 'timeout') return null;

  const before = alive ? streak : null;
  const count = (before?.count ?? 0) + 1;
  return {
    startUs: before?.startUs ?? row.eUs,
    count,
    firstFailUs: Math.min(before?.firstFailUs ?? Number.POSITIVE_INFINITY, row.outcome === 'fail' ? row.eUs : Infinity),
    confirmed: (before?.confirmed ?? false) || count >= inputs.configurationAt(row.eUs).confirmations,
    lastUs: row.eUs,
    lastFreshUs: row.freshS * 1_000_000,
    revision: row.probeRevision,
  };
}

function voteAfter(
  state: VoterState | null,
  row: StoredResult,
  streak: Streak | null,
  inputs: PreparedInputs,
): Vote | null {
  switch (row.outcome) {
    case 'ok':
      return 'UP';
    case 'slow':
      return 'DEGRADED';
    case 'warn':
      return 'WARNING';
    case 'fail':
    case 'timeout':
      if (streak?.confirmed) return failingVote(streak, row.eUs);
      return state !== null && reaches(inputs, row, state.eUs, state.freshUs, state.revision) ? state.vote : null;
    case 'probe_error':
    case 'skipped':
      return null;
  }
}

/** TIMEOUT until the first `fail` of the streak, DOWN from it on. */
export function failingVote(streak: Streak, t: number): Vote {
  return streak.firstFailUs <= t ? 'DOWN' : 'TIMEOUT';
}

/** Is `row` near enough to an earlier row, of the same revision, with no pause or missing assignment between? */
function reaches(inputs: PreparedInputs, row: StoredResult, eUs: number, freshUs: number, revision: number): boolean {
  return row.eUs - eUs <= freshUs && row.probeRevision === revision && inputs.presentUntil(row.voter, eUs) > row.eUs;
}

/** True when no row from `row` on can join the streak. Unlike `reaches` this does not look at the revision: one of the streak's may still follow. */
export function outOfReach(inputs: PreparedInputs, row: StoredResult, streak: Streak): boolean {
  return row.eUs - streak.lastUs > streak.lastFreshUs || inputs.presentUntil(row.voter, streak.lastUs) <= row.eUs;
}
