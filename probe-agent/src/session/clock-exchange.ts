import type { ServerClock } from '../runner/clock.ts';

export type ClockExchangeOptions = {
  readonly clock: ServerClock;
  readonly monotonicUs: () => number;
  /** Sends a request for the server's time over the session. */
  readonly send: (nonce: bigint) => void;
};

const mostUnanswered = 16;

/** The questions for the server's time within one session after another: to set the clock by, and to see whether anybody is there. */
export class ClockExchange {
  readonly #options: ClockExchangeOptions;
  /** When each was sent. */
  readonly #requests = new Map<bigint, number>();
  readonly #questions = new Map<bigint, (answered: boolean) => void>();
  #nonce = 0n;

  constructor(options: ClockExchangeOptions) {
    this.#options = options;
  }

  /** Asks for the server's time; its answer sets the clock. */
  request(): void {
    this.#nonce += 1n;
    if (this.#requests.size > mostUnanswered) this.#requests.clear();
    this.#requests.set(this.#nonce, this.#options.monotonicUs());
    this.#options.send(this.#nonce);
  }

  /**
   * Asks for a sign of life: true when the answer to this very question comes within the time, false otherwise or when the session ends.
   * It does not set the clock, whose last exchanges have to lie apart to show its rate.
   */
  isAnswered(withinMs: number): Promise<boolean> {
    this.#nonce += 1n;
    const nonce = this.#nonce;
    return new Promise((resolve) => {
      const done = (answered: boolean): void => {
        clearTimeout(timer);
        this.#questions.delete(nonce);
        resolve(answered);
      };
      // An answer that arrived while the process was busy is read before the time is taken for over.
      const timer = setTimeout(() => setImmediate(done, false), withinMs);
      this.#questions.set(nonce, done);
      this.#options.send(nonce);
    });
  }

  /** Takes an answer; one to a question that was never asked is passed over. */
  answered(nonce: bigint, serverUs: bigint): void {
    this.#questions.get(nonce)?.(true);
    const sentUs = this.#requests.get(nonce);
    if (sentUs === undefined) return;
    this.#requests.delete(nonce);
    const { clock, monotonicUs } = this.#options;
    clock.synchronise({ sentUs, receivedUs: monotonicUs(), serverUs: Number(serverUs) });
  }

  /** The session is over: nothing that was asked will be answered. */
  end(): void {
    this.#requests.clear();
    for (const done of this.#questions.values()) done(false);
  }
}
