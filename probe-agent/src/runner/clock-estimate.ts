/** One exchange with the control plane: our monotonic time at sending and receiving, the server's clock in between. Microseconds. */
export type ClockSample = { readonly sentUs: number; readonly receivedUs: number; readonly serverUs: number };

/** Server time is `serverUs + (m − atUs) × rate`, right within `errorUs` at `atUs` and `rateError` more for each microsecond away from it. */
export type ClockEstimate = {
  readonly atUs: number;
  readonly serverUs: number;
  readonly errorUs: number;
  readonly rate: number;
  readonly rateError: number;
};

type Point = { readonly atUs: number; readonly serverUs: number; readonly errorUs: number };

/** An answer that took longer says too little. */
export const longestRoundTripUs = 2_000_000;
/** No clock is taken to drift by more than this. */
const mostDrift = 0.011;
/** What a rate may have changed since it was measured, for example by a slewing time service. */
const rateNoise = 0.000_2;
/** The rate from before a long silence is a hint. */
const rememberedRateError = 0.002;
/** Reading a clock and waking up take their time. */
const readingUs = 50;
const keptPoints = 16;

/**
 * What the last exchanges say of the server's clock. The server read its clock somewhere between our sending and our receiving, so each
 * exchange is an interval and not a point, and two of them bound the rate: however unlike the way there and the way back are, the truth
 * lies in what all of them allow.
 */
export class ClockEstimator {
  #points: Point[] = [];
  #rate = { rate: 1, error: mostDrift };

  /** Exchanges since the last silence. */
  get count(): number {
    return this.#points.length;
  }

  /** Of the last exchange that was taken. */
  get newest(): Point | undefined {
    return this.#points.at(-1);
  }

  /** False for an exchange that took too long to say anything. */
  add(sample: ClockSample): boolean {
    const roundTripUs = sample.receivedUs - sample.sentUs;
    if (roundTripUs < 0 || roundTripUs > longestRoundTripUs) return false;
    this.#points.push({
      atUs: sample.sentUs + roundTripUs / 2,
      serverUs: sample.serverUs,
      errorUs: roundTripUs / 2 + readingUs,
    });
    if (this.#points.length > keptPoints) this.#points.shift();
    this.#learnRate();
    return true;
  }

  /** Forgets the exchanges, after a silence or a sleep; the rate stays as a hint. */
  forget(): void {
    this.#points = [];
    this.#rate = { rate: this.#rate.rate, error: Math.max(this.#rate.error, rememberedRateError) };
  }

  /** The best that is known for a moment: of the exchange whose error, grown with its age, is the least. */
  at(monotonicUs: number): ClockEstimate | undefined {
    let best: Point | undefined;
    let least = Infinity;
    for (const point of this.#points) {
      const error = point.errorUs + Math.abs(monotonicUs - point.atUs) * this.#rate.error;
      if (error > least) continue;
      least = error;
      best = point;
    }
    return best === undefined ? undefined : { ...best, rate: this.#rate.rate, rateError: this.#rate.error };
  }

  #learnRate(): void {
    const bounds = this.#boundRate(this.#rate.rate - this.#rate.error, this.#rate.rate + this.#rate.error);
    // Nothing fits: the rate has changed, and what was measured before no longer counts.
    const { low, high } = bounds ?? this.#boundRate(1 - mostDrift, 1 + mostDrift) ?? this.#boundAnew();
    this.#rate = { rate: (low + high) / 2, error: Math.min(mostDrift, (high - low) / 2 + rateNoise) };
  }

  #boundAnew(): { low: number; high: number } {
    this.#points = this.#points.slice(-1);
    return { low: 1 - mostDrift, high: 1 + mostDrift };
  }

  #boundRate(atLeast: number, atMost: number): { low: number; high: number } | undefined {
    let low = atLeast;
    let high = atMost;
    this.#points.forEach((later, index) => {
      for (const earlier of this.#points.slice(0, index)) {
        const spanUs = later.atUs - earlier.atUs;
        if (spanUs <= 0) continue;
        const rate = (later.serverUs - earlier.serverUs) / spanUs;
        const error = (later.errorUs + earlier.errorUs) / spanUs;
        low = Math.max(low, rate - error);
        high = Math.min(high, rate + error);
      }
    });
    return low <= high ? { low, high } : undefined;
  }
}
