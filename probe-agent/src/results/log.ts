import type { FileHandle } from 'node:fs/promises';
import type { ResultRecord } from '@parallax/wire';
import { leastBatchResults } from '@parallax/wire';
import { messageOf } from '../ports.ts';
import { syncFolder } from '../state/files.ts';
import type { AcknowledgedFile } from './acknowledged.ts';
import { AnchorKeeper } from './anchor-keeper.ts';
import { GroupWriter, keptBytes } from './group-writer.ts';
import type { Group } from './group-writer.ts';
import { logLimits } from './log-options.ts';
import type { LogLimits, LogOptions } from './log-options.ts';
import { readFromDisk, readFromMemory } from './log-reader.ts';
import type { LogRead, Times } from './log-reader.ts';
import { LogStreams } from './log-streams.ts';
import { recoverLog } from './open-log.ts';
import type { RecoveredLog } from './open-log.ts';
import { Placement, sleepMs } from './placement.ts';
import { encodeAnchor, encodeLostRecord } from './record.ts';
import type { Anchor } from './record.ts';
import { beyondLimits, isAcknowledged, lostWith, oldestOnDiskMs } from './retention.ts';
import { extend, timeOfResult } from './segment.ts';
import { createSegment, deleteSegment, randomSalt, writeAll } from './segment-files.ts';
import type { Segment } from './segment-files.ts';
import type { LogStream } from './stream.ts';

/** Characters of evidence that are read at once, where it is of more than one result. */
const evidenceCharacters = 80_000;

/**
 * The write-ahead log of results. Nothing is published before it is on disk here, and nothing leaves here before the control plane says
 * that it has committed it, except by the limits, which leave a record of what was dropped.
 */
export class ResultLog {
  readonly #options: LogOptions;
  readonly #limits: LogLimits;
  readonly #salt = randomSalt();
  readonly #streams: LogStreams;
  readonly #placements: Map<string, Placement>;
  readonly #times: Times;
  readonly #acknowledgedFile: AcknowledgedFile;
  readonly #writer: GroupWriter;
  readonly #listeners: ((urgent: boolean) => void)[] = [];
  #segments: Segment[];
  #nextIndex: number;
  #epoch: number;
  #handle: FileHandle | undefined;
  #acknowledging: Promise<void> | undefined;
  #acknowledgedTimer: NodeJS.Timeout | undefined;
  readonly #anchors: AnchorKeeper;
  #failed: Error | undefined;
  #closed = false;
  /** Places in the log that could not be read at the start, and results that were missing there. */
  readonly damagedRecords: number;

  private constructor(options: LogOptions, recovered: RecoveredLog) {
    this.#options = options;
    this.#limits = { ...logLimits, ...options.limits };
    this.#segments = recovered.segments;
    this.#nextIndex = recovered.nextIndex;
    this.#acknowledgedFile = recovered.acknowledged;
    this.#placements = recovered.placements;
    this.#epoch = recovered.epoch;
    this.damagedRecords = recovered.damagedRecords;
    this.#streams = new LogStreams(recovered.streams);
    this.#anchors = new AnchorKeeper(this.#placementOf(options.bootId));
    this.#times = { currentBoot: options.bootId, of: (bootId) => this.#placementOf(bootId) };
    this.#writer = new GroupWriter({
      salt: this.#salt,
      afterMs: this.#limits.syncAfterMs,
      afterRecords: this.#limits.syncAfterRecords,
      write: (group) => this.#writeGroup(group),
      onWritten: (urgent) => {
        for (const listener of this.#listeners) listener(urgent);
      },
      onFailed: (error) => this.#fail(error),
    });
  }

  /** Recovers what an earlier run has left and opens a new epoch. Throws when the folder cannot be read or written. */
  static async open(options: LogOptions): Promise<ResultLog> {
    const log = new ResultLog(options, await recoverLog(options));
    await log.#openSegment(log.#epoch);
    log.#doubtWhatNobodySaw();
    await log.#deleteAcknowledged();
    await log.#writeAcknowledged();
    return log;
  }

  /**
   * The machine may have slept between the end of the last run and now, or in that run without its notice. Then what it has synchronised
   * says nothing of the results of this one: only the next synchronisation tells.
   */
  #doubtWhatNobodySaw(): void {
    const { monotonicUs, sleptMs } = this.#options;
    const hasNeverSlept = (sleptMs?.() ?? Infinity) < sleepMs;
    if (this.#anchors.last === undefined || hasNeverSlept) return;
    this.anchor({ kind: 'jump', monotonicUs: monotonicUs(), serverUs: 0 });
  }

  /** The epoch that new results go to. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Epochs that still have something that is not acknowledged, and the present one; oldest first. */
  get epochs(): number[] {
    return [...new Set([...this.streams().map((stream) => stream.epoch), this.#epoch])].sort((a, b) => a - b);
  }

  /** Every stream of the log, oldest epoch first. */
  streams(): readonly LogStream[] {
    return this.#streams.all();
  }

  /** Called after each sync with what was added; `urgent` when something in it should be published at once. */
  onSynced(listener: (urgent: boolean) => void): void {
    this.#listeners.push(listener);
  }

  /**
   * Hands a result to the log; it is on disk after the next group sync. `effectiveUs` 0 means that its time is not known yet.
   * Gives its sequence number. Throws when the disk has failed.
   */
  append(shard: number, monotonicUs: number, result: ResultRecord, urgent = false): number {
    if (this.#failed !== undefined) throw this.#failed;
    const stream = this.#streams.of(this.#epoch, shard);
    stream.appended += 1;
    const seq = stream.appended;
    this.#writer.addResult(this.#epoch, { shard, seq, monotonicUs, result }, urgent);
    return seq;
  }

  /** Remembers a synchronisation of the clock, or that monotonic time was broken; enough of them go to the log. */
  anchor(anchor: Anchor): void {
    if (!this.#anchors.add(anchor)) return;
    this.#writer.addRecord(this.#epoch, encodeAnchor(anchor, this.#salt));
  }

  /** From now on results go to a new epoch, so that they need not wait behind what is there already. */
  openEpoch(): number {
    this.#epoch = Math.max(this.#epoch + 1, Math.floor(this.#options.wallMs()));
    return this.#epoch;
  }

  /** What is on disk in a stream from a number on; see LogRead. At once where it is in memory as well. */
  read(stream: LogStream, fromSeq: number, mostResults = leastBatchResults): LogRead | Promise<LogRead> {
    if (fromSeq > stream.synced) return undefined;
    const lost = stream.lostAt(fromSeq);
    if (lost !== undefined) return { lost: { ...lost, fromSeq } };
    const limits = { results: mostResults, evidenceCharacters };
    const fromMemory = readFromMemory(stream, fromSeq, limits, this.#times);
    if (fromMemory !== 'on disk') return fromMemory;
    return readFromDisk(stream, this.#segments, fromSeq, limits, this.#times);
  }

  /** The control plane has committed everything up to these positions. Positions of streams that are not here are ignored. */
  acknowledge(positions: readonly { readonly epoch: number; readonly shard: number; readonly seq: number }[]): boolean {
    let moved = false;
    for (const position of positions) moved = this.#streams.find(position)?.acknowledge(position.seq) === true || moved;
    if (moved && this.#acknowledgedTimer === undefined && !this.#closed) {
      this.#acknowledgedTimer = setTimeout(() => {
        this.#acknowledgedTimer = undefined;
        this.#persistAcknowledged();
      }, this.#limits.acknowledgedAfterMs);
    }
    return moved;
  }

  /** Applies the limits of size and age; `nowUs` is server time when it is known, without it nothing is too old. */
  enforceLimits(nowUs: number | undefined): void {
    const { maxBytes, maxAgeMs } = this.#limits;
    const oldestUs = nowUs === undefined ? 0 : nowUs - maxAgeMs * 1_000;
    for (const { segment, reason } of beyondLimits(this.#segments, { maxBytes, oldestUs })) this.#drop(segment, reason);
  }

  /** How much is waiting for an acknowledgement; the age by the monotonic clock where it is known. */
  get waiting(): { results: number; oldestMs: number } {
    const nowUs = this.#options.monotonicUs();
    const wallMs = this.#options.wallMs();
    return this.#streams.waiting(nowUs, (stream) => oldestOnDiskMs(stream, this.#segments, wallMs));
  }

  /** Bytes of the log on disk. */
  get bytes(): number {
    return this.#segments.reduce((sum, segment) => sum + segment.bytes, 0);
  }

  /** Resolves when everything that was appended so far is on disk. */
  async flush(): Promise<void> {
    await this.#writer.flush();
    if (this.#failed !== undefined) throw this.#failed;
  }

  /** Writes what is left and closes; the log must not be used afterwards. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#acknowledgedTimer);
    try {
      await this.flush();
      await this.#acknowledging;
      await this.#writeAcknowledged();
      await this.#deleteAcknowledged();
    } finally {
      this.#writer.stop();
      await this.#handle?.close();
      this.#handle = undefined;
    }
  }

  #placementOf(bootId: string): Placement {
    const placement = this.#placements.get(bootId) ?? new Placement();
    this.#placements.set(bootId, placement);
    return placement;
  }

  async #writeGroup(group: Group): Promise<void> {
    let segment = this.#segments.at(-1);
    if (
      segment === undefined ||
      segment.header.epoch !== group.epoch ||
      segment.bytes + group.used > this.#limits.segmentBytes
    ) {
      segment = await this.#openSegment(group.epoch);
    }
    if (this.#handle === undefined) throw new Error('the log is closed');
    const start = segment.bytes;
    await writeAll(this.#handle, group.buffer.subarray(0, group.used), start);
    await this.#handle.datasync();
    segment.bytes += group.used;
    const bytes = keptBytes(group);
    for (const result of group.results) {
      const { shard, seq, offset } = result;
      result.bytes = bytes;
      const atUs = timeOfResult(segment.header, bytes, offset);
      extend(segment.extents, { shard, seq, atUs, offset: start + offset });
      this.#streams.of(group.epoch, shard).addSynced(result);
    }
    for (const lost of group.lost) {
      segment.lost.push(lost);
      this.#streams.find(lost)?.addLost(lost);
    }
    for (const dropped of group.drops) await this.#remove(dropped);
  }

  async #openSegment(epoch: number): Promise<Segment> {
    const header = {
      epoch,
      index: this.#nextIndex,
      salt: this.#salt,
      bootId: this.#options.bootId,
      openedMonotonicUs: this.#options.monotonicUs(),
      openedWallMs: this.#options.wallMs(),
    };
    this.#nextIndex += 1;
    const { last } = this.#anchors;
    const first = last === undefined ? Buffer.alloc(0) : encodeAnchor(last, this.#salt);
    const { segment, handle } = await createSegment(this.#options.folder, header, first);
    await this.#handle?.close();
    this.#handle = handle;
    this.#segments.push(segment);
    return segment;
  }

  #drop(segment: Segment, reason: 'age' | 'size'): void {
    segment.dropping = true;
    const lost = lostWith(segment, this.#streams.byKey);
    const results = lost.reduce((sum, range) => sum + range.toSeq - range.fromSeq + 1, 0);
    if (results > 0) {
      this.#options.logger.error(
        { reason, results, segment: segment.path },
        'the oldest results of the log are dropped',
      );
    }
    const records = lost.map((range) => ({ lost: range, bytes: encodeLostRecord(range, this.#salt) }));
    this.#writer.addDrop(this.#epoch, segment, records);
  }

  async #remove(segment: Segment): Promise<void> {
    this.#segments = this.#segments.filter((each) => each !== segment);
    await deleteSegment(segment);
  }

  #persistAcknowledged(): void {
    if (this.#failed !== undefined || this.#closed) return;
    this.#acknowledging = this.#persistAfter(this.#acknowledging);
  }

  async #persistAfter(before: Promise<void> | undefined): Promise<void> {
    await before;
    try {
      await this.#writeAcknowledged();
      await this.#deleteAcknowledged();
    } catch (error) {
      this.#fail(error);
    }
  }

  async #writeAcknowledged(): Promise<void> {
    const positions = this.#streams.all().map(({ epoch, shard, acknowledged: seq }) => ({ epoch, shard, seq }));
    await this.#acknowledgedFile.write({ highestEpoch: this.#epoch, positions });
  }

  /** Segments go when all of them is acknowledged, and streams of old epochs when nothing of them is left. */
  async #deleteAcknowledged(): Promise<void> {
    const done = this.#segments
      .slice(0, -1)
      .filter((segment) => !segment.dropping && isAcknowledged(segment, this.#streams.byKey));
    for (const segment of done) await this.#remove(segment);
    if (done.length > 0) await syncFolder(this.#options.folder);
    const isOnDisk = (epoch: number): boolean => this.#segments.some((segment) => segment.header.epoch === epoch);
    this.#streams.forget((stream) => {
      const isUsed = stream.epoch === this.#epoch || stream.appended > stream.acknowledged;
      return !isUsed && !isOnDisk(stream.epoch);
    });
  }

  #fail(error: unknown): void {
    if (this.#failed !== undefined) return;
    this.#failed = new Error(
      `the log in ${this.#options.folder} cannot be written: ${messageOf(error)}; free the disk or repair it, then start the agent again`,
      { cause: error },
    );
    this.#options.onFatal(this.#failed);
  }
}
