import { outcomes } from '@parallax/checks';
import { canVote, fromLastVerdicts, PreparedInputs, ranges, timeline } from '../../consensus/index.ts';
import type { Assignment, MonitorInputs, RangeRun, Segment, Status, StoredResult } from '../../consensus/index.ts';

/** What the batch form of consensus says of a time: the monitor's ranges and those of each voter, and the status at its end. */
export type DerivedRanges = {
  readonly all: readonly RangeRun[];
  readonly perVoter: ReadonlyMap<number, readonly RangeRun[]>;
  readonly status: Status;
};

export type SlicedOptions = {
  readonly inputs: MonitorInputs;
  /** Where the ranges begin and where they end, microseconds. */
  readonly fromUs: number;
  readonly untilUs: number;
  /** Rows before it, as `FoldRestore.before` has them; none when nothing is there. */
  readonly before: readonly StoredResult[];
  /** For each voter its latest failing status before it. */
  readonly votesAtStart: ReadonlyMap<number, 'DOWN' | 'TIMEOUT'>;
  /** For each voter when the latest of its ranges that began before it ends; infinity: it is open. Absent: there were none. */
  readonly votedUntilUs?: ReadonlyMap<number, number> | undefined;
  /** Rows of a slice; the usual number when absent. */
  readonly sliceRows?: number | undefined;
};

/** The cost of the batch form grows with the square of its rows and more. */
const usualSliceRows = 100;
/** A streak is confirmed by its fifth result at the latest. */
const longestConfirmation = 5;

/** `votedUntilUs`: until when it last said something. */
type Track = { segments: Segment[]; latest: Status | undefined; votedUntilUs: number };

const silent = (): Track => ({ segments: [], latest: undefined, votedUntilUs: Number.NEGATIVE_INFINITY });

/**
 * The batch form of consensus over a long time, slice by slice. Each slice is given what it needs of the rows around it: before it each voter's last
 * six verdicts, after it what may confirm a streak that begins in it. Evidence is not to be used: it tells of its slice only.
 */
export class SlicedTimeline {
  readonly #inputs: MonitorInputs;
  readonly #prepared: PreparedInputs;
  readonly #sliceRows: number;
  readonly #untilUs: number;
  #fromUs: number;
  #before: readonly StoredResult[];
  /** Oldest first, none before `#fromUs`. */
  #rows: StoredResult[] = [];
  readonly #all = silent();
  readonly #perVoter = new Map<number, Track>();
  #triedAt = 0;

  constructor(options: SlicedOptions) {
    const { inputs, fromUs, untilUs, before, votesAtStart, votedUntilUs, sliceRows = usualSliceRows } = options;
    this.#inputs = inputs;
    this.#fromUs = fromUs;
    this.#untilUs = untilUs;
    this.#prepared = new PreparedInputs(inputs);
    this.#before = oldestFirst(fromLastVerdicts(before.filter((row) => this.#isCounting(row))));
    this.#sliceRows = sliceRows;
    for (const [voter, latest] of votesAtStart) this.#trackOf(voter).latest = latest;
    for (const [voter, until] of votedUntilUs ?? []) this.#trackOf(voter).votedUntilUs = until;
  }

  /** Takes the next rows, oldest first, none before those that it has. Those that count nowhere are left out: the others are counted here. */
  add(rows: readonly StoredResult[]): void {
    for (const row of rows) {
      if (!this.#isCounting(row)) continue;
      const place = this.#rows.findLastIndex((other) => other.eUs < row.eUs || other.voter === row.voter);
      const other = this.#rows[place];
      if (other?.eUs !== row.eUs) this.#rows.push(row);
      else if (isAfter(row, other)) this.#rows[place] = row;
      if (this.#rows.length - this.#triedAt > this.#sliceRows) this.#cut();
    }
  }

  /** True when rows after those that it has can change nothing any more. */
  get isComplete(): boolean {
    const newestUs = this.#rows.at(-1)?.eUs ?? Number.NEGATIVE_INFINITY;
    return newestUs >= this.#untilUs && this.#mayGoOn(this.#untilUs, newestUs).length === 0;
  }

  /** The ranges; nothing can be added any more. */
  finish(): DerivedRanges {
    for (let cutUs = this.#nextCut(); cutUs !== undefined; cutUs = this.#nextCut()) this.#emit(cutUs);
    this.#emit(this.#untilUs);
    const perVoter = new Map([...this.#perVoter].map(([voter, { segments }]) => [voter, ranges(segments)]));
    return { all: ranges(this.#all.segments), perVoter, status: this.#all.segments.at(-1)?.status ?? 'UNKNOWN' };
  }

  #isCounting(row: StoredResult): boolean {
    return canVote(row) && this.#prepared.counts(row);
  }

  /** Where the next slice may end: no slice is empty, and rows of one instant stay together. */
  #nextCut(): number | undefined {
    for (let at = this.#sliceRows; at < this.#rows.length; at += 1) {
      const eUs = this.#rows[at]?.eUs;
      if (eUs !== undefined && eUs > this.#fromUs) return eUs < this.#untilUs ? eUs : undefined;
    }
    return undefined;
  }

  /** Ends a slice where enough has come of it and after it. */
  #cut(): void {
    const untilUs = this.#nextCut();
    const newestUs = this.#rows.at(-1)?.eUs;
    if (untilUs === undefined || newestUs === undefined || this.#mayGoOn(untilUs, newestUs).length > 0) {
      this.#triedAt = this.#rows.length;
      return;
    }
    this.#emit(untilUs);
    this.#triedAt = Math.max(0, this.#rows.length - this.#sliceRows);
  }

  /** Voters of which a row after the newest one could still belong to a streak that began before a time. */
  #mayGoOn(untilUs: number, newestUs: number): number[] {
    const latest = new Map<number, { row: StoredResult; after: number }>();
    for (const row of [...this.#before, ...this.#rows]) {
      const known = latest.get(row.voter);
      const isVerdict = row.outcome !== 'probe_error';
      // A probe's own error neither extends nor breaks a streak: what counts is the row before it.
      if (row.eUs < untilUs) latest.set(row.voter, { row: isVerdict ? row : (known?.row ?? row), after: 0 });
      else if (known !== undefined && isVerdict) {
        const isBroken = row.eUs - known.row.eUs > freshUs(known.row);
        latest.set(row.voter, { row, after: isBroken ? longestConfirmation : known.after + 1 });
      }
    }
    return [...latest].flatMap(([voter, { row, after }]) =>
      after < longestConfirmation && newestUs - row.eUs <= freshUs(row) ? [voter] : [],
    );
  }

  #emit(untilUs: number): void {
    if (untilUs <= this.#fromUs) return;
    const inside = this.#rows.filter((row) => row.eUs < untilUs);
    const rest = this.#rows.slice(inside.length);
    const rows = [...this.#anchored(), ...inside, ...firstVerdicts(rest)];
    const { segments, perVoter } = timeline(this.#inputsOfSlice(), rows, this.#fromUs, untilUs);
    append(this.#all, segments);
    for (const voter of new Set([...perVoter.keys(), ...this.#perVoter.keys()])) {
      append(this.#trackOf(voter), perVoter.get(voter) ?? []);
    }
    this.#before = oldestFirst(fromLastVerdicts([...this.#before, ...inside]));
    this.#rows = rest;
    this.#fromUs = untilUs;
  }

  #trackOf(voter: number): Track {
    const track = this.#perVoter.get(voter) ?? silent();
    this.#perVoter.set(voter, track);
    return track;
  }

  /** The inputs, but for seats whose voter has voted in them before the slice: these count, and its rows need not show why. */
  #inputsOfSlice(): MonitorInputs {
    const { assignments } = this.#inputs;
    const hasVoted = ({ voter, fromUs }: Assignment): boolean =>
      (this.#perVoter.get(voter)?.votedUntilUs ?? Number.NEGATIVE_INFINITY) > fromUs;
    if (!assignments.some((row) => row.countsByUs !== undefined && hasVoted(row))) return this.#inputs;
    const known = assignments.map((row) => (hasVoted(row) ? { ...row, countsByUs: undefined } : row));
    return { ...this.#inputs, assignments: known };
  }

  /**
   * The rows before the slice. Of a long streak they are the last ones only: where all of them are timeouts and the voter has voted DOWN, one of
   * the streak's earlier results was a failure, and that is told by the first of them.
   */
  #anchored(): StoredResult[] {
    return [...Map.groupBy(this.#before, (row) => row.voter)].flatMap(([voter, rows]) => {
      const verdicts = rows.filter((row) => row.outcome !== 'probe_error').sort((a, b) => a.eUs - b.eUs);
      const [first] = verdicts;
      const isLong = verdicts.length > longestConfirmation && verdicts.every((row) => row.outcome === 'timeout');
      if (first === undefined || !isLong || this.#perVoter.get(voter)?.latest !== 'DOWN') return rows;
      return rows.map((row) => (row === first ? { ...row, outcome: 'fail' as const } : row));
    });
  }
}

const oldestFirst = (rows: readonly StoredResult[]): StoredResult[] => rows.toSorted((a, b) => a.eUs - b.eUs);
const freshUs = (row: StoredResult): number => row.freshS * 1_000_000;

/** Which of two rows of one voter and instant counts: the last by any of its columns, as in the batch form. */
function isAfter(row: StoredResult, other: StoredResult): boolean {
  const order =
    row.probeRevision - other.probeRevision ||
    outcomes.indexOf(row.outcome) - outcomes.indexOf(other.outcome) ||
    row.freshS - other.freshS ||
    row.error - other.error;
  return order > 0;
}

/** Of each voter the first rows, as many as confirm any streak. */
function firstVerdicts(rows: readonly StoredResult[]): StoredResult[] {
  const taken = new Map<number, number>();
  return rows.filter((row) => {
    const count = taken.get(row.voter) ?? 0;
    if (row.outcome !== 'probe_error') taken.set(row.voter, count + 1);
    return count < longestConfirmation;
  });
}

/** Adds segments that begin where the track ends; neighbours of one status become one. */
function append(track: Track, segments: readonly Segment[]): void {
  for (const segment of segments) {
    const last = track.segments.at(-1);
    if (last !== undefined && last.status === segment.status && last.toUs === segment.fromUs) {
      track.segments[track.segments.length - 1] = { ...last, toUs: segment.toUs };
    } else track.segments.push(segment);
    if (segment.status === 'UNKNOWN') continue;
    track.latest = segment.status;
    track.votedUntilUs = segment.toUs;
  }
}
