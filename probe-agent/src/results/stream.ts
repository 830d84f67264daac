import { mergeLost } from './recovery.ts';
import type { LoggedResult, LostRecord } from './record.ts';

/** Results that stay in memory until they are acknowledged, so that the live way never reads the disk; beyond this they are read back. */
export const tailResults = 20_000;
export const tailEvidenceCharacters = 16 * 1024 * 1024;

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
  #tail: (LoggedResult | undefined)[] = [];
  #tailStart = 0;
  #evidence = 0;

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
  addSynced(logged: LoggedResult): void {
    this.synced = logged.seq;
    this.#tail.push(logged);
    this.#evidence += evidenceOf(logged);
    while (this.#tail.length - this.#tailStart > tailResults || this.#evidence > tailEvidenceCharacters)
      this.#forgetFirst();
    this.#compact();
  }

  /** The result with this number, when it is still in memory. */
  inMemory(seq: number): LoggedResult | undefined {
    const first = this.#tail[this.#tailStart];
    return first === undefined || seq < first.seq ? undefined : this.#tail[this.#tailStart + seq - first.seq];
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

  /** Start of the oldest result in memory on the monotonic clock. */
  get oldestInMemoryUs(): number | undefined {
    return this.#tail[this.#tailStart]?.monotonicUs;
  }

  #forgetFirst(): void {
    const first = this.#tail[this.#tailStart];
    if (first !== undefined) this.#evidence -= evidenceOf(first);
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

const evidenceOf = (logged: LoggedResult): number => logged.result.evidence?.json.length ?? 0;
