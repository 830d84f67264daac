/** How fast an old epoch may be published beside the live results: up to four times the live rate, and never slower than the least. */
export class DrainRate {
  readonly #nowMs: () => number;
  readonly #leastPerSecond: number;
  #allowance = 0;
  #filledAtMs: number;
  #live = 0;
  #countedAtMs: number;
  #counted = 0;

  constructor(options: { nowMs: () => number; leastPerSecond: number }) {
    this.#nowMs = options.nowMs;
    this.#leastPerSecond = options.leastPerSecond;
    this.#filledAtMs = options.nowMs();
    this.#countedAtMs = options.nowMs();
    this.#allowance = options.leastPerSecond / 4;
  }

  /** Live results that came in; the rate is a mean that forgets in some seconds. */
  countLive(results: number): void {
    this.#counted += results;
    const elapsedMs = this.#nowMs() - this.#countedAtMs;
    if (elapsedMs < 1_000) return;
    const rate = (this.#counted * 1_000) / elapsedMs;
    const weight = 1 - Math.exp(-elapsedMs / 5_000);
    this.#live += weight * (rate - this.#live);
    this.#counted = 0;
    this.#countedAtMs += elapsedMs;
  }

  get perSecond(): number {
    return Math.max(this.#leastPerSecond, 4 * this.#live);
  }

  /** Milliseconds until something of the backlog may go; 0 now. */
  waitMs(): number {
    const nowMs = this.#nowMs();
    const perSecond = this.perSecond;
    this.#allowance = Math.min(perSecond / 4, this.#allowance + ((nowMs - this.#filledAtMs) * perSecond) / 1_000);
    this.#filledAtMs = nowMs;
    return this.#allowance > 0 ? 0 : Math.ceil(((1 - this.#allowance) * 1_000) / perSecond);
  }

  /** So many results of the backlog were published. */
  spend(results: number): void {
    this.#allowance -= results;
  }
}
