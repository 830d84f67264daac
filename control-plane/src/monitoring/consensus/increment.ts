import { electorateAt, rangeStatusOf } from './decide.ts';
import type { Electorate } from './decide.ts';
import { foldLimits, lateAfterUs, longestCheckUs, rowsBeforeHorizon } from './fold.ts';
import type { FoldLimits, FoldRestore, FoldResult, MonitorFold, Taken } from './fold.ts';
import { outlookOf } from './outlook.ts';
import type { Outlook } from './outlook.ts';
import { canVote, firstDifference, PreparedInputs } from './prepared-inputs.ts';
import { editsBetween, reaching, wantedRanges } from './range-diff.ts';
import { RecheckPlanner } from './recheck-planner.ts';
import type { Scene } from './recheck-planner.ts';
import { standingOf } from './standing.ts';
import type { Standing } from './standing.ts';
import { runsOf, sweep } from './sweep.ts';
import type {
  MonitorInputs,
  RangeEdit,
  RangeEvidence,
  Segment,
  Status,
  StoredRange,
  StoredResult,
  Transition,
} from './types.ts';
import { VoterSlot } from './voter-slot.ts';
import { isSettled, outOfReach } from './voter-state.ts';
import type { VoterState } from './voter-state.ts';

const nothing: readonly never[] = [];
const noEvidence: RangeEvidence = { rule: 'no_votes', quorum: 0, voters: [], missing: [] };

/** Makes a fold from what is stored. Its first take writes what time alone has changed since. */
export function createMonitorFold(restore: FoldRestore): MonitorFold {
  return new Fold(restore);
}

class Fold implements MonitorFold {
  #inputs: PreparedInputs;
  readonly #limits: FoldLimits;
  readonly #slots = new Map<number, VoterSlot>();
  /** By voter, ascending. */
  #ordered: VoterSlot[] = [];
  /** The timeline can be computed from here on. */
  #horizonUs: number;
  /** The timeline is told up to and including this instant. */
  #frontierUs: number;
  #nowUs: number;
  #newestUs = Number.NEGATIVE_INFINITY;
  #segments: readonly Segment[] = nothing;
  /** The frontier when they were computed. Since then, at most votes that hold at their end were repeated. */
  #computedUs = Number.NEGATIVE_INFINITY;
  /** What is known of the segment just before the horizon. */
  #head: { readonly status: Status; readonly startUs: number } | null;
  #stored: readonly StoredRange[];
  #current: Status;
  #isDirty = true;
  #isChanged = true;
  #isLate = false;
  #mayCompact = false;
  /** No vote ends and no input changes before this; it may be too early, never too late. */
  #quietUntilUs = Number.NEGATIVE_INFINITY;
  #nextChangeUs = Number.NEGATIVE_INFINITY;
  /** Until when what was told has been taken. */
  #toldUntilUs: number;
  readonly #rechecks = new RecheckPlanner();
  #quiet: Taken | null = null;
  #standing: Standing | null = null;

  constructor(restore: FoldRestore) {
    this.#inputs = new PreparedInputs(restore.inputs);
    this.#limits = restore.limits ?? foldLimits;
    this.#horizonUs = restore.horizonUs;
    this.#nowUs = restore.nowUs;
    this.#frontierUs = Math.max(restore.nowUs, restore.horizonUs);
    this.#toldUntilUs = this.#frontierUs;
    this.#stored = reaching(byStart(restore.storedRanges), restore.horizonUs);
    const open = this.#stored.find((range) => range.endedUs === null);
    this.#current = restore.status ?? open?.status ?? 'UNKNOWN';
    this.#head = headOf(restore);
    for (const row of restore.before) if (canVote(row)) this.#slotOf(row.voter).log.rows.insert(row);
    for (const row of restore.results) if (canVote(row)) this.#slotOf(row.voter).log.rows.insert(row);
    for (const voter of restore.votedUntilUs?.keys() ?? []) this.#slotOf(voter);
    for (const range of reaching(byStart(restore.storedProbeRanges), restore.horizonUs)) {
      if (range.voter === null) continue;
      const slot = this.#slotOf(range.voter);
      slot.stored = [...slot.stored, range];
    }
    for (const slot of this.#ordered) {
      this.#newestUs = Math.max(this.#newestUs, slot.log.rows.lastUs);
      slot.pieces = slot.log.walk(this.#inputs).pieces;
      slot.noteVotedSeats(this.#inputs, restore.horizonUs, restore.votedUntilUs?.get(slot.voter));
      slot.log.anchor(this.#inputs, restore.horizonUs, restore.votesAtHorizon.get(slot.voter), slot.stored);
    }
    this.#frontierUs = Math.max(this.#frontierUs, this.#newestUs);
    // What was failing before is no news.
    this.#rechecks.isSilent = true;
    this.#recompute();
    this.#rechecks.isSilent = false;
    // A stored DEGRADED does not say which of its three kinds it was.
    const status = this.#segments.at(-1)?.status ?? 'UNKNOWN';
    if (restore.status === undefined && open !== undefined && rangeStatusOf(status) === open.status)
      this.#current = status;
  }

  repeat(row: StoredResult): boolean {
    if (this.#isDirty || this.#isChanged || this.#frontierUs >= this.#quietUntilUs) return false;
    return row.eUs < this.#quietUntilUs && this.#prolong(row);
  }

  apply(results: readonly StoredResult[], nowUs?: number): FoldResult {
    let rebuildFromUs = Number.POSITIVE_INFINITY;
    for (const row of results) {
      if (this.#prolong(row) || !canVote(row)) continue;
      rebuildFromUs = Math.min(rebuildFromUs, this.#place(this.#slotOf(row.voter), row));
    }
    if (rebuildFromUs < Number.POSITIVE_INFINITY) return { rebuildFromUs };
    if (nowUs !== undefined) this.advance(nowUs);
    return 'folded';
  }

  advance(nowUs: number): void {
    if (nowUs > this.#nowUs) this.#nowUs = nowUs;
    if (nowUs > this.#frontierUs) this.#frontierUs = nowUs;
    this.#settle();
    if (this.#nowUs >= this.#rechecks.nextUs) this.#rechecks.askOverdue(this.#scene(), this.#newestUs);
  }

  toldUntil(us: number): void {
    if (us > this.#toldUntilUs) this.#toldUntilUs = us;
  }

  reconfigure(inputs: MonitorInputs): FoldResult {
    const after = new PreparedInputs(inputs);
    const changedFromUs = firstDifference(this.#inputs, after);
    if (changedFromUs === Number.NEGATIVE_INFINITY) return { rebuildFromUs: after.floorUs };
    let longestFreshUs = 0;
    let affectedFromUs = changedFromUs;
    for (const { log } of this.#ordered) {
      const state = log.stateBefore(changedFromUs, this.#inputs);
      for (const row of log.rows) longestFreshUs = Math.max(longestFreshUs, row.freshS * 1_000_000);
      longestFreshUs = Math.max(longestFreshUs, log.base?.state.freshUs ?? 0);
      const streak = state !== null && !isSettled(state) ? state.streak : null;
      if (streak !== null && changedFromUs - streak.lastUs <= streak.lastFreshUs) {
        affectedFromUs = Math.min(affectedFromUs, streak.startUs);
      }
      if (changedFromUs <= log.baseUs) affectedFromUs = Number.NEGATIVE_INFINITY;
    }
    if (affectedFromUs < this.#horizonUs) {
      // An unconfirmed streak at the change began at most this long before it.
      return { rebuildFromUs: Math.min(changedFromUs, this.#horizonUs) - rowsBeforeHorizon * longestFreshUs };
    }
    this.#inputs = after;
    for (const slot of this.#ordered) slot.log.reconfigure(after);
    this.#unsettle();
    return 'folded';
  }

  get nextExpiryUs(): number {
    this.#settle();
    return Math.min(this.#quietUntilUs, this.#rechecks.nextUs);
  }

  get standing(): Standing {
    this.#settle();
    this.#standing ??= standingOf(this.#inputs, this.#electorate(), this.#ordered, this.#frontierUs);
    return this.#standing;
  }

  get outlook(): Outlook {
    this.#settle();
    const electorate = this.#electorate();
    const evidence = this.#segments.at(-1)?.evidence ?? noEvidence;
    return outlookOf(electorate, this.#ordered, evidence, this.#frontierUs);
  }

  take(): Taken {
    this.#settle();
    if (this.#quiet !== null && !this.#isChanged && !this.#rechecks.hasWishes) {
      if (this.#mayCompact) this.#compact();
      this.#toldUntilUs = this.#frontierUs;
      return this.#quiet;
    }
    const edits = this.#isChanged ? this.#takeEdits() : nothing;
    const transitions = this.#takeTransitions();
    const rechecks = this.#rechecks.take();
    this.#isChanged = false;
    this.#isLate = false;
    this.#toldUntilUs = this.#frontierUs;
    // A status is not older than the monitor, or than the reset that began it anew.
    const statusSinceUs = Math.max(this.#segments.at(-1)?.fromUs ?? this.#horizonUs, this.#inputs.floorUs);
    const status = this.#current;
    this.#quiet = { edits: nothing, transitions: nothing, rechecks: nothing, status, statusSinceUs };
    if (this.#mayCompact) this.#compact();
    return { edits, transitions, rechecks, status, statusSinceUs };
  }

  // ---- rows ----------------------------------------------------------------------------------------------------------------------

  /** True when the row only makes a vote that is held last longer. */
  #prolong(row: StoredResult): boolean {
    const slot = this.#slots.get(row.voter);
    if (slot === undefined || !slot.repeat(row)) return false;
    if (row.eUs > this.#newestUs) this.#newestUs = row.eUs;
    if (row.eUs > this.#frontierUs) this.#frontierUs = row.eUs;
    if (slot.isFull) this.#mayCompact = true;
    return true;
  }

  #slotOf(voter: number): VoterSlot {
    let slot = this.#slots.get(voter);
    if (slot === undefined) {
      slot = new VoterSlot(voter, this.#limits.compactFrom);
      this.#slots.set(voter, slot);
      this.#ordered = [...this.#ordered, slot].sort((a, b) => a.voter - b.voter);
    }
    return slot;
  }

  /** Puts a row where it belongs. The time to rebuild from when it reaches further back than what is kept; else infinity. */
  #place(slot: VoterSlot, row: StoredResult): number {
    const { log } = slot;
    const isCounting = this.#inputs.counts(row);
    if (row.eUs <= log.baseUs) return isCounting ? row.eUs : Number.POSITIVE_INFINITY;
    if (!log.rows.insert(row)) return Number.POSITIVE_INFINITY;
    slot.unsettle();
    this.#unsettle();
    // Also for a row that does not count: other inputs may yet let it, and no row may lie after the frontier.
    this.#frontierUs = Math.max(this.#frontierUs, row.eUs);
    if (!isCounting) return Number.POSITIVE_INFINITY;
    const affectedFromUs = this.#affectedFrom(log.stateBefore(row.eUs, this.#inputs), row);
    if (affectedFromUs < this.#horizonUs) return affectedFromUs;
    if (this.#isOfThePast(row)) this.#isLate = true;
    this.#newestUs = Math.max(this.#newestUs, row.eUs);
    if (log.rows.length >= slot.compactAt) this.#mayCompact = true;
    return Number.POSITIVE_INFINITY;
  }

  /** Older than the newest result or than what was told by more than a result takes to come: it changes what is over. */
  #isOfThePast(row: StoredResult): boolean {
    const takesUs = row.outcome === 'timeout' ? lateAfterUs + longestCheckUs : lateAfterUs;
    return row.eUs < this.#newestUs - lateAfterUs || row.eUs < this.#toldUntilUs - takesUs;
  }

  /** A result changes nothing before its streak: before it, if what precedes it is settled or out of its reach. */
  #affectedFrom(state: VoterState | null, row: StoredResult): number {
    if (state === null || state.streak === null || isSettled(state)) return row.eUs;
    return outOfReach(this.#inputs, row, state.streak) ? row.eUs : state.streak.startUs;
  }

  /** Moves the horizon on. Never past the start of a streak that may yet be confirmed. */
  #compact(): void {
    this.#mayCompact = false;
    let horizonUs = this.#frontierUs - this.#limits.keepUs;
    for (const slot of this.#ordered) {
      if (slot.isRepeating) continue;
      const streak = slot.log.stateBefore(Number.POSITIVE_INFINITY, this.#inputs)?.streak;
      if (streak != null && !streak.confirmed && streak.lastUs + streak.lastFreshUs >= this.#frontierUs) {
        horizonUs = Math.min(horizonUs, streak.startUs);
      }
    }
    if (horizonUs > this.#horizonUs) {
      const before = this.#segments.findLast((segment) => segment.fromUs < horizonUs);
      if (before !== undefined) this.#head = { status: before.status, startUs: before.fromUs };
      this.#horizonUs = horizonUs;
      this.#stored = reaching(this.#stored, horizonUs);
      for (const slot of this.#ordered) slot.compact(this.#inputs, horizonUs);
    }
    for (const slot of this.#ordered) slot.compactAt = Math.max(this.#limits.compactFrom, 2 * slot.log.rows.length);
  }

  // ---- timeline ------------------------------------------------------------------------------------------------------------------

  #unsettle(): void {
    this.#isDirty = true;
  }

  #settle(): void {
    if (!this.#isDirty) {
      if (this.#frontierUs < this.#quietUntilUs) return;
      let quietUntilUs = this.#nextChangeUs;
      for (const slot of this.#ordered) quietUntilUs = Math.min(quietUntilUs, slot.expiryUs);
      this.#quietUntilUs = quietUntilUs;
      if (this.#frontierUs < quietUntilUs) return;
    }
    this.#recompute();
  }

  #recompute(): void {
    const inputs = this.#inputs;
    this.#nextChangeUs = inputs.nextChangeAfter(this.#frontierUs);
    this.#quietUntilUs = this.#nextChangeUs;
    const finals = new Map<VoterSlot, VoterState | null>();
    for (const slot of this.#ordered) {
      finals.set(slot, slot.settle(inputs, this.#frontierUs));
      this.#quietUntilUs = Math.min(this.#quietUntilUs, slot.expiryUs);
    }
    const segments = sweep(inputs, this.#ordered, this.#horizonUs, this.#frontierUs + 1);
    const first = segments[0];
    if (first !== undefined && this.#head !== null && first.status === this.#head.status) {
      segments[0] = { ...first, fromUs: this.#head.startUs };
    }
    this.#segments = segments;
    this.#computedUs = this.#frontierUs;
    this.#isDirty = false;
    this.#isChanged = true;
    this.#standing = null;
    this.#rechecks.notice(this.#scene(), finals);
  }

  #electorate(): Electorate {
    return electorateAt(this.#inputs, this.#frontierUs, this.#ordered);
  }

  #scene(): Scene {
    return {
      inputs: this.#inputs,
      electorate: this.#electorate(),
      slotOf: (voter) => this.#slotOf(voter),
      slots: this.#ordered,
      nowUs: this.#nowUs,
      frontierUs: this.#frontierUs,
    };
  }

  #takeEdits(): RangeEdit[] {
    const untilUs = this.#computedUs + 1;
    const runs = runsOf(this.#segments).map((run) => ({ ...run, fromUs: Math.max(run.fromUs, this.#horizonUs) }));
    const { floorUs } = this.#inputs;
    const wanted = wantedRanges(this.#stored, runs, this.#horizonUs, untilUs, floorUs);
    const monitorId = this.#inputs.raw.monitorId;
    const edits = editsBetween(monitorId, null, this.#stored, wanted, this.#isLate, this.#toldUntilUs, floorUs);
    if (edits.length > 0) {
      this.#stored = wanted.map(({ startedUs, endedUs, status }) => ({ voter: null, startedUs, endedUs, status }));
    }
    const told = { isLate: this.#isLate, untilUs: this.#toldUntilUs };
    for (const slot of this.#ordered) {
      edits.push(...slot.takeEdits(this.#inputs, this.#horizonUs, untilUs, told));
    }
    return edits;
  }

  #takeTransitions(): readonly Transition[] {
    const now = this.#segments.at(-1);
    if (now === undefined || now.status === this.#current) return nothing;
    const from = this.#current;
    this.#current = now.status;
    return [
      {
        monitorId: this.#inputs.raw.monitorId,
        atUs: now.fromUs,
        from,
        to: now.status,
        evidence: now.evidence,
        detectedUs: this.#frontierUs,
      },
    ];
  }
}

/** The status just before the horizon, as far as what is stored tells. */
function headOf(restore: FoldRestore): { status: Status; startUs: number } | null {
  const { horizonUs } = restore;
  if (restore.status !== undefined && restore.statusSinceUs !== undefined && restore.statusSinceUs < horizonUs) {
    return { status: restore.status, startUs: restore.statusSinceUs };
  }
  const range = restore.storedRanges.find(
    ({ startedUs, endedUs }) => startedUs < horizonUs && (endedUs === null || endedUs >= horizonUs),
  );
  return range === undefined ? null : { status: range.status, startUs: range.startedUs };
}

const byStart = (ranges: readonly StoredRange[]): StoredRange[] =>
  [...ranges].sort((a, b) => a.startedUs - b.startedUs);
