import type { Logger } from '@parallax/telemetry';
import type { DatabasePool } from 'slonik';
import type { Bus } from '../../platform/bus/bus.ts';
import { liveEventsSubject, liveResultsSubject, liveWantedSubject } from '../../platform/bus/subjects.ts';
import { repeat } from '../../platform/repeat.ts';
import type { Cursor } from '../../platform/ordered-log/cursor.ts';
import { resultsOf } from './live-results.ts';
import { presentCursor } from '../../platform/ordered-log/present.queries.ts';
import { eventsBehind } from './queries.ts';
import type { LiveStream } from './stream.ts';

export type HubOptions = {
  readonly worker: DatabasePool;
  readonly bus: () => Bus;
  readonly log: Logger;
  /** How often it looks and tells; 250 ms when absent. */
  readonly everyMs?: number;
};

const eventsAtOnce = 1_000;
/** Owners of shards tell results for three times as long after each of these. */
const wantedEveryMs = 5_000;

/** All streams of this process: reads what is new once for all of them, and only while there is one. */
export class LiveHub {
  readonly #options: HubOptions;
  readonly #streams = new Set<LiveStream>();
  /** What all streams were offered. */
  #cursor: Cursor | undefined;
  #starting: Promise<void> | undefined;
  #wantedMs = Number.NEGATIVE_INFINITY;
  #running: { readonly stop: () => Promise<void> } | undefined;
  #isStopped = false;

  constructor(options: HubOptions) {
    this.#options = options;
  }

  /** Resolves when the stream is offered all that happens. What it missed is read after that, so that nothing falls between. */
  async add(stream: LiveStream): Promise<void> {
    if (this.#isStopped) {
      stream.finish('unavailable', 'the server is stopping; come again');
      return;
    }
    this.#streams.add(stream);
    this.#askForResults();
    this.#running ??= this.#run();
    this.#starting ??= this.#start();
    const starting = this.#starting;
    try {
      await starting;
    } catch (error) {
      this.#streams.delete(stream);
      if (this.#starting === starting) this.#starting = undefined;
      throw error;
    }
  }

  remove(stream: LiveStream): void {
    this.#streams.delete(stream);
  }

  /** Ends all streams: their clients come again, to another replica. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const stream of this.#streams) stream.finish('unavailable', 'the server is stopping; come again');
    this.#streams.clear();
    await this.#running?.stop();
  }

  async #start(): Promise<void> {
    this.#cursor = await presentCursor(this.#options.worker);
  }

  #run(): { stop: () => Promise<void> } {
    const { log, everyMs = 250 } = this.#options;
    const bus = this.#options.bus();
    const ticks = repeat({
      everyMs,
      work: () => this.#tick(),
      onError: (error) => log.warn({ err: error }, 'live events cannot be read; trying again'),
    });
    const listeners = [
      bus.listen(liveEventsSubject, () => void ticks.soon()),
      bus.listen(liveResultsSubject, (message) => this.#offerResults(message)),
    ];
    return {
      stop: async () => {
        for (const listener of listeners) listener.stop();
        await ticks.stop();
      },
    };
  }

  #offerResults(message: unknown): void {
    if (![...this.#streams].some((stream) => stream.wantsResults)) return;
    const results = resultsOf(message);
    for (const stream of this.#streams) stream.offerResults(results);
  }

  async #tick(): Promise<void> {
    for (const stream of this.#streams) if (stream.isOver) this.#streams.delete(stream);
    if (this.#streams.size === 0) {
      this.#rest();
      return;
    }
    this.#askForResults();
    await this.#read();
    await Promise.all([...this.#streams].map((stream) => stream.flush()));
  }

  /** Nobody is left. Whoever comes next reads what it missed by itself. */
  #rest(): void {
    this.#cursor = undefined;
    this.#starting = undefined;
    const running = this.#running;
    this.#running = undefined;
    // Not waited for: this is called by what it waits for.
    void running?.stop();
  }

  async #read(): Promise<void> {
    for (let isMore = true; isMore && this.#cursor !== undefined; ) {
      const read = await eventsBehind(this.#options.worker, this.#cursor, eventsAtOnce);
      for (const stream of this.#streams) stream.offer(read.events);
      this.#cursor = read.upTo;
      isMore = read.isMore;
    }
  }

  #askForResults(): void {
    const nowMs = performance.now();
    if (nowMs - this.#wantedMs < wantedEveryMs) return;
    if (![...this.#streams].some((stream) => stream.wantsResults)) return;
    this.#wantedMs = nowMs;
    this.#options.bus().hint(liveWantedSubject, {});
  }
}
