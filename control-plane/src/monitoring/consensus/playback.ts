import { Announcer } from './announcer.ts';
import type { FoldLimits, MonitorFold } from './fold.ts';
import { createMonitorFold } from './increment.ts';
import { RangeLedger } from './range-ledger.ts';
import type { KeptRange } from './range-ledger.ts';
import { ResultShelf } from './result-shelf.ts';
import type { MonitorInputs, RecheckWish, RangeEvidence, Status, StoredResult } from './types.ts';

/** A change of status that others were told of. */
export type Told = {
  readonly toldUs: number;
  /** The status that was told before. Equal to `to`: the onset of an outage that lasts turned out to be another. */
  readonly from: Status;
  readonly to: Status;
  /** Since when the new status holds. */
  readonly sinceUs: number;
  readonly evidence: RangeEvidence;
};

export type PlaybackOptions<Row extends StoredResult = StoredResult> = {
  readonly inputs: MonitorInputs;
  /** Nothing is told of the time before. */
  readonly fromUs: number;
  /** All results of the time before `fromUs` in which a streak may have begun that lasts: as many freshnesses as `rowsBeforeHorizon`. */
  readonly before: readonly StoredResult[];
  /** For each voter the status of the latest of its ranges that began before `fromUs`, when it is DOWN or TIMEOUT. */
  readonly votesBefore: ReadonlyMap<number, 'DOWN' | 'TIMEOUT'>;
  /** How long the first result of a round waits for others. */
  readonly lingerUs: number;
  /** How long a check took; absent: no time. */
  readonly durationUs?: (row: Row) => number;
  /** Decides in the order of receipt what becomes of a result; undefined: there was none. Absent: all as they are. */
  readonly admit?: (row: Row) => StoredResult | undefined;
  /** Who is asked for a check at once (rule 7), as decided at that time. */
  readonly onRechecks?: (wishes: readonly RecheckWish[], nowUs: number) => void;
  readonly limits?: FoldLimits;
};

/** While a change waits to be told, the ingest looks at it in every round. */
const lookEveryUs = 250_000;
/** Nothing later than this after its effective time counts; what lies further back is never asked for again. */
const keepUs = 50 * 3_600_000_000;
// As the ingest has it: a result that took this much longer than its check comes from what had gathered, and a log that is drained brings the
// next at once. Until then votes of that probe make no outage alone (rule 16).
const gatheredUs = 15_000_000;
const drainsWithinUs = 10_000_000;
/** A reading that asks for another one this often is a defect. */
const mostRebuilds = 8;
/** Rounds after which what is not needed is let go. */
const forgetEvery = 10_000;

/**
 * Lets the fold live through stored results again: in the order in which they were received, gathered into rounds as the ingest gathers them,
 * with time passing between them. What comes out is what the engine would have told at those times under the given inputs. Pure: time is that of
 * the results.
 *
 * Not played: standstills of the control plane itself, in which the ingest holds time and announcements back.
 */
export class Playback<Row extends StoredResult = StoredResult> {
  readonly told: Told[] = [];
  readonly #options: PlaybackOptions<Row>;
  readonly #ledger = new RangeLedger();
  readonly #shelf = new ResultShelf();
  readonly #announcer: Announcer;
  #fold: MonitorFold;
  #status: Status;
  #sinceUs: number;
  #nowUs: number;
  /** Received and not played yet, the next one last. */
  #pending: Row[] = [];
  readonly #lastErrors = new Map<number, number>();
  /** When voters last sent something that had gathered. */
  readonly #behind = new Map<number, number>();
  #rounds = 0;

  constructor(options: PlaybackOptions<Row>) {
    this.#options = options;
    this.#nowUs = options.fromUs;
    for (const row of options.before) this.#shelf.add(row);
    this.#fold = this.#restored(options.fromUs, options.votesBefore, undefined);
    const { edits, status, statusSinceUs } = this.#fold.take();
    this.#ledger.apply(edits);
    this.#status = status;
    this.#sinceUs = statusSinceUs;
    // Nothing known is how it begins, not what an outage may have come to.
    this.#announcer = new Announcer(status, status === 'UNKNOWN' ? null : statusSinceUs);
  }

  /** Adds results, in any order; none may have been received before a time to which it was played already. */
  add(rows: readonly Row[]): void {
    if (rows.length === 0) return;
    this.#pending.push(...rows);
    this.#pending.sort((a, b) => b.receivedUs - a.receivedUs || b.eUs - a.eUs || b.voter - a.voter);
  }

  /**
   * Plays what happened before a time; all results that were received before it must have been added. Yields after each round, so that others
   * may be let in.
   */
  playUntil(untilUs: number): Generator<void, void, undefined> {
    return this.#play(untilUs - this.#options.lingerUs, untilUs);
  }

  /** Plays all that was added and received before a time, and lets time pass until it. */
  *finish(untilUs: number): Generator<void, void, undefined> {
    yield* this.#play(untilUs, untilUs);
    this.#passTo(untilUs);
  }

  /** The monitor's ranges from the beginning on, oldest first; the last one is open while it lasts. */
  ranges(): KeptRange[] {
    return this.#ledger.of(null);
  }

  /** Plays the rounds that begin before a time and what happens without results before another. */
  *#play(roundsUntilUs: number, untilUs: number): Generator<void, void, undefined> {
    for (;;) {
      const nextUs = this.#nextUs();
      const wakeUs = this.#wakeUs();
      if (wakeUs < Math.min(nextUs, untilUs)) this.#passTo(wakeUs);
      else if (nextUs < roundsUntilUs) this.#playRound();
      else return;
      yield;
    }
  }

  /** When the next result was received; infinity when there is none. */
  #nextUs(): number {
    return this.#pending.at(-1)?.receivedUs ?? Number.POSITIVE_INFINITY;
  }

  #passTo(us: number): void {
    this.#nowUs = Math.max(this.#nowUs, us);
    this.#endRound();
  }

  /** When something happens without a result; later than what was played. */
  #wakeUs(): number {
    const waitUs = this.#announcer.isWaiting ? this.#nowUs + lookEveryUs : Number.POSITIVE_INFINITY;
    return Math.min(waitUs, Math.max(this.#fold.nextExpiryUs, this.#nowUs + 1_000));
  }

  /** Applies what one round of the ingest would have gathered. */
  #playRound(): void {
    const rows: StoredResult[] = [];
    const firstUs = this.#nextUs();
    let isUrgent = false;
    for (;;) {
      const next = this.#pending.at(-1);
      if (next === undefined || isUrgent || next.receivedUs > firstUs + this.#options.lingerUs) break;
      this.#pending.pop();
      this.#nowUs = Math.max(this.#nowUs, next.receivedUs);
      this.#noteBacklog(next);
      const row = this.#options.admit === undefined ? next : this.#options.admit(next);
      if (row === undefined) continue;
      rows.push(row);
      isUrgent = this.#isNews(row);
    }
    if (rows.length === 0) return;
    this.#apply(rows);
    this.#passTo(isUrgent ? this.#nowUs : firstUs + this.#options.lingerUs);
  }

  /** A first failure, or another one than before, travels with its evidence: the ingest lets it not wait for company. */
  #isNews(row: StoredResult): boolean {
    if (row.kind === 'manual' || row.outcome === 'skipped') return false;
    const last = this.#lastErrors.get(row.voter);
    this.#lastErrors.set(row.voter, row.error);
    return (row.outcome === 'fail' || row.outcome === 'timeout') && row.error !== last;
  }

  #noteBacklog(row: Row): void {
    const waitedUs = row.receivedUs - row.eUs - (this.#options.durationUs?.(row) ?? 0);
    if (waitedUs > gatheredUs) this.#behind.set(row.voter, row.receivedUs);
    else if (this.#behind.size > 0) this.#behind.delete(row.voter);
  }

  #isBehind(voter: number): boolean {
    const sinceUs = this.#behind.get(voter);
    return sinceUs !== undefined && this.#nowUs - sinceUs <= drainsWithinUs;
  }

  #apply(rows: readonly StoredResult[]): void {
    let folded = this.#fold.apply(rows);
    for (let attempt = 0; typeof folded === 'object'; attempt += 1) {
      if (attempt === mostRebuilds)
        throw new Error(`the fold of monitor ${this.#options.inputs.monitorId} cannot be rebuilt`);
      const { rebuildFromUs } = folded;
      const votes =
        rebuildFromUs <= this.#options.fromUs ? this.#options.votesBefore : this.#ledger.failingBefore(rebuildFromUs);
      this.#fold = this.#restored(rebuildFromUs, votes, this.#status);
      folded = this.#fold.apply(rows);
    }
    for (const row of rows) this.#shelf.add(row);
  }

  #restored(
    horizonUs: number,
    votesAtHorizon: ReadonlyMap<number, 'DOWN' | 'TIMEOUT'>,
    status: Status | undefined,
  ): MonitorFold {
    const { own, ofVoters } = this.#ledger.reaching(horizonUs);
    return createMonitorFold({
      inputs: this.#options.inputs,
      ...this.#shelf.around(horizonUs),
      votesAtHorizon,
      votedUntilUs: this.#ledger.endsBefore(horizonUs),
      storedRanges: own,
      storedProbeRanges: ofVoters,
      horizonUs,
      nowUs: this.#nowUs,
      ...(status === undefined ? {} : { status, statusSinceUs: this.#sinceUs }),
      ...(this.#options.limits === undefined ? {} : { limits: this.#options.limits }),
    });
  }

  /** Time passes to the present, and what changed is told. */
  #endRound(): void {
    this.#fold.advance(this.#nowUs);
    const { edits, transitions, rechecks, status, statusSinceUs } = this.#fold.take();
    if (edits.length > 0) this.#ledger.apply(edits);
    if (rechecks.length > 0) this.#options.onRechecks?.(rechecks, this.#nowUs);
    let isChanged = false;
    if (edits.length + transitions.length > 0) {
      isChanged = status !== this.#status || statusSinceUs !== this.#sinceUs;
      this.#status = status;
      this.#sinceUs = statusSinceUs;
    }
    if (isChanged || this.#announcer.told !== this.#status) this.#announce();
    this.#rounds += 1;
    if (this.#rounds % forgetEvery === 0) this.#shelf.forgetBefore(this.#nowUs - keepUs);
  }

  #announce(): void {
    const { outlook } = this.#fold;
    const present = { status: this.#status, sinceUs: this.#sinceUs };
    const isBehind = (voter: number): boolean => this.#isBehind(voter);
    const circumstances = { nowUs: this.#nowUs, isHeld: false, isBehind };
    const announcement = this.#announcer.next(present, outlook, circumstances);
    if (announcement === undefined) return;
    const { from } = announcement;
    this.told.push({ toldUs: this.#nowUs, from, to: this.#status, sinceUs: this.#sinceUs, evidence: outlook.evidence });
  }
}
