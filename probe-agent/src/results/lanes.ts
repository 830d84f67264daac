import type { Lane } from './lane.ts';
import { keyOf } from './recovery.ts';
import type { LogStream } from './stream.ts';

/** The lanes of the publisher, one for each stream of the log. */
export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  readonly #make: (stream: LogStream) => Lane;

  constructor(make: (stream: LogStream) => Lane) {
    this.#make = make;
  }

  get size(): number {
    return this.#lanes.size;
  }

  all(): Iterable<Lane> {
    return this.#lanes.values();
  }

  /** The lane of a position, when there is one. */
  find(place: { readonly epoch: number; readonly shard: number }): Lane | undefined {
    return this.#lanes.get(keyOf(place));
  }

  /** The lane of a stream; a new one when there is none, or one of a stream that was forgotten meanwhile. */
  of(stream: LogStream): Lane {
    const found = this.find(stream);
    if (found?.stream === stream) return found;
    const lane = this.#make(stream);
    this.#lanes.set(keyOf(stream), lane);
    return lane;
  }

  /** Forgets the lanes of streams that are not there any more. */
  keepOnly(present: ReadonlyMap<string, unknown>): void {
    for (const [key, lane] of this.#lanes) {
      if (present.has(key)) continue;
      clearTimeout(lane.timer);
      this.#lanes.delete(key);
    }
  }

  /** Results that are on disk and not yet published, of the epochs that count. */
  unpublished(counts: (epoch: number) => boolean): number {
    let sum = 0;
    for (const lane of this.#lanes.values())
      if (counts(lane.stream.epoch)) sum += Math.max(0, lane.stream.synced - lane.next + 1);
    return sum;
  }
}
