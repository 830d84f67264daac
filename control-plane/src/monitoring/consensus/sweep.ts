import { decide, electorateAt, evidenceOf, rangeStatusOf } from './decide.ts';
import type { Elector, Electorate, VoterPieces } from './decide.ts';
import type { PreparedInputs } from './prepared-inputs.ts';
import type { RangeEvidence, RangeRun, Segment } from './types.ts';

/** The status over [fromUs, toUs) from votes of voters in ascending order: maximal segments that partition it. */
export function sweep(inputs: PreparedInputs, voters: readonly VoterPieces[], fromUs: number, toUs: number): Segment[] {
  const instants = instantsOf(inputs, voters, fromUs, toUs);
  const cursors = voters.map(() => 0);
  const segments: Segment[] = [];
  let electorate: Electorate | undefined;
  let nextChangeUs = Number.NEGATIVE_INFINITY;
  instants.forEach((t, index) => {
    if (electorate === undefined || electorate.isJoined || t >= nextChangeUs) {
      electorate = electorateAt(inputs, t, voters);
      nextChangeUs = inputs.nextChangeAfter(t);
    }
    const decision = decide(electorate, heldAt(voters, cursors, t));
    const endUs = instants[index + 1] ?? toUs;
    const last = segments.at(-1);
    if (last?.status === decision.status) {
      segments[segments.length - 1] = { ...last, toUs: endUs };
    } else {
      segments.push({ fromUs: t, toUs: endUs, status: decision.status, evidence: evidenceOf(electorate, decision) });
    }
  });
  return segments;
}

function instantsOf(inputs: PreparedInputs, voters: readonly VoterPieces[], fromUs: number, toUs: number): number[] {
  const instants = [fromUs];
  const add = (t: number) => {
    if (t > fromUs && t < toUs) instants.push(t);
  };
  for (const { pieces } of voters) {
    for (const piece of pieces) {
      add(piece.fromUs);
      add(piece.toUs);
    }
  }
  for (const change of inputs.changes) add(change);
  instants.sort((a, b) => a - b);
  return instants.filter((t, index) => t !== instants[index - 1]);
}

/** Moves each voter's cursor to its piece at `t`; `t` only grows within a sweep. */
function heldAt(voters: readonly VoterPieces[], cursors: number[], t: number): Elector[] {
  const held: Elector[] = [];
  voters.forEach(({ voter, pieces }, index) => {
    let cursor = cursors[index] ?? 0;
    while ((pieces[cursor]?.toUs ?? Number.POSITIVE_INFINITY) <= t) cursor += 1;
    cursors[index] = cursor;
    const piece = pieces[cursor];
    if (piece !== undefined && piece.fromUs <= t) held.push({ voter, piece });
  });
  return held;
}

/** Segments as the ranges that are stored: neighbours of equal range status as one, UNKNOWN as a gap. */
export function runsOf(segments: readonly Segment[]): RangeRun[] {
  const runs: RangeRun[] = [];
  for (const segment of segments) {
    const status = rangeStatusOf(segment.status);
    if (status !== null) extend(runs, segment.fromUs, segment.toUs, status, () => segment.evidence);
  }
  return runs;
}

/** The ranges of one voter within [fromUs, toUs). */
export function ownRunsOf({ voter, pieces }: VoterPieces, fromUs: number, toUs: number): RangeRun[] {
  const runs: RangeRun[] = [];
  for (const piece of pieces) {
    const status = rangeStatusOf(piece.vote);
    const startUs = Math.max(piece.fromUs, fromUs);
    const endUs = Math.min(piece.toUs, toUs);
    if (status === null || startUs >= endUs) continue;
    extend(runs, startUs, endUs, status, () => ({
      rule: 'own_votes',
      quorum: 0,
      voters: [{ voter, vote: piece.vote, sinceUs: piece.sinceUs, error: piece.error }],
      missing: [],
    }));
  }
  return runs;
}

function extend(
  runs: RangeRun[],
  fromUs: number,
  toUs: number,
  status: RangeRun['status'],
  evidence: () => RangeEvidence,
): void {
  const last = runs.at(-1);
  if (last !== undefined && last.status === status && last.toUs === fromUs) {
    runs[runs.length - 1] = { ...last, toUs };
  } else {
    runs.push({ fromUs, toUs, status, evidence: evidence() });
  }
}
