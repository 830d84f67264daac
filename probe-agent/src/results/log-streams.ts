import { keyOf } from './recovery.ts';
import { LogStream } from './stream.ts';

/** The streams of the log by epoch and shard. */
export class LogStreams {
  readonly #streams = new Map<string, LogStream>();
  /** Most results go to the stream of the one before; looking it up costs as much as writing. */
  #recent: LogStream | undefined;

  constructor(streams: readonly LogStream[]) {
    for (const stream of streams) this.#streams.set(keyOf(stream), stream);
  }

  get byKey(): ReadonlyMap<string, LogStream> {
    return this.#streams;
  }

  /** All of them, oldest epoch first. */
  all(): LogStream[] {
    return [...this.#streams.values()].sort((a, b) => a.epoch - b.epoch || a.shard - b.shard);
  }

  /** One that is there. */
  find(place: { readonly epoch: number; readonly shard: number }): LogStream | undefined {
    return this.#streams.get(keyOf(place));
  }

  /** One that is there, or a new one. */
  of(epoch: number, shard: number): LogStream {
    const recent = this.#recent;
    if (recent?.epoch === epoch && recent.shard === shard) return recent;
    const key = keyOf({ epoch, shard });
    let stream = this.#streams.get(key);
    if (stream === undefined) {
      stream = new LogStream({ epoch, shard, acknowledged: 0, synced: 0, lost: [] });
      this.#streams.set(key, stream);
    }
    this.#recent = stream;
    return stream;
  }

  /** Forgets those of which nothing is left. */
  forget(isDone: (stream: LogStream) => boolean): void {
    for (const [key, stream] of this.#streams) {
      if (!isDone(stream)) continue;
      this.#streams.delete(key);
      if (this.#recent === stream) this.#recent = undefined;
    }
  }

  /**
   * How many results wait for an acknowledgement, and how old the oldest is.
   * @param wallAgeMs tells the age of the first of a stream that is not in memory any more
   */
  waiting(nowUs: number, wallAgeMs: (stream: LogStream) => number): { results: number; oldestMs: number } {
    let results = 0;
    let oldestMs = 0;
    for (const stream of this.#streams.values()) {
      const unacknowledged = stream.synced - stream.acknowledged;
      if (unacknowledged <= 0) continue;
      results += unacknowledged;
      const inMemoryUs = stream.inMemory(stream.acknowledged + 1)?.monotonicUs;
      oldestMs = Math.max(oldestMs, inMemoryUs === undefined ? wallAgeMs(stream) : (nowUs - inMemoryUs) / 1_000);
    }
    return { results, oldestMs: Math.round(oldestMs) };
  }
}
