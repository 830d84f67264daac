import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Backlogs } from './backlogs.ts';
import type { CentralPart } from './central.ts';
import type { Configuration } from './configuration.ts';
import { foldRows, rebuildMonitors } from './fold-round.ts';
import { judgeAgain } from './inbox.ts';
import type { Inbox } from './inbox.ts';
import type { ShardMemory } from './memory.ts';
import type { OwnerOptions } from './owner-options.ts';
import type { Partitions } from './partitions.ts';
import type { FoldedRound, RoundCommits } from './round-commits.ts';
import { intake } from './round.ts';
import type { TakeoverHold } from './takeover-hold.ts';
import type { Bell } from './waiting.ts';
import { isOnlyFence } from './write.ts';

/** What the rounds of a shard are made from. */
export type RoundParts = {
  readonly options: OwnerOptions;
  /** Monotonic time at which the shard was taken over. */
  readonly startedMs: number;
  readonly nowUs: () => number;
  readonly memory: ShardMemory;
  readonly configuration: Configuration;
  readonly partitions: Partitions;
  readonly inbox: Inbox;
  readonly central: CentralPart | undefined;
  readonly hold: TakeoverHold;
  readonly commits: RoundCommits;
  /** Whether the configuration is to be looked at although it is not time; asking takes the wish away. */
  readonly takeHint: () => boolean;
};

const sha256 = (data: Uint8Array): Buffer => createHash('sha256').update(data).digest();

/** The rounds of an owner, one after another: messages are judged, folded and handed to the commits. */
export class OwnerRounds {
  readonly #parts: RoundParts;
  readonly #backlogs = new Backlogs();
  #polledMs: number;
  #probesReadMs: number;
  #lookedMs = 0;

  constructor(parts: RoundParts) {
    this.#parts = parts;
    this.#polledMs = parts.startedMs;
    this.#probesReadMs = parts.startedMs;
  }

  /** Works until it is stopped. @throws when a round or its transaction fails */
  async work(bell: Bell, stopping: AbortSignal): Promise<void> {
    const { inbox, memory, commits, central } = this.#parts;
    let isChanged = true;
    while (!stopping.aborted) {
      commits.requireGood();
      const isMore = inbox.judge(memory);
      if (await this.#poll()) isChanged = true;
      if (isChanged || this.#isRoundDue()) {
        isChanged = false;
        this.#lookedMs = performance.now();
        await this.#runRound();
        central?.begin(this.#isHolding());
      } else if (isMore) {
        await nextTurn();
      } else {
        await bell.wait(this.#waitMs());
      }
    }
  }

  /** True when the configuration of a monitor changed. */
  async #poll(): Promise<boolean> {
    const { configuration, options, takeHint } = this.#parts;
    const now = performance.now();
    const isHinted = takeHint();
    const areChangesTold = options.areChangesTold?.() === true;
    if ((isHinted && areChangesTold) || now >= this.#nextProbesMs()) {
      this.#probesReadMs = now;
      await configuration.refreshProbes();
    }
    if (!isHinted && now < this.#nextPollMs()) return false;
    this.#polledMs = now;
    return configuration.refresh();
  }

  async #runRound(): Promise<void> {
    const { inbox, memory, central, partitions, options, nowUs } = this.#parts;
    const taken = intake(await this.#judged(), memory.cursors, sha256);
    taken.rows.push(...(central?.rows(memory) ?? []));
    await foldRows(memory, taken.rows);
    const settled = () => this.#parts.commits.settled();
    await rebuildMonitors(memory, { reader: options.reader, shard: options.ownership.shard, settled });
    const isHeld = this.#isHolding();
    const toldUs = Math.max(nowUs(), inbox.lastReceivedUs(), memory.toldUntilUs);
    this.#backlogs.note(taken.arrivals);
    const behind = this.#backlogs.at(nowUs());
    const { rechecks, standings, ...changes } = memory.fold.take(toldUs, isHeld, (voter) => behind.has(voter));
    central?.follow({ rechecks, standings }, memory);
    if (!isHeld) memory.toldUntilUs = toldUs;
    await partitions.prepareFor(taken.rows, toldUs);
    await settled();
    this.#finish({ intake: taken, changes, rechecks, foldedUntilUs: isHeld ? undefined : toldUs });
  }

  /** What came since the last round. What was unknown is read from the database first. */
  #judged(): ReturnType<typeof judgeAgain> {
    const { inbox, memory, configuration, options } = this.#parts;
    return judgeAgain(inbox.take(), {
      shard: options.ownership.shard,
      knowledge: memory,
      learn: async (monitorIds) => {
        await configuration.refreshProbes();
        if (monitorIds.length > 0) await configuration.learn(monitorIds);
      },
    });
  }

  /** Commits a round, or answers its messages where nothing is to be written and the shard's mark has moved a short time ago. */
  #finish(round: FoldedRound): void {
    const { commits, memory, options } = this.#parts;
    const isIdle = isOnlyFence(round) && performance.now() - commits.lastMs < options.limits.idleMs;
    if (isIdle) commits.answer(round);
    else commits.begin(round, memory);
  }

  /** True while what waited in the stream at the takeover is not all read: until then no vote ends for want of a result. */
  #isHolding(): boolean {
    const { hold, inbox } = this.#parts;
    hold.look(inbox.takenCount(), performance.now());
    return !hold.isOver;
  }

  #isRoundDue(): boolean {
    const { inbox, commits, central, hold, memory, options, nowUs } = this.#parts;
    const { limits } = options;
    const now = performance.now();
    if (inbox.isDue(now) || now - commits.lastMs >= limits.idleMs) return true;
    if (central !== undefined && central.dueMs() <= now) return true;
    // Results that wait make a round soon enough, and a fuller one.
    if (!hold.isOver || inbox.dueMs() < Number.POSITIVE_INFINITY) return false;
    return now - this.#lookedMs >= limits.expiryMs && memory.fold.nextDueUs() <= nowUs();
  }

  #nextPollMs(): number {
    const { areChangesTold, limits } = this.#parts.options;
    return this.#polledMs + (areChangesTold?.() === true ? limits.slowPollMs : limits.pollMs);
  }

  #nextProbesMs(): number {
    const { areChangesTold, limits } = this.#parts.options;
    return this.#probesReadMs + (areChangesTold?.() === true ? limits.slowPollMs : limits.probesMs);
  }

  #waitMs(): number {
    const { inbox, commits, central, hold, memory, options, nowUs } = this.#parts;
    const { limits } = options;
    const now = performance.now();
    const gatheredMs = inbox.dueMs();
    const times = [commits.lastMs + limits.idleMs, this.#nextPollMs(), this.#nextProbesMs(), gatheredMs];
    if (central !== undefined) times.push(central.dueMs());
    if (hold.isOver && gatheredMs === Number.POSITIVE_INFINITY) {
      times.push(Math.max(now + (memory.fold.nextDueUs() - nowUs()) / 1_000, this.#lookedMs + limits.expiryMs));
    }
    return Math.max(0, Math.min(...times) - now);
  }
}
