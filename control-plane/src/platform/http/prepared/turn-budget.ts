/** Lets work be done in each turn of the event loop for a bounded time; what has no room waits for the next turn, in its order. */
export class TurnBudget {
  readonly #budgetMs: number;
  readonly #waiting: (() => void)[] = [];
  /** When the first work of this turn was done; null: none was. */
  #beganMs: number | null = null;

  constructor(budgetMs: number) {
    this.#budgetMs = budgetMs;
  }

  /** Does work now, or in one of the next turns. It must not throw. */
  run(work: () => void): void {
    if (this.#waiting.length === 0 && this.#hasRoom()) work();
    else this.#waiting.push(work);
  }

  #hasRoom(): boolean {
    if (this.#beganMs !== null) return performance.now() - this.#beganMs < this.#budgetMs;
    this.#beganMs = performance.now();
    setImmediate(() => this.#nextTurn());
    return true;
  }

  #nextTurn(): void {
    this.#beganMs = null;
    let done = 0;
    for (; done < this.#waiting.length && this.#hasRoom(); done += 1) this.#waiting[done]?.();
    this.#waiting.splice(0, done);
  }
}
