/** Waits that double from `firstMs` to `mostMs`; each is drawn from its upper half, so that many agents do not return at once. */
export class BackOff {
  readonly #firstMs: number;
  readonly #mostMs: number;
  readonly #random: () => number;
  #attempt = 0;

  constructor(options: { firstMs: number; mostMs: number; random: () => number }) {
    this.#firstMs = options.firstMs;
    this.#mostMs = options.mostMs;
    this.#random = options.random;
  }

  /** Milliseconds to wait before the next attempt; each call counts one failure. */
  next(): number {
    const fullMs = Math.min(this.#mostMs, this.#firstMs * 2 ** Math.min(this.#attempt, 30));
    this.#attempt += 1;
    return fullMs * (0.5 + this.#random() / 2);
  }

  /** Something worked: the next failure starts from the beginning. */
  reset(): void {
    this.#attempt = 0;
  }

  get attempts(): number {
    return this.#attempt;
  }
}
