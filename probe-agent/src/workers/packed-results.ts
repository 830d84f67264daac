import type { ResultRecord } from '@parallax/wire';
import { endOfRecord, readResult, sizeOfResult, writeResult } from '../results/record.ts';

/** A result on its way to the main thread. */
export type HandedResult = {
  readonly shard: number;
  /** Start of its check on the monotonic clock; its effective time is not known yet. */
  readonly monotonicUs: number;
  readonly result: ResultRecord;
  /** It should be published at once. */
  readonly urgent: boolean;
};

/** Nothing here outlives the process, so there is nothing to tell apart by it. */
const salt = 0;
const firstBytes = 8 * 1024;

/** Packs results into bytes that one message carries; in the form of the log's records, whose sequence number says whether one is urgent. */
export class ResultPacker {
  #buffer = Buffer.allocUnsafeSlow(firstBytes);
  #used = 0;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add({ shard, monotonicUs, result, urgent }: HandedResult): void {
    const needed = this.#used + sizeOfResult(result);
    if (needed > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#buffer.length));
      this.#buffer.copy(larger, 0, 0, this.#used);
      this.#buffer = larger;
    }
    this.#used = writeResult(this.#buffer, this.#used, { shard, seq: urgent ? 2 : 1, monotonicUs, result }, salt);
    this.#count += 1;
  }

  /** Everything since the last time, in a buffer of its own that can be handed over. */
  take(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.#used);
    bytes.set(this.#buffer.subarray(0, this.#used));
    if (this.#buffer.length > 128 * firstBytes) this.#buffer = Buffer.allocUnsafeSlow(firstBytes);
    this.#used = 0;
    this.#count = 0;
    return bytes;
  }
}

/** The results that were packed, in their order. Throws for bytes that no packer has made. */
export function* unpackResults(bytes: Uint8Array): Generator<HandedResult> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let offset = 0; offset < buffer.length; ) {
    const end = endOfRecord(buffer, offset, salt);
    const logged = end === undefined ? undefined : readResult(buffer, offset, end);
    if (end === undefined || logged === undefined) throw new Error('a worker handed over results that cannot be read');
    yield { shard: logged.shard, monotonicUs: logged.monotonicUs, result: logged.result, urgent: logged.seq === 2 };
    offset = end;
  }
}
