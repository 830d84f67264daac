import type { TableSignals } from './database/table-signals.ts';
import type { Repeated } from './repeat.ts';

export type RepeatWhenDueOptions = {
  readonly signals: Pick<TableSignals, 'on' | 'isHeard'>;
  /** Tables whose change may call for a run. */
  readonly tables: readonly string[];
  /** The longest time between two runs while changes are signalled, for what no signal tells of; ten seconds when absent. */
  readonly everyMs?: number;
  /** The longest time between two runs while changes are not signalled; one second when absent. */
  readonly unheardMs?: number;
  /** The shortest time between the beginnings of two runs, however many signals come; 20 ms when absent. */
  readonly leastMs?: number;
  /**
   * One run. Long ones ask `isStopped` between their steps and end early. @returns in how many ms the next work that is known now is due; nothing
   * where none is known
   */
  readonly work: (isStopped: () => boolean) => Promise<number | undefined>;
  /** A run that failed; the next one comes as if nothing were signalled. */
  readonly onError: (error: unknown) => void;
};

/**
 * Does work when there is some: after a signal, when what is known is due, and now and then for what neither tells of. The first run is when signals
 * are heard, or cannot be; one run at a time. `soon` asks for a run that begins after the call.
 */
export function repeatWhenDue(options: RepeatWhenDueOptions): Repeated {
  return new DueWork(options);
}

class DueWork implements Repeated {
  readonly #options: RepeatWhenDueOptions;
  readonly #listening: { readonly stop: () => void };
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isWanted = false;
  #begunMs = Number.NEGATIVE_INFINITY;
  #isStopped = false;

  constructor(options: RepeatWhenDueOptions) {
    this.#options = options;
    this.#listening = options.signals.on(options.tables, () => this.#want());
    this.#schedule(this.#longestMs());
  }

  soon = async (): Promise<void> => {
    if (this.#isStopped) {
      await this.#running;
      return;
    }
    // What is under way may have read before that which it is asked for.
    await this.#running;
    await (this.#running ?? this.#begin());
  };

  stop = async (): Promise<void> => {
    this.#isStopped = true;
    this.#listening.stop();
    clearTimeout(this.#timer);
    await this.#running;
  };

  #want(): void {
    this.#isWanted = true;
    if (this.#running === undefined) this.#schedule(0);
  }

  #schedule(inMs: number): void {
    if (this.#isStopped) return;
    clearTimeout(this.#timer);
    const leastMs = this.#begunMs + (this.#options.leastMs ?? 20) - performance.now();
    this.#timer = setTimeout(() => void this.#begin(), Math.max(0, leastMs, inMs));
  }

  async #begin(): Promise<void> {
    if (this.#isStopped) return;
    clearTimeout(this.#timer);
    this.#isWanted = false;
    this.#begunMs = performance.now();
    const running = this.#run();
    this.#running = running.then(() => undefined);
    const dueMs = await running;
    this.#running = undefined;
    this.#schedule(this.#isWanted ? 0 : Math.min(dueMs ?? Number.POSITIVE_INFINITY, this.#longestMs()));
  }

  async #run(): Promise<number | undefined> {
    try {
      return await this.#options.work(() => this.#isStopped);
    } catch (error) {
      this.#options.onError(error);
      return this.#options.unheardMs ?? 1_000;
    }
  }

  #longestMs(): number {
    const { signals, everyMs = 10_000, unheardMs = 1_000 } = this.#options;
    return signals.isHeard() ? everyMs : Math.min(everyMs, unheardMs);
  }
}
