import type { Electorate } from './decide.ts';
import { centralVoter } from './decide.ts';

/** Rechecks are asked for only on results younger than this: what is older is told, not acted upon (rule 7). */
export const recheckYoungerThanUs = 60_000_000;

/** While a voter fails every voter checks at least this often. */
export const recheckEveryUs = 30_000_000;

/** What the choice of rechecks knows of a voter. */
export type Candidate = {
  readonly voter: number;
  readonly isHolding: boolean;
  readonly isFailing: boolean;
  /** Its latest results fail: until they are confirmed it checks again by itself. */
  readonly isInStreak: boolean;
  /** When it last checked or was last asked to; minus infinity for never. */
  readonly lastUs: number;
};

/**
 * Who gives the second opinion on a first failure: as many others as complete a quorum; voters of other regions first, among them those
 * that hold a vote (they are there to answer), then by number. Those that fail already are not asked: they know, and a check that comes
 * sooner than their own next one would confirm what lasted a moment.
 */
export function secondOpinions(electorate: Electorate, voter: number, candidates: readonly Candidate[]): number[] {
  const region = electorate.regionOf.get(voter);
  const rank = (other: Candidate): number =>
    (electorate.regionOf.get(other.voter) === region ? 2 : 0) + (other.isHolding ? 0 : 1);
  return candidates
    .filter((other) => other.voter !== voter && !other.isInStreak && mayBeAsked(electorate, other.voter))
    .sort((a, b) => rank(a) - rank(b) || a.voter - b.voter)
    .slice(0, electorate.quorum - 1)
    .map((other) => other.voter);
}

/** Whom a first good result asks: the others that still fail. */
export function stillFailing(electorate: Electorate, voter: number, candidates: readonly Candidate[]): number[] {
  return candidates
    .filter((other) => other.voter !== voter && other.isFailing && mayBeAsked(electorate, other.voter))
    .map((other) => other.voter);
}

/** While somebody fails: those whose last check, or last request for one, is half a minute old. */
export function overdue(electorate: Electorate, nowUs: number, candidates: readonly Candidate[]): number[] {
  return candidates
    .filter((other) => mayBeAsked(electorate, other.voter) && other.lastUs + recheckEveryUs <= nowUs)
    .map((other) => other.voter);
}

/** Assigned now; `central` beside probes only stands in for them and is paced by its own rule. */
export function mayBeAsked(electorate: Electorate, voter: number): boolean {
  if (electorate.closed !== null) return false;
  return voter === centralVoter ? electorate.seats.includes(centralVoter) : electorate.regionOf.has(voter);
}
