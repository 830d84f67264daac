import { mergeLost } from './recovery.ts';
import { readResult, sizeOfRecord } from './record.ts';
import type { LoggedResult, LostRecord, RecordPlace } from './record.ts';

/**
 * Results that stay in memory until they are acknowledged, so that the live way never reads the disk; beyond this they are read back. They
 * stay as the bytes that were logged: what lives so long costs every collection that it lives through.
 */
export const tailResults = 20_000;
export const tailBytes = 16 * 1024 * 1024;

/** One `(epoch, shard)` of the log while the agent runs. */
export class LogStream {
  readonly epoch: number;
  readonly shard: number;
  /** Everything up to here is committed at the control plane. */
  acknowledged: number;
  /** Everything up to here is on disk. */
  synced: number;
  /** Everything up to here has been handed to the log. */
  appended: number;
  /** Ascending; what is acknowledged leaves. */
  lost: LostRecord[];
  #tail: (RecordPlace | undefined)[] = [];
  #tailStart = 0;
  #tailBytes = 0;

  constructor(start: {
    epoch: number;
    shard: number;
    acknowledged: number;
    synced: number;
    lost: readonly LostRecord[];
  }) {
    this.epoch = start.epoch;
    this.shard = start.shard;
    this.acknowledged = start.acknowledged;
    this.synced = start.synced;
    this.appended = start.synced;
    this.lost = [...start.lost];
  }

  /** A result has reached the disk. */
  addSynced(place: RecordPlace): void {
    this.synced = place.seq;
    this.#tail.push(place);
    this.#tailBytes += sizeOfRecord(place.bytes, place.offset);
    while (this.#tail.length - this.#tailStart > tailResults || this.#tailBytes > tailBytes) this.#forgetFirst();
    this.#compact();
  }

  /** The result with this number, when it is still in memory. */
  inMemory(seq: number): LoggedResult | undefined {
    const first = this.#tail[this.#tailStart];
    const place = first === undefined || seq < first.seq ? undefined : this.#tail[this.#tailStart + seq - first.seq];
    return place && readResult(place.bytes, place.offset, place.offset + sizeOfRecord(place.bytes, place.offset));
  }

  /** A range was given up: reading it from now on says so. */
  addLost(range: LostRecord): void {
    this.lost = mergeLost([...this.lost, range]);
  }

  /** The range of given-up results that this number belongs to. */
  lostAt(seq: number): LostRecord | undefined {
    return this.lost.find((range) => range.fromSeq <= seq && seq <= range.toSeq);
  }

  /** Moves the acknowledged position forward; true when it moved. */
  acknowledge(seq: number): boolean {
    const reached = Math.min(seq, this.synced);
    if (reached <= this.acknowledged) return false;
    this.acknowledged = reached;
    if (this.lost.length > 0) this.lost = this.lost.filter((range) => range.toSeq > reached);
    while ((this.#tail[this.#tailStart]?.seq ?? Infinity) <= reached) this.#forgetFirst();
    this.#compact();
    return true;
  }

  /**
   * The control plane has less than it once said, because its database was restored from a backup: what is still here of the rest is not
   * freed before it is acknowledged anew.
   */
  rewind(seq: number): void {
    this.acknowledged = Math.min(this.acknowledged, Math.max(0, seq));
  }

  #forgetFirst(): void {
    const first = this.#tail[this.#tailStart];
    if (first !== undefined) this.#tailBytes -= sizeOfRecord(first.bytes, first.offset);
    // An array that has become old would keep it from being collected for long.
    this.#tail[this.#tailStart] = undefined;
    this.#tailStart += 1;
  }

  #compact(): void {
    if (this.#tailStart < 256 || this.#tailStart * 2 < this.#tail.length) return;
    this.#tail = this.#tail.slice(this.#tailStart);
    this.#tailStart = 0;
  }
}
