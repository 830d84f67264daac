import type { PreparedInputs } from './prepared-inputs.ts';
import { rangeStatusOf } from './decide.ts';
import { RowLog } from './row-log.ts';
import type { Piece, StoredRange, Vote } from './types.ts';
import { failingVote, isSettled, nextState } from './voter-state.ts';
import type { VoterState } from './voter-state.ts';

/** What a walk over the rows found. */
export type Walk = { readonly pieces: readonly Piece[]; readonly final: VoterState | null };

/** What a voter said at its base: the state after the last row that was let go, and since when it votes so. */
export type Base = { readonly state: VoterState; readonly sinceUs: number };

type Step = { readonly state: VoterState; vote: Vote | null; sinceUs: number; readonly failing: boolean };

/**
 * The rows of one voter from a base on, oldest first, at most one per instant. The base is a settled state, so no row that comes after it
 * changes what was voted before it.
 */
export class VoterLog {
  readonly voter: number;
  base: Base | null = null;
  readonly rows: RowLog;

  constructor(voter: number) {
    this.voter = voter;
    this.rows = new RowLog(voter);
  }

  /** Time of the base; minus infinity when all rows ever are here. */
  get baseUs(): number {
    return this.base?.state.eUs ?? Number.NEGATIVE_INFINITY;
  }

  /**
   * Sets the base for a restore: the last settled state before the horizon. `voted` is the latest failing status that is stored of before
   * the horizon: it alone tells of a `fail` that came before the rows that are known.
   */
  anchor(
    inputs: PreparedInputs,
    horizonUs: number,
    voted: 'DOWN' | 'TIMEOUT' | undefined,
    stored: readonly StoredRange[],
  ): void {
    const state = this.stateBefore(horizonUs, inputs);
    const streak = state?.streak ?? null;
    this.compact(inputs, horizonUs - 1);
    if (voted === 'DOWN' && state !== null && streak?.confirmed && streak.firstFailUs > state.eUs) {
      const before = { ...streak, firstFailUs: Number.NEGATIVE_INFINITY };
      const vote = state.vote === 'TIMEOUT' ? 'DOWN' : state.vote;
      this.base = { state: { ...state, vote, streak: before }, sinceUs: this.base?.sinceUs ?? state.eUs };
    }
    if (this.base === null) return;
    const { state: base, sinceUs } = this.base;
    const status = base.vote === null ? null : rangeStatusOf(base.vote);
    const range = stored.find(
      ({ startedUs, endedUs }) => startedUs <= base.eUs && (endedUs === null || endedUs > base.eUs),
    );
    if (range !== undefined && range.status === status) {
      this.base = { state: base, sinceUs: Math.min(sinceUs, range.startedUs) };
    }
  }

  /** Fits the end of the base's vote to inputs that changed after it. */
  reconfigure(inputs: PreparedInputs): void {
    if (this.base === null) return;
    const state = this.base.state;
    const endsUs = Math.min(
      state.eUs + state.freshUs,
      inputs.presentUntil(this.voter, state.eUs),
      inputs.revisionUntil(state.revision, state.eUs),
    );
    this.base = { state: { ...state, endsUs }, sinceUs: this.base.sinceUs };
  }

  /** The state that the rows before `t` leave. */
  stateBefore(t: number, inputs: PreparedInputs): VoterState | null {
    let state = this.base?.state ?? null;
    for (const row of this.rows) {
      if (row.eUs >= t) break;
      if (inputs.counts(row)) state = nextState(state, row, inputs);
    }
    return state;
  }

  walk(inputs: PreparedInputs): Walk {
    const steps = this.#steps(inputs);
    const pieces: Piece[] = [];
    steps.forEach((step, index) => {
      const { eUs, endsUs, error } = step.state;
      const toUs = Math.min(endsUs, steps[index + 1]?.state.eUs ?? Number.POSITIVE_INFINITY);
      if (step.vote !== null && toUs > eUs) {
        pieces.push({ fromUs: eUs, toUs, vote: step.vote, sinceUs: step.sinceUs, error });
      }
    });
    return { pieces, final: steps.at(-1)?.state ?? null };
  }

  /** Lets go of rows up to the last settled one at or before `keepFromUs`. */
  compact(inputs: PreparedInputs, keepFromUs: number): void {
    let chosen: Step | undefined;
    for (const step of this.#steps(inputs)) {
      if (step.state.eUs > keepFromUs) break;
      if (isSettled(step.state)) chosen = step;
    }
    if (chosen === undefined || chosen.state.eUs <= this.baseUs) return;
    const baseUs = chosen.state.eUs;
    this.base = { state: chosen.state, sinceUs: chosen.sinceUs };
    this.rows.dropUntil(baseUs);
  }

  /** The base and every row that counts, with the vote that it has in the light of all rows. */
  #steps(inputs: PreparedInputs): Step[] {
    const steps: Step[] = [];
    let state = this.base?.state ?? null;
    if (this.base !== null) {
      steps.push({ state: this.base.state, vote: this.base.state.vote, sinceUs: this.base.sinceUs, failing: false });
    }
    for (const row of this.rows) {
      if (!inputs.counts(row)) continue;
      const wasConfirmed = state?.streak?.confirmed ?? false;
      const next: VoterState = nextState(state, row, inputs);
      const failing = row.outcome === 'fail' || row.outcome === 'timeout';
      steps.push({ state: next, vote: next.vote, sinceUs: next.eUs, failing });
      const streak = next.streak;
      if (streak?.confirmed && failing && !wasConfirmed) {
        // Confirmed just now: the whole streak votes, from its first failure on.
        for (const step of steps) {
          if (step.failing && step.state.eUs >= streak.startUs) step.vote = failingVote(streak, step.state.eUs);
        }
      }
      state = next;
    }
    dateBack(steps);
    return steps;
  }
}

/** Neighbours of equal vote without a break between them share their beginning. */
function dateBack(steps: readonly Step[]): void {
  for (let index = 1; index < steps.length; index += 1) {
    const before = steps[index - 1];
    const step = steps[index];
    if (before === undefined || step === undefined) continue;
    if (before.vote === step.vote && before.state.endsUs >= step.state.eUs) step.sinceUs = before.sinceUs;
  }
}
