import { ranges, timeline } from '../../consensus/index.ts';
import type { MonitorInputs, RangeEvidence, RangeStatus, Segment, StoredResult } from '../../consensus/index.ts';
import type { StoredEvidence } from './votes.ts';

/** A result with how long its check took. */
export type TimedResult = StoredResult & { readonly totalUs: number };

/** A range as it is stored; microseconds, an open one ends null. */
export type ReplayedRange = {
  readonly startedUs: number;
  readonly endedUs: number | null;
  readonly status: RangeStatus;
};

/** A time that is read; half-open. */
export type ReadWindow = { readonly fromUs: number; readonly toUs: number };

// The batch form's cost grows faster than the square of the rows, so what is replayed is bounded by rows.
/** Rows on each side of the beginning of a range at which the replay ends. */
const rowsAround = 100;
/** Rows of a voter before what is replayed: more than decide its vote. */
const rowsBefore = 20;
/** Rows of a voter after it: as many as may confirm a streak. */
const rowsAfter = 10;
/** Freshnesses that are read before and after: in each there is a row, or the vote has ended. */
const freshnesses = 7;
/** What is shown of the time after a range. */
const afterUs = 60_000_000;
/** Results that are shown of a vote. */
const mostShown = 20;

/** What must be read to replay a range, or its beginning when it is long. */
export function readWindowOf(
  range: ReplayedRange,
  rate: { readonly longestFreshUs: number; readonly resultsPerHour: number; readonly foldedUs: number },
): ReadWindow {
  const endUs = range.endedUs ?? rate.foldedUs;
  const wholeUs = Math.max(
    2 * rate.longestFreshUs,
    (rowsAround / Math.max(rate.resultsPerHour, 0.001)) * 3_600_000_000,
  );
  return {
    fromUs: range.startedUs - (freshnesses + 1) * rate.longestFreshUs,
    toUs: Math.min(endUs, range.startedUs + wholeUs) + (freshnesses + 1) * rate.longestFreshUs,
  };
}

export type Replay = {
  readonly fromUs: number;
  readonly toUs: number;
  readonly isWhole: boolean;
  readonly results: number;
  readonly segments: readonly Segment[];
  /** Of the instant at which the stored range begins. */
  readonly evidence: RangeEvidence;
  /** What the range is by the results; null: there is none at its beginning. */
  readonly found: { readonly startedUs: number; readonly endedUs: number | null; readonly status: RangeStatus } | null;
  /** Oldest result of each voter that took part: what a vote was before is not known. */
  readonly knownFromUs: ReadonlyMap<number, number>;
  readonly resultsOf: ReadonlyMap<number, readonly TimedResult[]>;
};

/**
 * Computes a range again from stored results by the batch form: whole when it has few results, else its beginning.
 * @param rows all results of the window of `readWindowOf`, oldest first
 * @param foldedUs how far results are folded: an open range lasts until there
 */
export function replay(
  range: ReplayedRange,
  inputs: MonitorInputs,
  rows: readonly TimedResult[],
  limits: { readonly longestFreshUs: number; readonly foldedUs: number },
): Replay {
  const { fromUs, toUs, isWhole } = windowOf(range, rows, limits);
  const kept = around(rows, fromUs, toUs);
  const { segments } = timeline(inputs, kept, fromUs, toUs);
  const atStart = timeline(inputs, kept, range.startedUs, range.startedUs + 1).segments[0];
  const run = ranges(segments).find((each) => each.fromUs <= range.startedUs && range.startedUs < each.toUs);
  const resultsOf = Map.groupBy(kept, (row) => row.voter);
  return {
    fromUs,
    toUs,
    isWhole,
    results: kept.length,
    segments,
    evidence: atStart?.evidence ?? { rule: 'no_votes', quorum: 0, voters: [], missing: [] },
    found:
      run === undefined
        ? null
        : { startedUs: run.fromUs, endedUs: run.toUs >= toUs ? null : run.toUs, status: run.status },
    knownFromUs: new Map([...resultsOf].map(([voter, own]) => [voter, own[0]?.eUs ?? 0])),
    resultsOf,
  };
}

/** From a little before the beginning of the range to its end, or to a little after its beginning. */
function windowOf(
  { startedUs, endedUs }: ReplayedRange,
  rows: readonly TimedResult[],
  { longestFreshUs, foldedUs }: { readonly longestFreshUs: number; readonly foldedUs: number },
): { readonly fromUs: number; readonly toUs: number; readonly isWhole: boolean } {
  const before = rows.findLastIndex((row) => row.eUs < startedUs) + 1;
  const fromUs = Math.max(startedUs - longestFreshUs, rows[before - rowsAround]?.eUs ?? Number.NEGATIVE_INFINITY);
  const limitUs = rows[before + rowsAround]?.eUs ?? Number.POSITIVE_INFINITY;
  const endUs = endedUs ?? foldedUs;
  if (endUs < limitUs) {
    // An open range lasts at the instant until which it is told; of a closed one a little is shown of what came after it.
    const toUs =
      endedUs === null ? foldedUs + 1 : Math.max(endedUs + 1, Math.min(endedUs + afterUs, foldedUs, limitUs));
    return { fromUs, toUs, isWhole: true };
  }
  return { fromUs, toUs: Math.min(startedUs + longestFreshUs, limitUs), isWhole: false };
}

/** Of each voter the rows of a window and as many around it as decide its votes in the window. */
function around(rows: readonly TimedResult[], fromUs: number, toUs: number): TimedResult[] {
  return [...Map.groupBy(rows, (row) => row.voter).values()].flatMap((own) => {
    const first = own.findIndex((row) => row.eUs >= fromUs);
    const after = own.findIndex((row) => row.eUs >= toUs);
    const from = first === -1 ? own.length : first;
    const to = after === -1 ? own.length : after;
    return own.slice(Math.max(0, from - rowsBefore), to + rowsAfter);
  });
}

/** Something that is stored otherwise than it was recomputed. */
export type Difference = {
  readonly field: string;
  readonly stored: string | number | boolean | null;
  readonly recomputed: string | number | boolean | null;
};

/** How the stored range differs from the results: status, beginning and, if it was replayed whole, end. */
export function rangeDifferences(range: ReplayedRange, { found, isWhole }: Replay): Difference[] {
  const fields: Difference[] = [{ field: 'status', stored: range.status, recomputed: found?.status ?? 'UNKNOWN' }];
  if (found !== null) {
    fields.push({ field: 'started_at', stored: iso(range.startedUs), recomputed: iso(found.startedUs) });
    if (isWhole) fields.push({ field: 'ended_at', stored: iso(range.endedUs), recomputed: iso(found.endedUs) });
  }
  return fields.filter(({ stored, recomputed }) => stored !== recomputed);
}

/** How the stored votes differ from those of the instant at which the range begins. */
export function evidenceDifferences(stored: StoredEvidence, { evidence, knownFromUs }: Replay): Difference[] {
  const fields: Difference[] = [
    { field: 'rule', stored: stored.rule, recomputed: evidence.rule },
    { field: 'quorum', stored: stored.quorum, recomputed: evidence.quorum },
    {
      field: 'quorum_out_of_reach',
      stored: stored.quorum_out_of_reach,
      recomputed: evidence.quorum_out_of_reach ?? false,
    },
    { field: 'missing', stored: stored.missing.join(), recomputed: evidence.missing.join() },
  ];
  const voters = new Set([...stored.voters, ...evidence.voters].map(({ voter }) => voter));
  for (const voter of [...voters].sort((a, b) => a - b)) {
    const was = stored.voters.find((vote) => vote.voter === voter);
    const is = evidence.voters.find((vote) => vote.voter === voter);
    const field = (name: string): string => `votes.${voter}.${name}`;
    fields.push({ field: field('vote'), stored: was?.vote ?? null, recomputed: is?.vote ?? null });
    if (was === undefined || is === undefined) continue;
    fields.push({ field: field('error'), stored: was.error, recomputed: is.error });
    // A vote that lasts since before what is known may have begun at any time.
    const isCut = is.sinceUs <= (knownFromUs.get(voter) ?? Number.NEGATIVE_INFINITY) && was.sinceUs <= is.sinceUs;
    if (!isCut) fields.push({ field: field('since'), stored: iso(was.sinceUs), recomputed: iso(is.sinceUs) });
  }
  return fields.filter((each) => each.stored !== each.recomputed);
}

/**
 * The results that a vote at an instant rests on, oldest first: of a failing one those that confirmed it, of every other the last; both with
 * what lies between and a little of what was before.
 */
export function resultsBehind(
  vote: RangeEvidence['voters'][number],
  atUs: number,
  { resultsOf }: Pick<Replay, 'resultsOf'>,
): readonly TimedResult[] {
  const own = resultsOf.get(vote.voter) ?? [];
  const isFailing = vote.vote === 'DOWN' || vote.vote === 'TIMEOUT';
  const last = own.findLastIndex((row) => row.eUs <= atUs);
  const first = own.findIndex((row) => row.eUs >= vote.sinceUs);
  const until = isFailing ? Math.max(last, first + mostConfirmations - 1) : last;
  return own.slice(Math.max(0, isFailing ? first - 1 : last - 2, until - mostShown + 1), until + 1);
}

const mostConfirmations = 5;

/** Microseconds exactly, since ranges are told apart by them. */
function iso(us: number | null): string | null {
  if (us === null) return null;
  const micros = String(((us % 1_000) + 1_000) % 1_000).padStart(3, '0');
  return new Date(Math.floor(us / 1_000)).toISOString().replace('Z', `${micros}Z`);
}
