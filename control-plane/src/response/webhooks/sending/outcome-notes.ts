import type { Done } from './outcomes.queries.ts';

/** Outcomes are noted together: what became of deliveries, and less often what is known of their webhooks by it. */
const deliveriesEveryMs = 50;
const webhooksEveryMs = 1_000;
/** After an error, such as of a database that is away. */
const againAfterMs = 500;

type OutcomeNotesOptions = {
  readonly noteDeliveries: (done: readonly Done[]) => Promise<void>;
  readonly noteWebhooks: (done: readonly Done[]) => Promise<void>;
  /** Outcomes of attempts that began before this are dropped when they cannot be noted: their leases are over. */
  readonly isLeased: (done: Done) => boolean;
  /** These are done with: noted, or given up. */
  readonly onNoted: (done: readonly Done[]) => void;
  readonly onError: (error: unknown) => void;
};

/** Gathers outcomes and notes them. The first after a pause is noted at once: what is noted is not sent again, whatever becomes of this process. */
export class OutcomeNotes {
  readonly #options: OutcomeNotesOptions;
  #done: Done[] = [];
  #known: Done[] = [];
  #noting: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerMs = Number.POSITIVE_INFINITY;
  #nextMs = 0;
  #nextKnownMs = 0;
  #isEnding = false;

  constructor(options: OutcomeNotesOptions) {
    this.#options = options;
  }

  add(done: Done): void {
    this.#done.push(done);
    this.#soon();
  }

  /** Notes all there is, in a moment in which nothing more comes. @param isEnding what cannot be noted now is given up */
  async all(isEnding = false): Promise<void> {
    this.#isEnding ||= isEnding;
    this.#nextKnownMs = 0;
    await this.#noting;
    await this.#note();
  }

  #soon(): void {
    const dueMs = this.#done.length > 0 ? this.#nextMs : this.#nextKnownMs;
    // What waits for the second of the webhooks does not hold up deliveries.
    if (this.#timerMs <= dueMs) return;
    clearTimeout(this.#timer);
    this.#timerMs = dueMs;
    this.#timer = setTimeout(
      () => {
        // While others are noted, whoever notes them sees to these.
        this.#timerMs = Number.POSITIVE_INFINITY;
        void this.#note();
      },
      Math.max(0, dueMs - performance.now()),
    );
  }

  #note(): Promise<void> {
    this.#noting ??= this.#noteBoth().finally(() => {
      this.#noting = undefined;
      if (this.#done.length > 0 || this.#known.length > 0) this.#soon();
    });
    return this.#noting;
  }

  async #noteBoth(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timerMs = Number.POSITIVE_INFINITY;
    this.#nextMs = performance.now() + deliveriesEveryMs;
    await this.#noteDeliveries();
    // What switches a webhook off does not wait.
    const isUrgent = this.#known.some(({ outcome }) => outcome.state === 'failed');
    if (isUrgent || performance.now() >= this.#nextKnownMs) await this.#noteWebhooks();
  }

  async #noteDeliveries(): Promise<void> {
    const done = this.#done;
    if (done.length === 0) return;
    this.#done = [];
    try {
      await this.#options.noteDeliveries(done);
      for (const each of done) this.#known.push(each);
      this.#options.onNoted(done);
    } catch (error) {
      this.#options.onError(error);
      // Until their leases end they are sent by nobody else: noted later they are not sent again.
      const kept = new Set(this.#isEnding ? [] : done.filter((each) => this.#options.isLeased(each)));
      this.#done = [...kept, ...this.#done];
      this.#nextMs = performance.now() + againAfterMs;
      if (kept.size < done.length) this.#options.onNoted(done.filter((each) => !kept.has(each)));
    }
  }

  async #noteWebhooks(): Promise<void> {
    const known = this.#known;
    this.#known = [];
    this.#nextKnownMs = performance.now() + webhooksEveryMs;
    try {
      await this.#options.noteWebhooks(known);
    } catch (error) {
      // Sums are lost, and no delivery.
      this.#options.onError(error);
    }
  }
}
