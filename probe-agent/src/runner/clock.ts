import type { Anchor } from '../results/record.ts';

/** One exchange with the control plane: our monotonic time at sending and receiving, the server's clock in between. Microseconds. */
export type ClockSample = { readonly sentUs: number; readonly receivedUs: number; readonly serverUs: number };

export type ClockOptions = {
  readonly monotonicUs: () => number;
  readonly wallMs: () => number;
  /** Called with each synchronisation and each break, for the log. */
  readonly onAnchor: (anchor: Anchor) => void;
};

/** A synchronisation is good for this long; results after it wait for the next one. */
export const anchorLifeUs = 30_000_000;
/** Wall minus monotonic time that moves by more than this is a sleep of the machine or a jump of its clock: only the server can tell. */
export const jumpMs = 1_000;
/** An answer that took longer may be off by half of that; better none, and results wait for the next. */
const longestRoundTripUs = 2_000_000;
const keptSamples = 8;
const leastSpanUs = 8_000_000;

/**
 * Server time on this machine: the server's clock at the last synchronisation (one every 4 s) plus the monotonic time since, at the rate
 * that the last synchronisations show. A jump of the wall clock cannot move it; it only makes the anchor void until the next synchronisation.
 */
export class ServerClock {
  readonly #options: ClockOptions;
  #samples: { atUs: number; serverUs: number; roundTripUs: number }[] = [];
  #anchor: { atUs: number; serverUs: number; rate: number } | undefined;
  /** The last anchor, also when it is void; only for the schedule. */
  #lastKnown: { atUs: number; serverUs: number; rate: number } | undefined;
  #wallOffsetMs: number;
  /** Before the first synchronisation the wall clock at the start, plus monotonic time; only for the schedule. */
  readonly #startOffsetUs: number;

  constructor(options: ClockOptions) {
    this.#options = options;
    this.#wallOffsetMs = options.wallMs() - options.monotonicUs() / 1_000;
    this.#startOffsetUs = options.wallMs() * 1_000 - options.monotonicUs();
  }

  /** Takes an answer of the control plane. One that took much longer than usual says little and is left out while there is a better one. */
  synchronise(sample: ClockSample): void {
    this.checkForJump();
    const roundTripUs = sample.receivedUs - sample.sentUs;
    if (roundTripUs < 0 || roundTripUs > longestRoundTripUs) return;
    const atUs = sample.sentUs + roundTripUs / 2;
    const best = Math.min(...this.#samples.map((each) => each.roundTripUs));
    const fresh = this.#anchor !== undefined && atUs - this.#anchor.atUs < anchorLifeUs / 2;
    if (fresh && roundTripUs > 4 * best + 20_000) return;
    this.#samples.push({ atUs, serverUs: sample.serverUs, roundTripUs });
    if (this.#samples.length > keptSamples) this.#samples.shift();
    this.#anchor = { atUs, serverUs: sample.serverUs, rate: this.#rate() };
    this.#lastKnown = this.#anchor;
    this.#options.onAnchor({ kind: 'sync', monotonicUs: Math.round(atUs), serverUs: sample.serverUs });
  }

  /** Looks for a jump of the wall clock against the monotonic one; true when the anchor became void, and a synchronisation is wanted at once. */
  checkForJump(): boolean {
    const offsetMs = this.#options.wallMs() - this.#options.monotonicUs() / 1_000;
    const jumped = Math.abs(offsetMs - this.#wallOffsetMs) > jumpMs;
    this.#wallOffsetMs = offsetMs;
    if (!jumped || this.#anchor === undefined) return false;
    this.#anchor = undefined;
    this.#samples = [];
    this.#options.onAnchor({ kind: 'break', monotonicUs: this.#options.monotonicUs(), serverUs: 0 });
    return true;
  }

  /** Whether results can be stamped now. */
  get anchored(): boolean {
    return this.#anchor !== undefined && this.#options.monotonicUs() - this.#anchor.atUs <= anchorLifeUs;
  }

  /** Effective time of a moment on the monotonic clock, microseconds since the epoch; 0 when it cannot be told yet. */
  effectiveUs(monotonicUs: number): number {
    const anchor = this.#anchor;
    if (anchor === undefined || this.#options.monotonicUs() - anchor.atUs > anchorLifeUs) return 0;
    return Math.round(anchor.serverUs + (monotonicUs - anchor.atUs) * anchor.rate);
  }

  /** Server time in milliseconds for the schedule: the best there is, also while the anchor is old or void. */
  nowMs(): number {
    const nowUs = this.#options.monotonicUs();
    const anchor = this.#lastKnown;
    if (anchor === undefined) return (nowUs + this.#startOffsetUs) / 1_000;
    return (anchor.serverUs + (nowUs - anchor.atUs) * anchor.rate) / 1_000;
  }

  #rate(): number {
    const first = this.#samples[0];
    const last = this.#samples.at(-1);
    if (first === undefined || last === undefined || last.atUs - first.atUs < leastSpanUs)
      return this.#anchor?.rate ?? 1;
    const rate = (last.serverUs - first.serverUs) / (last.atUs - first.atUs);
    return rate > 0.95 && rate < 1.05 ? rate : 1;
  }
}
