import type { LoggedResult, LostRecord, RecordPlace } from './record.ts';
import { sizeOfResult, writeResult } from './record.ts';
import type { Segment } from './segment-files.ts';

/** What goes to the disk in one write and one sync. All of one epoch. */
export type Group = {
  readonly epoch: number;
  buffer: Buffer;
  used: number;
  readonly results: RecordPlace[];
  readonly lost: LostRecord[];
  /** Segments that may be deleted once this group, which records what was in them, is on disk. */
  readonly drops: Segment[];
};

export type GroupWriterOptions = {
  readonly salt: number;
  readonly afterMs: number;
  readonly afterRecords: number;
  /** Makes one group durable. A rejection ends the writing for good. */
  readonly write: (group: Group) => Promise<void>;
  /** After each round of writing; `urgent` when something in it was. */
  readonly onWritten: (urgent: boolean) => void;
  readonly onFailed: (error: unknown) => void;
};

const groupBytes = 1024 * 1024;
const firstBytes = 64 * 1024;

/** Gathers records into groups, so that one write and one sync serve many: after some time, some records, or at once when asked. */
export class GroupWriter {
  readonly #options: GroupWriterOptions;
  #groups: Group[] = [];
  #writing: Promise<void> | undefined;
  #isWanted = false;
  #isUrgent = false;
  #hasFailed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: GroupWriterOptions) {
    this.#options = options;
  }

  /** Adds a result of an epoch. */
  addResult(epoch: number, logged: LoggedResult, urgent: boolean): void {
    const group = this.#group(epoch, sizeOfResult(logged.result));
    group.results.push({ shard: logged.shard, seq: logged.seq, offset: group.used, bytes: group.buffer });
    group.used = writeResult(group.buffer, group.used, logged, this.#options.salt);
    this.#isUrgent ||= urgent;
    this.#schedule(urgent || group.results.length >= this.#options.afterRecords || group.used >= groupBytes);
  }

  /** Adds an encoded record that nobody waits for. */
  addRecord(epoch: number, record: Buffer): Group {
    const group = this.#group(epoch, record.length);
    record.copy(group.buffer, group.used);
    group.used += record.length;
    this.#schedule(false);
    return group;
  }

  /** Has the segment deleted when the records of what is lost with it are on disk. */
  addDrop(
    epoch: number,
    segment: Segment,
    records: readonly { readonly lost: LostRecord; readonly bytes: Buffer }[],
  ): void {
    let group = this.#group(epoch, 0);
    for (const { lost, bytes } of records) {
      group = this.addRecord(epoch, bytes);
      group.lost.push(lost);
    }
    group.drops.push(segment);
    this.#schedule(true);
  }

  /** Resolves when everything that was added so far is on disk, or the writing has failed. */
  async flush(): Promise<void> {
    while (!this.#hasFailed && (this.#groups.length > 0 || this.#writing !== undefined)) {
      this.#start();
      await this.#writing;
    }
  }

  /** Ends the timer. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  #group(epoch: number, bytesNeeded: number): Group {
    let group = this.#groups.at(-1);
    if (group === undefined || group.epoch !== epoch) {
      group = { epoch, buffer: Buffer.allocUnsafe(firstBytes), used: 0, results: [], lost: [], drops: [] };
      this.#groups.push(group);
    }
    if (group.used + bytesNeeded > group.buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(group.buffer.length * 2, group.used + bytesNeeded));
      group.buffer.copy(larger, 0, 0, group.used);
      group.buffer = larger;
    }
    return group;
  }

  #schedule(now: boolean): void {
    if (now) this.#start();
    else this.#timer ??= setTimeout(() => this.#start(), this.#options.afterMs);
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#hasFailed) return;
    if (this.#writing === undefined) this.#writing = this.#writeAll();
    else this.#isWanted = true;
  }

  async #writeAll(): Promise<void> {
    try {
      do {
        this.#isWanted = false;
        // What is added in the same turn of the event loop joins the same write.
        await new Promise((resolve) => setImmediate(resolve));
        const groups = this.#groups;
        const urgent = this.#isUrgent;
        this.#groups = [];
        this.#isUrgent = false;
        for (const group of groups) await this.#options.write(group);
        if (groups.length > 0) this.#options.onWritten(urgent);
      } while (this.#isWanted);
    } catch (error) {
      this.#hasFailed = true;
      this.#options.onFailed(error);
    }
    this.#writing = undefined;
    if (this.#groups.length > 0 && !this.#hasFailed) this.#schedule(false);
  }
}

/** The bytes of a group, to be kept in memory: without the room behind them when that is more. */
export function keptBytes(group: Group): Buffer {
  const isRoomy = group.used * 2 < group.buffer.length;
  return isRoomy ? Buffer.from(group.buffer.subarray(0, group.used)) : group.buffer;
}
