import { encodeSigned, leastBatchResults, maxBatchResults, signedContent } from '@parallax/wire';
import { BackOff } from '../back-off.ts';
import { messageOf } from '../ports.ts';
import { encodeRead } from './batch.ts';
import { DrainRate } from './drain.ts';
import { newLane } from './lane.ts';
import type { Lane } from './lane.ts';
import { Lanes } from './lanes.ts';
import type { LogRead } from './log-reader.ts';
import { publisherLimits } from './publisher-options.ts';
import type { PublisherLimits, PublisherOptions } from './publisher-options.ts';
import { keyOf } from './recovery.ts';

/**
 * Publishes what is on disk in the log, in order within each `(epoch, shard)`. The broker's answer only moves the window; a result is done
 * when the control plane says that it is committed. Whatever fails, it goes back to the first result concerned: the ingest trims what it
 * has already.
 */
export class Publisher {
  readonly #options: PublisherOptions;
  readonly #limits: PublisherLimits;
  readonly #lanes: Lanes;
  readonly #drain: DrainRate;
  #lastSynced = new Map<string, number>();
  #watch: NodeJS.Timeout | undefined;
  #sessionConnected = false;
  #pausedUntilMs = 0;
  #batchResults = leastBatchResults;
  #stopped = false;

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.#limits = { ...publisherLimits, ...options.limits };
    const { backOffFirstMs: firstMs, backOffMostMs: mostMs } = this.#limits;
    const { nowMs, random } = options;
    this.#lanes = new Lanes((stream) => newLane(stream, new BackOff({ firstMs, mostMs, random }), nowMs()));
    this.#drain = new DrainRate({ nowMs: options.nowMs, leastPerSecond: this.#limits.drainLeastPerSecond });
  }

  /** Begins to publish what is there and what comes. */
  start(): void {
    this.#options.log.onSynced((urgent) => this.#onSynced(urgent));
    this.#options.broker.onConnected(() => {
      this.#overtake();
      this.wake();
    });
    this.#options.broker.onDisconnected(() => {
      for (const lane of this.#lanes.all()) {
        if (lane.inFlight.length > 0) this.#goBack(lane, lane.inFlight[0]?.fromSeq ?? lane.next, 0);
      }
    });
    this.#watch = setInterval(() => this.#resendUnacknowledged(), Math.min(5_000, this.#limits.resendAfterMs / 4));
    this.wake();
  }

  /** Ends publishing; what is in flight is left to its fate, the log has it. */
  stop(): void {
    this.#stopped = true;
    clearInterval(this.#watch);
    for (const lane of this.#lanes.all()) clearTimeout(lane.timer);
  }

  /** Something may have become publishable: a synchronisation, a new connection. */
  wake(): void {
    for (const stream of this.#options.log.streams()) this.#pump(this.#lanes.of(stream));
  }

  /** Acknowledgements travel by the session; without it their absence means nothing. */
  sessionChanged(connected: boolean): void {
    this.#sessionConnected = connected;
    for (const lane of this.#lanes.all()) lane.progressMs = this.#options.nowMs();
  }

  /** Everything up to these positions is committed. */
  acknowledge(positions: readonly { readonly epoch: number; readonly shard: number; readonly seq: number }[]): void {
    if (!this.#options.log.acknowledge(positions)) return;
    for (const position of positions) {
      const lane = this.#lanes.find(position);
      if (lane === undefined) continue;
      lane.progressMs = this.#options.nowMs();
      if (lane.next <= lane.stream.acknowledged) lane.next = lane.stream.acknowledged + 1;
    }
  }

  /**
   * The control plane misses `seq` and has everything below it. It may have acknowledged more before, when its database was restored from a
   * backup: then it gets what is still here, and is told of the rest that it is lost.
   */
  resendFrom(position: { readonly epoch: number; readonly shard: number; readonly seq: number }): void {
    const stream = this.#options.log.streams().find((each) => keyOf(each) === keyOf(position));
    if (stream === undefined || position.seq < 1 || position.seq > stream.synced) {
      this.#options.logger.warn({ ...position }, 'asked to send results again that this log does not have; ignored');
      return;
    }
    if (position.seq <= stream.acknowledged) {
      this.#options.logger.warn(
        { ...position, acknowledged: stream.acknowledged },
        'the control plane has lost results that it had acknowledged; it gets those that are still here',
      );
      stream.rewind(position.seq - 1);
    }
    this.acknowledge([{ ...position, seq: position.seq - 1 }]);
    const lane = this.#lanes.of(stream);
    const nowMs = this.#options.nowMs();
    // Every batch that was under way behind the gap asks for the same; once is enough.
    if (lane.asked?.seq === position.seq && nowMs - lane.asked.atMs < 1_000) return;
    lane.asked = { seq: position.seq, atMs: nowMs };
    if (position.seq < lane.next) this.#goBack(lane, position.seq, 0);
  }

  /** The ingest takes so many results in a batch; 0 when it does not say. The fuller a batch, the less each result costs everybody. */
  allowBatch(results: number): void {
    this.#batchResults = Math.min(Math.max(results, leastBatchResults), maxBatchResults);
  }

  /** The ingest is behind and asks for a pause. */
  pause(milliseconds: number): void {
    this.#pausedUntilMs = this.#options.nowMs() + Math.min(Math.max(0, milliseconds), 60_000);
  }

  /** Results that are on disk and not yet published, of all epochs. */
  get unpublished(): number {
    return this.#lanes.unpublished(() => true);
  }

  #onSynced(urgent: boolean): void {
    const streams = this.#options.log.streams();
    const lastSynced = new Map<string, number>();
    for (const stream of streams) {
      const key = keyOf(stream);
      lastSynced.set(key, stream.synced);
      const added = stream.synced - (this.#lastSynced.get(key) ?? stream.synced);
      if (stream.epoch === this.#options.log.epoch) this.#drain.countLive(Math.max(0, added));
      const lane = this.#lanes.of(stream);
      lane.urgent ||= urgent && lane.next <= stream.synced;
      this.#pump(lane);
    }
    this.#lastSynced = lastSynced;
    if (this.#lanes.size > streams.length) this.#lanes.keepOnly(lastSynced);
  }

  #pump(lane: Lane): void {
    if (lane.pumping) {
      lane.again = true;
      return;
    }
    lane.pumping = true;
    void this.#pumpAll(lane)
      .catch((error: unknown) => {
        this.#options.logger.error(
          { error: messageOf(error) },
          'results cannot be read back from the log; trying again',
        );
        lane.notBeforeMs = this.#options.nowMs() + lane.backOff.next();
        this.#later(lane, lane.notBeforeMs - this.#options.nowMs());
      })
      .finally(() => {
        lane.pumping = false;
        if (lane.again && !this.#stopped) this.#pump(lane);
      });
  }

  /** Does not wait between batches that are in memory: what is published in one turn leaves in one write. */
  async #pumpAll(lane: Lane): Promise<void> {
    let goesOn: boolean;
    do {
      lane.again = false;
      const published = this.#publishNext(lane);
      goesOn = typeof published === 'boolean' ? published : await published;
    } while (goesOn);
  }

  /** Publishes one batch; false when there is nothing to do until something happens or a timer ends. */
  #publishNext(lane: Lane): boolean | Promise<boolean> {
    const { log, broker } = this.#options;
    if (
      this.#stopped ||
      !broker.connected ||
      lane.next > lane.stream.synced ||
      lane.inFlight.length >= this.#limits.window
    ) {
      if (lane.next > lane.stream.synced) lane.waitingSinceMs = undefined;
      return false;
    }
    const waitMs = this.#waitMs(lane);
    if (waitMs > 0) {
      this.#later(lane, waitMs);
      return false;
    }
    const { generation } = lane;
    const fromSeq = lane.next;
    const read = log.read(lane.stream, fromSeq, this.#batchResults);
    if (!(read instanceof Promise)) return this.#publishRead(lane, fromSeq, read);
    return read.then((found) => {
      if (lane.generation !== generation || lane.next !== fromSeq) return true;
      return this.#publishRead(lane, fromSeq, found);
    });
  }

  #publishRead(lane: Lane, fromSeq: number, read: LogRead): boolean {
    if (read === undefined || this.#stopped || !this.#options.broker.connected) return false;
    const batch = encodeRead(
      { probeId: this.#options.probeId, epoch: lane.stream.epoch, shard: lane.stream.shard, fromSeq },
      read,
    );
    this.#send(lane, { fromSeq, toSeq: batch.toSeq }, batch.bytes);
    return true;
  }

  #send(lane: Lane, part: { fromSeq: number; toSeq: number }, bytes: Uint8Array): void {
    const { generation } = lane;
    if (lane.next === lane.stream.acknowledged + 1) lane.progressMs = this.#options.nowMs();
    lane.next = part.toSeq + 1;
    lane.inFlight.push(part);
    lane.waitingSinceMs = undefined;
    if (lane.next > lane.stream.synced) lane.urgent = false;
    if (lane.stream.epoch !== this.#options.log.epoch) this.#drain.spend(part.toSeq - part.fromSeq + 1);
    const payload = encodeSigned(bytes, this.#options.sign(signedContent(bytes)));
    const subject = `results.${this.#options.probeId}.${lane.stream.shard}`;
    void this.#await(
      lane,
      part,
      generation,
      this.#options.broker.publish(subject, payload, this.#limits.publishTimeoutMs),
    );
  }

  /** Follows one batch until the broker has taken it or not; what became of an earlier generation does not matter any more. */
  async #await(lane: Lane, part: { fromSeq: number }, generation: number, publishing: Promise<void>): Promise<void> {
    let failure: unknown;
    try {
      await publishing;
    } catch (error) {
      failure = error ?? new Error('no reason was given');
    }
    if (lane.generation !== generation || this.#stopped) return;
    if (failure === undefined) {
      lane.inFlight = lane.inFlight.filter((each) => each !== part);
      if (lane.backOff.attempts >= 3) this.#overtake();
      lane.backOff.reset();
      this.#pump(lane);
      return;
    }
    const waitMs = lane.backOff.next();
    if (lane.backOff.attempts === 1 || lane.backOff.attempts % 20 === 0) {
      this.#options.logger.warn(
        { error: messageOf(failure), shard: lane.stream.shard, attempts: lane.backOff.attempts },
        'the broker did not take a batch; it will be published again',
      );
    }
    this.#goBack(lane, part.fromSeq, waitMs);
  }

  /** Milliseconds until the next batch of this lane may go: after a failure, on request, to fill a batch, or to hold back a backlog. */
  #waitMs(lane: Lane): number {
    const nowMs = this.#options.nowMs();
    const blockedMs = Math.max(lane.notBeforeMs, this.#pausedUntilMs) - nowMs;
    if (blockedMs > 0) return blockedMs;
    if (lane.stream.epoch !== this.#options.log.epoch) return this.#drain.waitMs();
    if (lane.urgent || lane.stream.synced - lane.next + 1 >= this.#batchResults) return 0;
    lane.waitingSinceMs ??= nowMs;
    return lane.waitingSinceMs + this.#limits.holdMs - nowMs;
  }

  #later(lane: Lane, waitMs: number): void {
    clearTimeout(lane.timer);
    lane.timer = setTimeout(() => this.#pump(lane), Math.max(1, waitMs));
  }

  #goBack(lane: Lane, seq: number, waitMs: number): void {
    lane.generation += 1;
    lane.inFlight = [];
    lane.next = Math.max(1, Math.min(lane.next, seq));
    lane.notBeforeMs = this.#options.nowMs() + waitMs;
    lane.urgent = true;
    if (waitMs > 0) this.#later(lane, waitMs);
    else this.#pump(lane);
  }

  #resendUnacknowledged(): void {
    if (!this.#sessionConnected || !this.#options.broker.connected) return;
    const nowMs = this.#options.nowMs();
    for (const lane of this.#lanes.all()) {
      const { stream } = lane;
      if (lane.next <= stream.acknowledged + 1 || nowMs - lane.progressMs < this.#limits.resendAfterMs) continue;
      this.#options.logger.info(
        { epoch: stream.epoch, shard: stream.shard, from_seq: stream.acknowledged + 1, to_seq: lane.next - 1 },
        'results were not acknowledged in time and are published again',
      );
      lane.progressMs = nowMs;
      this.#goBack(lane, stream.acknowledged + 1, 0);
    }
  }

  #overtake(): void {
    const { log } = this.#options;
    const unpublished = this.#lanes.unpublished((epoch) => epoch === log.epoch);
    if (unpublished <= this.#limits.overtakeResults) return;
    const epoch = log.openEpoch();
    this.#options.logger.info(
      { unpublished, epoch },
      'live results go to a new epoch; the backlog is published beside them',
    );
  }
}
