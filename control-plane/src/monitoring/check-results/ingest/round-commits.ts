import type { RecheckWish } from '../../consensus/index.ts';
import type { Answerer } from './answer.ts';
import { createCopyEncoder } from './copy-buffer.ts';
import type { ShardMemory } from './memory.ts';
import { tellStatuses } from './news.ts';
import type { OwnerOptions } from './owner-options.ts';
import type { Changes, Intake } from './round.ts';
import { withDeadline } from './waiting.ts';
import { writeRound } from './write.ts';

/** What a round comes to: what was taken of its messages, and what the fold made of it. */
export type FoldedRound = {
  readonly intake: Intake;
  readonly changes: Changes;
  readonly rechecks: readonly RecheckWish[];
  /** Up to when the shard is folded, microseconds; undefined while time stands still. */
  readonly foldedUntilUs: number | undefined;
};

/** Commits rounds, each in a transaction of its own: one is under way while the next round is fetched, judged and folded. */
export class RoundCommits {
  readonly #options: OwnerOptions;
  readonly #answerer: Answerer;
  readonly #onFailure: () => void;
  readonly #encode = createCopyEncoder();
  #underWay: Promise<void> = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;
  #lastMs = performance.now();

  /** @param onFailure a transaction failed: the memory of the shard is void, and `requireGood` throws from now on */
  constructor(options: OwnerOptions, answerer: Answerer, onFailure: () => void) {
    this.#options = options;
    this.#answerer = answerer;
    this.#onFailure = onFailure;
  }

  /** Monotonic time at which the last one was begun; that of the start before the first one. */
  get lastMs(): number {
    return this.#lastMs;
  }

  /** Resolves when the transaction that is under way is committed; rejects when it failed. */
  settled(): Promise<void> {
    return this.#underWay;
  }

  /** @throws what the transaction before failed with */
  requireGood(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Tells those who sent it what became of a round that needs no transaction. */
  answer(round: FoldedRound): void {
    this.#answerer.answer(round);
  }

  /** Begins the transaction of a round. The one before must have settled. */
  begin(round: FoldedRound, memory: ShardMemory): void {
    this.#lastMs = performance.now();
    this.#underWay = this.#commit(round, memory);
    this.#underWay.catch((error: unknown) => {
      this.#failure ??= { error };
      this.#onFailure();
    });
  }

  async #commit(round: FoldedRound, memory: ShardMemory): Promise<void> {
    const { client, ownership, limits, live, bus, onCommitted } = this.#options;
    const { intake, changes } = round;
    const text = `shard ${ownership.shard}: a transaction took too long`;
    await withDeadline(writeRound(client, ownership, round, this.#encode), limits.commitMs, text);
    this.#answerer.answer(round);
    live?.tell(intake.rows, memory.monitors);
    tellStatuses(bus, changes.statuses);
    onCommitted?.({ rows: intake.rows.length, messages: intake.settled.length });
  }
}
