import { createAnswerer } from './answer.ts';
import { openCentralPart } from './central.ts';
import type { CentralPart } from './central.ts';
import { createConfiguration, readShard } from './configuration.ts';
import { Fetcher } from './fetch.ts';
import { createInbox } from './inbox.ts';
import type { Inbox } from './inbox.ts';
import { OwnerRounds } from './owner-rounds.ts';
import type { OwnerOptions } from './owner-options.ts';
import { createPartitions } from './partitions.ts';
import { RoundCommits } from './round-commits.ts';
import { TakeoverHold } from './takeover-hold.ts';
import { createBell } from './waiting.ts';

/**
 * Owns a shard: reads it from the database, then fetches, folds and commits until it is stopped or fails. One transaction is under way
 * while the next round is fetched, judged and folded; both are dropped when it fails.
 *
 * Time moves on, and votes end, whether or not results arrive: what nobody has reported is UNKNOWN, which alarms nobody, and an open range
 * ends where the shard was folded. Only after a takeover time stands still until what waits in the stream is read, at most `holdMs`: a
 * restart that loses nothing shows no gap.
 */
export class ShardOwner {
  /** Rejects when the shard is lost or anything went wrong: memory is void then. Resolves after `stop`. */
  readonly finished: Promise<void>;
  readonly #options: OwnerOptions;
  readonly #startedMs = performance.now();
  readonly #bell = createBell();
  readonly #stopping = new AbortController();
  readonly #inbox: Inbox;
  readonly #central: CentralPart | undefined;
  readonly #hold: TakeoverHold;
  readonly #commits: RoundCommits;
  #isHinted = false;

  /** Begins at once. */
  constructor(options: OwnerOptions) {
    this.#options = options;
    const { limits, ownership, bus, log } = options;
    const { shard } = ownership;
    this.#inbox = createInbox({ shard, rows: limits.rows, lingerMs: limits.lingerMs, nowUs: this.#nowUs });
    this.#central =
      options.central &&
      openCentralPart({
        runner: options.central,
        lingerMs: limits.lingerMs,
        graceMs: limits.fallbackGraceMs,
        nowUs: this.#nowUs,
        onNews: this.#bell.ring,
      });
    this.#hold = new TakeoverHold(this.#startedMs + limits.holdMs);
    this.#commits = new RoundCommits(options, createAnswerer({ shard, bus, log }), this.#bell.ring);
    this.finished = this.#own().finally(() => this.#central?.close());
  }

  /** Ends after the round that runs. */
  stop(): void {
    this.#stopping.abort();
    this.#bell.ring();
  }

  /** Looks at the configuration at once. */
  hint(): void {
    this.#isHinted = true;
    this.#bell.ring();
  }

  readonly #nowUs = (): number => Math.round(this.#options.now() * 1_000);

  async #own(): Promise<void> {
    const { reader, log, connection, ownership } = this.#options;
    const { shard, term } = ownership;
    const partitions = createPartitions(reader);
    const memory = await readShard({ shard, reader }, this.#options.foldedUntilUs ?? this.#nowUs());
    await partitions.prepare(this.#nowUs());
    const ms = Math.round(performance.now() - this.#startedMs);
    log.info({ term, monitors: memory.monitors.size, ms }, 'shard taken over');
    const settled = () => this.#commits.settled();
    const configuration = createConfiguration(memory, { ...this.#options, shard, settled });
    const rounds = new OwnerRounds({
      options: this.#options,
      startedMs: this.#startedMs,
      nowUs: this.#nowUs,
      memory,
      configuration,
      partitions,
      inbox: this.#inbox,
      central: this.#central,
      hold: this.#hold,
      commits: this.#commits,
      takeHint: () => {
        const isHinted = this.#isHinted;
        this.#isHinted = false;
        return isHinted;
      },
    });
    const fetcher = new Fetcher({
      connection,
      shard,
      log,
      beforeOpening: configuration.ensureStream,
      onMessage: (message) => {
        this.#inbox.add(message);
        this.#bell.ring();
      },
      onOpened: (waiting) => {
        this.#hold.opened(waiting);
        this.#bell.ring();
      },
    });
    try {
      await rounds.work(this.#bell, this.#stopping.signal);
      await this.#commits.settled();
    } finally {
      await fetcher.stop();
      await this.#commits.settled().catch(() => undefined);
    }
  }
}
