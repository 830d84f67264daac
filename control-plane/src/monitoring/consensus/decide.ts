import type { PreparedAssignment, PreparedInputs } from './prepared-inputs.ts';
import type { Piece, Policy, RangeEvidence, RangeStatus, Rule, Status } from './types.ts';

/** `central` checks what has no probe and stands in for probes that have no vote. */
export const centralVoter = 0;
const centralRegion = 'central';

/** Who may vote between two changes of the inputs, and what makes a DOWN. */
export type Electorate = {
  /** Why nobody may vote; null when somebody may. */
  readonly closed: 'not_started' | 'paused' | null;
  /** Open assignments that are no supplements, ascending; the N of rule 4. `central` alone when there is no assignment. */
  readonly seats: readonly number[];
  /** Everybody assigned, supplements too, ascending. */
  readonly assigned: readonly number[];
  readonly regionOf: ReadonlyMap<number, string>;
  readonly quarantined: ReadonlySet<number>;
  readonly quorum: number;
  readonly regionsNeeded: number;
  /** A seat is open that is not among the N yet: its first vote changes who decides. */
  readonly isJoined: boolean;
};

/** Failing voters that make a DOWN, from the number of seats and never from who is present (rule 4). */
export function quorumOf(policy: Policy, seats: number): number {
  switch (policy) {
    case 'any':
      return 1;
    case 'all':
      return Math.max(1, seats);
    case 'majority':
      return Math.max(1, Math.min(seats, Math.max(2, Math.floor(seats / 2) + 1)));
    default:
      return Math.max(1, Math.min(seats, Math.floor(policy)));
  }
}

/** @param voters their votes up to `t`: the first one in a seat that joins others makes it count */
export function electorateAt(inputs: PreparedInputs, t: number, voters: readonly VoterPieces[] = []): Electorate {
  const isOpen = (row: { fromUs: number; toUs: number | null }) =>
    row.fromUs <= t && (row.toUs === null || t < row.toUs);
  const regionOf = new Map<number, string>();
  const seats = new Map<number, string>();
  let isJoined = false;
  for (const row of inputs.assignments) {
    if (!isOpen(row)) continue;
    const isCounted = row.countsUs <= t || hasVoted(row, voters, t);
    if (!isCounted) isJoined = true;
    else if (!row.supplement) seats.set(row.voter, row.region);
    if (!row.supplement || !regionOf.has(row.voter)) regionOf.set(row.voter, row.region);
  }
  if (regionOf.size === 0) {
    seats.set(centralVoter, centralRegion);
    regionOf.set(centralVoter, centralRegion);
  }
  const quorum = quorumOf(inputs.configurationAt(t).policy, seats.size);
  const quarantined = new Set<number>();
  for (const row of inputs.raw.quarantines) if (isOpen(row)) quarantined.add(row.voter);
  return {
    closed: t < inputs.floorUs ? 'not_started' : inputs.isPausedAt(t) ? 'paused' : null,
    seats: [...seats.keys()].sort((a, b) => a - b),
    assigned: [...regionOf.keys()].sort((a, b) => a - b),
    regionOf,
    quarantined,
    quorum,
    regionsNeeded: Math.min(2, quorum, new Set(seats.values()).size),
    isJoined,
  };
}

/** Whether the voter of a seat has held a vote since it opened, up to and including `t`. */
export function hasVoted(
  { voter, fromUs }: Pick<PreparedAssignment, 'voter' | 'fromUs'>,
  voters: readonly VoterPieces[],
  t: number,
): boolean {
  const own = voters.find((candidate) => candidate.voter === voter);
  if (own === undefined) return false;
  return own.votedSeats?.has(fromUs) === true || own.pieces.some((piece) => piece.fromUs <= t && piece.toUs > fromUs);
}

/** The votes of one voter, ascending and disjoint. */
export type VoterPieces = {
  readonly voter: number;
  readonly pieces: readonly Piece[];
  /** Openings of seats in which it voted before these. */
  readonly votedSeats?: ReadonlySet<number>;
};

/** One voter's vote at an instant. */
export type Elector = { readonly voter: number; readonly piece: Piece };

export type Decision = { readonly status: Status; readonly rule: Rule; readonly electors: readonly Elector[] };

/** Rule 5 over the votes held at an instant, ascending by voter. */
export function decide(electorate: Electorate, held: readonly Elector[]): Decision {
  if (electorate.closed !== null) return { status: 'UNKNOWN', rule: electorate.closed, electors: [] };
  const electors = electorsAmong(electorate, held);
  let failing = 0;
  let timedOut = 0;
  let slow = 0;
  let warned = 0;
  let firstRegion: string | undefined;
  let regions = 0;
  for (const { voter, piece } of electors) {
    if (piece.vote === 'DEGRADED') slow += 1;
    else if (piece.vote === 'WARNING') warned += 1;
    else if (piece.vote !== 'UP') {
      failing += 1;
      if (piece.vote === 'TIMEOUT') timedOut += 1;
      // More than two regions are never asked for, so counting to two will do.
      const region = electorate.regionOf.get(voter) ?? centralRegion;
      if (regions === 0) {
        firstRegion = region;
        regions = 1;
      } else if (region !== firstRegion) {
        regions = 2;
      }
    }
  }
  if (electors.length === 0) return { status: 'UNKNOWN', rule: 'no_votes', electors };
  if (failing >= electorate.quorum && regions >= electorate.regionsNeeded) {
    return timedOut * 2 > failing
      ? { status: 'TIMEOUT', rule: 'quorum_timed_out', electors }
      : { status: 'DOWN', rule: 'quorum_failing', electors };
  }
  if (failing > 0) return { status: 'PARTIAL', rule: 'some_failing', electors };
  if (slow * 2 >= electors.length) return { status: 'DEGRADED', rule: 'half_slow', electors };
  if (warned > 0) return { status: 'WARNING', rule: 'any_warning', electors };
  return { status: 'UP', rule: 'answered', electors };
}

function electorsAmong(electorate: Electorate, held: readonly Elector[]): readonly Elector[] {
  const electors =
    electorate.quarantined.size === 0 ? held : held.filter(({ voter }) => !electorate.quarantined.has(voter));
  // Rule 1: beside a single probe the fallback votes only while there is no other vote.
  const isFallback = electorate.seats.length === 1 && electorate.seats[0] !== centralVoter;
  if (isFallback && electors.length > 1 && electors[0]?.voter === centralVoter) return electors.slice(1);
  return electors;
}

export function evidenceOf(electorate: Electorate, decision: Decision): RangeEvidence {
  const { electors, rule, status } = decision;
  if (electorate.closed !== null) return { rule, quorum: 0, voters: [], missing: [] };
  return {
    rule,
    quorum: electorate.quorum,
    voters: electors.map(({ voter, piece: { vote, sinceUs, error } }) => ({ voter, vote, sinceUs, error })),
    missing: electorate.seats.filter((seat) => !electors.some(({ voter }) => voter === seat)),
    ...(status === 'PARTIAL' && electors.length < electorate.quorum ? { quorum_out_of_reach: true } : {}),
  };
}

/** Rule 6; null for UNKNOWN, which leaves a gap. */
export function rangeStatusOf(status: Status): RangeStatus | null {
  switch (status) {
    case 'UNKNOWN':
      return null;
    case 'DEGRADED':
    case 'PARTIAL':
    case 'WARNING':
      return 'DEGRADED';
    case 'UP':
    case 'DOWN':
    case 'TIMEOUT':
      return status;
  }
}
