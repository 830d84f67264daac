import { hasVoted } from './decide.ts';
import { tooLateUs } from './prepared-inputs.ts';
import type { PreparedInputs } from './prepared-inputs.ts';
import { editsBetween, reaching, wantedRanges } from './range-diff.ts';
import { ownRunsOf } from './sweep.ts';
import type { Outcome } from '@parallax/checks';
import type { Piece, RangeEdit, StoredRange, StoredResult } from './types.ts';
import type { RowLog } from './row-log.ts';
import { VoterLog } from './voter-log.ts';
import type { Base } from './voter-log.ts';
import type { VoterState } from './voter-state.ts';

const goodOutcome = { UP: 'ok', DEGRADED: 'slow', WARNING: 'warn' } as const;

/** One voter in the memory of a fold: its log, its stored ranges, and what a result must be to change nothing. */
export class VoterSlot {
  readonly log: VoterLog;
  /** Those of the log: each step on the way to them is another place in memory. */
  readonly #rows: RowLog;
  pieces: readonly Piece[] = [];
  /** Openings of seats that may still join others and in which it voted before its pieces begin. */
  readonly votedSeats = new Set<number>();
  /** The rows of `probe_ranges` as they are stored, from the horizon on. */
  stored: readonly StoredRange[] = [];
  /** When the vote held now ends without another result; infinity when none is held. */
  expiryUs = Number.POSITIVE_INFINITY;
  /** The latest row, whether it counts or not. */
  lastUs = Number.NEGATIVE_INFINITY;
  /** When the voter was last asked to check. */
  askedUs = Number.NEGATIVE_INFINITY;
  /** Start of the failing streak that the latest counting rows are in. */
  streakStartUs: number | null = null;
  /** When a next failure would no longer join that streak. */
  streakEndsUs = Number.NEGATIVE_INFINITY;
  isHolding = false;
  isFailing = false;
  compactAt: number;

  // A row that is later than lastUs, not later than #limitUs, of this revision and one of these outcomes repeats the vote.
  #limitUs = Number.NEGATIVE_INFINITY;
  #capUs = Number.NEGATIVE_INFINITY;
  #revision = 0;
  #outcome: Outcome = 'ok';
  #otherOutcome: Outcome = 'ok';
  /** What all rows from its own row on repeat; null when there is no such state. */
  #repeated: Base | null = null;

  constructor(voter: number, compactAt: number) {
    this.log = new VoterLog(voter);
    this.#rows = this.log.rows;
    this.compactAt = compactAt;
  }

  /** True when as many rows are kept as may be until some are let go. */
  get isFull(): boolean {
    return this.#rows.length >= this.compactAt;
  }

  get voter(): number {
    return this.log.voter;
  }

  /** True when the row only makes the vote that is held last longer. Then it is kept. One that shortens it may come late and change the past. */
  repeat(row: StoredResult): boolean {
    const eUs = row.eUs;
    const freshUntilUs = eUs + row.freshS * 1_000_000;
    const capUs = this.#capUs;
    const untilUs = freshUntilUs < capUs ? freshUntilUs : capUs;
    if (
      eUs > this.lastUs &&
      eUs <= this.#limitUs &&
      untilUs >= this.expiryUs &&
      (row.outcome === this.#outcome || row.outcome === this.#otherOutcome) &&
      row.probeRevision === this.#revision &&
      row.kind !== 'manual' &&
      row.receivedUs - eUs <= tooLateUs
    ) {
      this.#rows.push(row);
      this.lastUs = eUs;
      this.expiryUs = untilUs;
      this.#limitUs = freshUntilUs < capUs ? freshUntilUs : capUs - 1;
      return true;
    }
    return false;
  }

  /** Makes every row take the long way until the next `settle`. */
  unsettle(): void {
    this.#limitUs = Number.NEGATIVE_INFINITY;
    this.#repeated = null;
  }

  /** True while all later rows repeated a vote that is held: then no streak is open that may yet be confirmed. */
  get isRepeating(): boolean {
    return this.#repeated !== null;
  }

  /** Computes the voter's pieces anew and what would repeat its vote. `frontierUs` is the instant up to which the timeline is told. */
  settle(inputs: PreparedInputs, frontierUs: number): VoterState | null {
    const { pieces, final } = this.log.walk(inputs);
    this.pieces = pieces;
    this.lastUs = Math.max(this.log.rows.lastUs, this.log.baseUs);
    const last = pieces.at(-1);
    this.isHolding = last !== undefined && last.toUs > frontierUs;
    this.isFailing = this.isHolding && (last?.vote === 'DOWN' || last?.vote === 'TIMEOUT');
    this.expiryUs = this.isHolding && last !== undefined ? last.toUs : Number.POSITIVE_INFINITY;
    this.unsettle();
    if (last !== undefined && this.isHolding && final !== null && final.eUs === this.lastUs) {
      this.#expectRepeats(final, last.sinceUs, inputs);
    }
    return final;
  }

  #expectRepeats(final: VoterState, sinceUs: number, inputs: PreparedInputs): void {
    const { vote, streak } = final;
    if (vote === null || (streak !== null && !streak.confirmed)) return;
    this.#repeated = { state: final, sinceUs };
    this.#otherOutcome = vote === 'DOWN' || vote === 'TIMEOUT' ? 'timeout' : goodOutcome[vote];
    this.#outcome = vote === 'DOWN' ? 'fail' : this.#otherOutcome;
    this.#revision = final.revision;
    this.#capUs = Math.min(inputs.presentUntil(this.voter, final.eUs), inputs.revisionUntil(final.revision, final.eUs));
    this.#limitUs = Math.min(final.eUs + final.freshUs, this.#capUs - 1);
  }

  /** The writes that bring `probe_ranges` up to the pieces; from then on they count as stored. */
  takeEdits(
    inputs: PreparedInputs,
    horizonUs: number,
    untilUs: number,
    told: { isLate: boolean; untilUs: number },
  ): RangeEdit[] {
    const runs = ownRunsOf(this, horizonUs, untilUs);
    const { floorUs, raw } = inputs;
    const wanted = wantedRanges(this.stored, runs, horizonUs, untilUs, floorUs);
    const edits = editsBetween(raw.monitorId, this.voter, this.stored, wanted, told.isLate, told.untilUs, floorUs);
    if (edits.length > 0) {
      this.stored = wanted.map(({ startedUs, endedUs, status }) => ({ voter: this.voter, startedUs, endedUs, status }));
    }
    return edits;
  }

  /**
   * Notes in which seats that may still join others at the horizon it voted before, while its pieces reach so far back.
   * @param votedUntilUs when the latest of its stored ranges that began before the horizon ends
   */
  noteVotedSeats(inputs: PreparedInputs, horizonUs: number, votedUntilUs = Number.NEGATIVE_INFINITY): void {
    if (inputs.joining.length === 0) return;
    const seats = inputs.joining.filter(
      ({ voter, fromUs, countsUs }) => voter === this.voter && fromUs < horizonUs && horizonUs < countsUs,
    );
    const voted = seats.filter((seat) => votedUntilUs > seat.fromUs || hasVoted(seat, [this], horizonUs - 1));
    this.votedSeats.clear();
    for (const { fromUs } of voted) this.votedSeats.add(fromUs);
  }

  /** Lets go of rows and ranges that lie before the new horizon. */
  compact(inputs: PreparedInputs, horizonUs: number): void {
    this.noteVotedSeats(inputs, horizonUs);
    if (!this.#compactRepeats(horizonUs)) this.log.compact(inputs, horizonUs);
    this.stored = reaching(this.stored, horizonUs);
  }

  /** Where the new base is a row that repeats the vote, its state is known without a walk. */
  #compactRepeats(horizonUs: number): boolean {
    const { rows } = this.log;
    let index = rows.length - 1;
    while (index >= 0 && rows.eAt(index) > horizonUs) index -= 1;
    if (this.#repeated === null || rows.eAt(index) <= this.#repeated.state.eUs) return false;
    const row = rows.at(index);
    const { state, sinceUs } = this.#repeated;
    const freshUs = row.freshS * 1_000_000;
    const { eUs, error } = row;
    const endsUs = Math.min(eUs + freshUs, this.#capUs);
    const streak = state.streak === null ? null : { ...state.streak, lastUs: eUs, lastFreshUs: freshUs };
    this.#repeated = { state: { ...state, eUs, freshUs, error, endsUs, streak }, sinceUs };
    this.log.base = this.#repeated;
    rows.dropUntil(eUs);
    return true;
  }
}
