import { sleepMs } from '../results/placement.ts';
import type { Anchor } from '../results/record.ts';
import { ClockEstimator } from './clock-estimate.ts';
import type { ClockEstimate, ClockSample } from './clock-estimate.ts';

export type { ClockSample } from './clock-estimate.ts';

export type ClockOptions = {
  readonly monotonicUs: () => number;
  readonly wallMs: () => number;
  /** How long the machine has slept since its boot, where the system tells; only differences matter. */
  readonly sleptMs?: () => number | undefined;
  /** Called with each synchronisation and each break, for the log. */
  readonly onAnchor: (anchor: Anchor) => void;
  /** Called when server time for the schedule is known anew. */
  readonly onLine?: (line: ClockLine) => void;
};

/** Server time for the schedule, in microseconds: `serverUs + (m − atUs) × rate` at a moment `m` of the monotonic clock. */
export type ClockLine = { readonly atUs: number; readonly serverUs: number; readonly rate: number };

/** No synchronisation is good for longer: results after it wait for the next one. */
export const anchorLifeUs = 30_000_000;
/** Wall minus monotonic time that moves by more than this is a sleep of the machine or a jump of its clock: only the server can tell. */
export const jumpMs = 1_000;
/** A result is stamped while its time is known so well, beside what the way to the control plane costs. */
const stampErrorUs = 45_000;
/** After a silence the first exchange may have been slow by chance: several are awaited, unless it was good enough. */
export const burst = { samples: 4, everyMs: 250, longestUs: 3_000_000, goodErrorUs: 25_000 } as const;
/** How slowly stamped time goes where it was found to be ahead, until it is right again: it must never go back. */
const slowRate = 0.5;
/** Longer than any check runs. */
const keptPiecesUs = 180_000_000;

/** Stamped time from a moment on, until the next piece begins: the later of two lines, so that it never goes back. */
type Piece = {
  readonly fromUs: number;
  readonly fromServerUs: number;
  readonly estimate: ClockEstimate;
  /** When stamping by it ended, where it did; between this and the next piece results wait for their place. */
  endedUs?: number;
};

/**
 * Server time on this machine: the server's clock at the best of the last synchronisations (one every 4 s) plus the monotonic time since, at
 * the rate that they show. What it stamps is one rising line over monotonic time; its corners are handed to the log, which places by them
 * what could not be stamped. A jump of the wall clock cannot move it; it only makes the anchor void until the next synchronisation. Who has
 * just read the monotonic clock hands the reading in.
 */
export class ServerClock {
  readonly #options: ClockOptions;
  readonly #estimator = new ClockEstimator();
  #pieces: Piece[] = [];
  /** Whether the last piece may stamp. */
  #isAnchored = false;
  #firstSampleUs = 0;
  /** Latest moment that was stamped. */
  #stampedUs = -Infinity;
  /** The last estimate, also when it is void; only for the schedule. */
  #lastKnown: ClockEstimate | undefined;
  #wallOffsetMs: number;
  /** The last jump: when it was noticed, and by how much the wall clock went beyond the monotonic one. */
  #jump = { atUs: -Infinity, byUs: 0 };
  #sleptMs: number | undefined;
  /** Before the first synchronisation the wall clock at the start, plus monotonic time; only for the schedule. */
  readonly #startOffsetUs: number;

  constructor(options: ClockOptions) {
    this.#options = options;
    this.#wallOffsetMs = options.wallMs() - options.monotonicUs() / 1_000;
    this.#startOffsetUs = options.wallMs() * 1_000 - options.monotonicUs();
    this.#sleptMs = options.sleptMs?.();
  }

  /** Takes an answer of the control plane. */
  synchronise(sample: ClockSample): void {
    this.checkForJump();
    if (this.#mayBeStale(sample)) return;
    const nowUs = Math.max(sample.receivedUs, this.#options.monotonicUs());
    const { newest } = this.#estimator;
    if (newest !== undefined && nowUs - newest.atUs > anchorLifeUs) this.#void();
    const goesOn = this.#mayStamp(nowUs);
    if (!this.#estimator.add(sample)) return;
    if (this.#estimator.count === 1) this.#firstSampleUs = nowUs;
    const estimate = this.#estimator.at(nowUs);
    if (estimate === undefined) return;
    this.#lastKnown = estimate;
    this.#options.onLine?.(this.line);
    if (!this.#isAnchored && !this.#isEnough(estimate, nowUs)) return;
    this.#beginPiece(estimate, nowUs, goesOn);
  }

  /** Looks for a jump of the wall clock against the monotonic one; true when the anchor became void, and a synchronisation is wanted at once. */
  checkForJump(monotonicUs = this.#options.monotonicUs()): boolean {
    const offsetMs = this.#options.wallMs() - monotonicUs / 1_000;
    const byMs = offsetMs - this.#wallOffsetMs;
    const jumped = Math.abs(byMs) > jumpMs;
    this.#wallOffsetMs = offsetMs;
    if (!jumped) return false;
    this.#jump = { atUs: monotonicUs, byUs: byMs * 1_000 };
    const sleptMs = this.#options.sleptMs?.();
    const hasSlept = sleptMs !== undefined && this.#sleptMs !== undefined && sleptMs - this.#sleptMs > sleepMs;
    this.#sleptMs = sleptMs;
    const wasAnchored = this.#isAnchored;
    this.#void();
    // Where the system does not tell of a sleep, the log decides by the synchronisations before and after.
    this.#options.onAnchor({ kind: hasSlept ? 'break' : 'jump', monotonicUs, serverUs: 0 });
    return wasAnchored;
  }

  /** Whether it was ever synchronised, so that `nowMs` is the server's time and not the wall clock. */
  get isKnown(): boolean {
    return this.#lastKnown !== undefined;
  }

  /** Whether results can be stamped now. */
  get anchored(): boolean {
    return this.#mayStamp(this.#options.monotonicUs());
  }

  /** Effective time of a moment on the monotonic clock, microseconds since the epoch; 0 when it cannot be told yet. */
  effectiveUs(monotonicUs: number, nowUs = this.#options.monotonicUs()): number {
    if (!this.#mayStamp(nowUs)) return 0;
    const index = this.#pieces.findLastIndex((each) => each.fromUs <= monotonicUs);
    const piece = this.#pieces[Math.max(0, index)];
    if (piece === undefined || (piece.endedUs !== undefined && monotonicUs > piece.endedUs)) return 0;
    // Far before the first synchronisation only the log may know better, from an earlier run.
    if (index < 0 && piece.fromUs - monotonicUs > 2_000_000) return 0;
    this.#stampedUs = Math.max(this.#stampedUs, monotonicUs);
    return Math.round(index < 0 ? lineAt(piece.estimate, monotonicUs) : valueAt(piece, monotonicUs));
  }

  /** Server time in milliseconds for the schedule: the best there is, also while the anchor is old or void. */
  nowMs(nowUs = this.#options.monotonicUs()): number {
    if (this.#lastKnown === undefined) return (nowUs + this.#startOffsetUs) / 1_000;
    return lineAt(this.#lastKnown, nowUs) / 1_000;
  }

  /** What `nowMs` goes by. */
  get line(): ClockLine {
    if (this.#lastKnown === undefined) return { atUs: 0, serverUs: this.#startOffsetUs, rate: 1 };
    const { atUs, serverUs, rate } = this.#lastKnown;
    return { atUs, serverUs, rate };
  }

  /** How well server time is known now, and how fast our clock runs, for who watches the agent. Undefined before the first synchronisation. */
  get quality(): { readonly errorUs: number; readonly rate: number } | undefined {
    const nowUs = this.#options.monotonicUs();
    const estimate = this.#lastKnown;
    return estimate && { errorUs: errorAt(estimate, nowUs), rate: estimate.rate };
  }

  /**
   * An answer that waited while the machine slept is as old as the sleep was long. Of an exchange that a jump came into the server's time tells:
   * it has moved on by as much when the answer is from after a sleep, and only then. Who has never been told the
   * server's time cannot tell, and asks again.
   */
  #mayBeStale({ sentUs, receivedUs, serverUs }: ClockSample): boolean {
    if (sentUs >= this.#jump.atUs) return false;
    if (this.#lastKnown === undefined) return true;
    const aheadUs = serverUs - lineAt(this.#lastKnown, (sentUs + receivedUs) / 2);
    return Math.abs(aheadUs - this.#jump.byUs) > (jumpMs * 1_000) / 2;
  }

  #mayStamp(nowUs: number): boolean {
    const piece = this.#pieces.at(-1);
    const { newest } = this.#estimator;
    if (!this.#isAnchored || piece === undefined || newest === undefined) return false;
    if (nowUs - newest.atUs > anchorLifeUs) return false;
    return errorAt(piece.estimate, nowUs) <= stampErrorUs + Math.max(5_000, newest.errorUs);
  }

  #isEnough(estimate: ClockEstimate, nowUs: number): boolean {
    return (
      estimate.errorUs <= burst.goodErrorUs ||
      this.#estimator.count >= burst.samples ||
      nowUs - this.#firstSampleUs >= burst.longestUs
    );
  }

  /** From now on by this estimate. `goesOn`: results were stamped until now, so time goes on from where it stands. */
  #beginPiece(estimate: ClockEstimate, nowUs: number, goesOn: boolean): void {
    const before = this.#pieces.at(-1);
    if (before !== undefined && !goesOn) this.#end(before);
    const floor = before !== undefined && goesOn ? valueAt(before, nowUs) : this.#stampedValue() + 1;
    const piece: Piece = { fromUs: nowUs, fromServerUs: Math.max(floor, lineAt(estimate, nowUs)), estimate };
    this.#pieces.push(piece);
    while (this.#pieces.length > 1 && (this.#pieces[1]?.fromUs ?? nowUs) < nowUs - keptPiecesUs) this.#pieces.shift();
    this.#isAnchored = true;
    this.#options.onAnchor({ kind: 'sync', monotonicUs: nowUs, serverUs: Math.round(piece.fromServerUs) });
  }

  /** Stamping is over until the next synchronisation: the log gets the end of the line. */
  #void(): void {
    const piece = this.#pieces.at(-1);
    if (piece !== undefined) this.#end(piece);
    this.#isAnchored = false;
    this.#estimator.forget();
  }

  #end(piece: Piece): void {
    if (piece.endedUs !== undefined) return;
    piece.endedUs = Math.max(piece.fromUs, this.#stampedUs);
    if (piece.endedUs === piece.fromUs) return;
    const serverUs = Math.round(valueAt(piece, piece.endedUs));
    this.#options.onAnchor({ kind: 'sync', monotonicUs: piece.endedUs, serverUs });
  }

  #stampedValue(): number {
    const piece = this.#pieces.findLast((each) => each.fromUs <= this.#stampedUs);
    return piece === undefined ? -Infinity : valueAt(piece, Math.min(this.#stampedUs, piece.endedUs ?? Infinity));
  }
}

/** Where a line is at a moment of the monotonic clock; both in microseconds. */
export const lineAt = (estimate: ClockLine, monotonicUs: number): number =>
  estimate.serverUs + (monotonicUs - estimate.atUs) * estimate.rate;

const errorAt = (estimate: ClockEstimate, monotonicUs: number): number =>
  estimate.errorUs + Math.abs(monotonicUs - estimate.atUs) * estimate.rateError;

const valueAt = (piece: Piece, monotonicUs: number): number =>
  Math.max(piece.fromServerUs + (monotonicUs - piece.fromUs) * slowRate, lineAt(piece.estimate, monotonicUs));
