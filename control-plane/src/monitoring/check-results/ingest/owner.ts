import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from '@parallax/telemetry';
import type pg from 'pg';
import type { Bus } from '../../../platform/bus/bus.ts';
import type { RecheckWish } from '../../consensus/index.ts';
import type { CentralRunner } from '../../central-checks/index.ts';
import { createAnswerer } from './answer.ts';
import { Backlogs } from './backlogs.ts';
import { openCentralPart } from './central.ts';
import type { CentralPart } from './central.ts';
import { createConfiguration, readShard } from './configuration.ts';
import type { Configuration } from './configuration.ts';
import { createCopyEncoder } from './copy-buffer.ts';
import { startFetcher } from './fetch.ts';
import { createInbox, judgeAgain } from './inbox.ts';
import type { LiveNews } from './live.ts';
import { rebuildWindows, restoreAll } from './memory.ts';
import type { ShardMemory } from './memory.ts';
import { tellStatuses } from './news.ts';
import { createPartitions } from './partitions.ts';
import { readWindows } from './windows/queries.ts';
import type { Reader } from './windows/queries.ts';
import { intake } from './round.ts';
import type { IngestRow } from './rows.ts';
import type { Changes, Intake } from './round.ts';
import { createBell, withDeadline } from './waiting.ts';
import { isOnlyFence, writeRound } from './write.ts';
import type { Ownership } from './write.ts';

/** How much and how long; injected so that tests need not wait. */
export type OwnerLimits = {
  /** Rows of one transaction. */
  readonly rows: number;
  /** How long the first message of a round waits for others. */
  readonly lingerMs: number;
  /** The shard's mark moves at least so often. */
  readonly idleMs: number;
  /** How often changed configuration is looked for. */
  readonly pollMs: number;
  readonly probesMs: number;
  /** How long time stands still after a takeover while a backlog is read. */
  readonly holdMs: number;
  /** Votes that end are looked at this often at most. */
  readonly expiryMs: number;
  /** A transaction that takes longer has an unknown fate. */
  readonly commitMs: number;
  /** No fallback begins so soon after a takeover. */
  readonly fallbackGraceMs: number;
};

export const ownerLimits: OwnerLimits = {
  rows: 5_000,
  lingerMs: 250,
  idleMs: 1_000,
  pollMs: 250,
  probesMs: 1_000,
  holdMs: 120_000,
  expiryMs: 50,
  commitMs: 60_000,
  fallbackGraceMs: 60_000,
};

export type CommittedRound = { readonly rows: number; readonly messages: number };

export type OwnerOptions = {
  readonly ownership: Ownership;
  /** The owner's own connection: holds the lock, writes. */
  readonly client: pg.ClientBase;
  /** Reads beside a transaction that runs. */
  readonly reader: Reader;
  readonly connection: NatsConnection;
  readonly bus: Bus;
  readonly log: Logger;
  /** The database's clock, milliseconds. */
  readonly now: () => number;
  /** Shards of the installation, for the subjects of the stream. */
  readonly shards: number;
  /** Up to when the owner before has told; undefined when nobody ever has. */
  readonly foldedUntilUs: number | undefined;
  readonly limits: OwnerLimits;
  /** Runs the control plane's own checks; absent: there are none. */
  readonly central?: CentralRunner | undefined;
  /** Hears of what is committed, for those who watch. */
  readonly live?: Pick<LiveNews, 'tell'> | undefined;
  readonly onCommitted?: ((round: CommittedRound) => void) | undefined;
};

export type Owner = {
  /** Rejects when the shard is lost or anything went wrong: memory is void then. Resolves after `stop`. */
  readonly finished: Promise<void>;
  /** Ends after the round that runs. */
  readonly stop: () => void;
  /** Looks at the configuration at once. */
  readonly hint: () => void;
};

const sha256 = (data: Uint8Array): Buffer => createHash('sha256').update(data).digest();
/** Some milliseconds: the transaction that runs beside it is fed by this process too, a few hundred kilobytes at a time. */
const foldedAtOnce = 500;
/** A reading that asks for another reading this often is a defect. */
const mostRebuilds = 8;

/**
 * Owns a shard: reads it from the database, then fetches, folds and commits until it is stopped or fails. One transaction is under way
 * while the next round is fetched, judged and folded; both are dropped when it fails.
 *
 * Time moves on, and votes end, whether or not results arrive: what nobody has reported is UNKNOWN, which alarms nobody, and an open range
 * ends where the shard was folded. Only after a takeover time stands still until what waits in the stream is read, at most `holdMs`: a
 * restart that loses nothing shows no gap.
 */
export function startOwner(options: OwnerOptions): Owner {
  const { log, limits, reader } = options;
  const { shard, term } = options.ownership;
  const startedMs = performance.now();
  const nowUs = (): number => Math.round(options.now() * 1_000);
  const encode = createCopyEncoder();
  const answerer = createAnswerer({ shard, bus: options.bus, log });
  const partitions = createPartitions(reader);
  const inbox = createInbox({ shard, rows: limits.rows, lingerMs: limits.lingerMs, nowUs });
  const bell = createBell();
  const backlogs = new Backlogs();

  const central: CentralPart | undefined =
    options.central &&
    openCentralPart({
      runner: options.central,
      lingerMs: limits.lingerMs,
      graceMs: limits.fallbackGraceMs,
      nowUs,
      onNews: bell.ring,
    });

  const stopping = new AbortController();
  let isHinted = false;
  /** Messages that waited at the takeover. */
  let backlog: number | undefined;
  let isDrained = false;
  let inFlight: Promise<void> = Promise.resolve();
  let failure: { readonly error: unknown } | undefined;
  let committedMs = startedMs;
  let polledMs = startedMs;
  let probesReadMs = startedMs;
  let lookedMs = 0;

  async function run(): Promise<void> {
    try {
      await own();
    } finally {
      central?.close();
    }
  }

  async function own(): Promise<void> {
    const memory = await readShard({ shard, reader }, options.foldedUntilUs ?? nowUs());
    await partitions.prepare(nowUs());
    log.info(
      { term, monitors: memory.monitors.size, ms: Math.round(performance.now() - startedMs) },
      'shard taken over',
    );
    const configuration = createConfiguration(memory, { ...options, shard, settled: () => inFlight });
    const fetcher = startFetcher({
      connection: options.connection,
      shard,
      log,
      beforeOpening: configuration.ensureStream,
      onMessage: (message) => {
        inbox.add(message);
        bell.ring();
      },
      onOpened: (waiting) => {
        backlog ??= waiting;
        bell.ring();
      },
    });
    try {
      await work(memory, configuration);
      await inFlight;
    } finally {
      await fetcher.stop();
      await inFlight.catch(() => undefined);
    }
  }

  async function work(memory: ShardMemory, configuration: Configuration): Promise<void> {
    let isChanged = true;
    while (!stopping.signal.aborted) {
      if (failure !== undefined) throw failure.error;
      const isMore = inbox.judge(memory);
      if (await poll(configuration)) isChanged = true;
      if (isChanged || isRoundDue(memory)) {
        isChanged = false;
        lookedMs = performance.now();
        await runRound(memory, configuration);
        central?.begin(isHolding());
      } else if (isMore) {
        await nextTurn();
      } else {
        await bell.wait(waitMs(memory));
      }
    }
  }

  /** True when the configuration of a monitor changed. */
  async function poll(configuration: Configuration): Promise<boolean> {
    const now = performance.now();
    if (now - probesReadMs >= limits.probesMs) {
      probesReadMs = now;
      await configuration.refreshProbes();
    }
    if (!isHinted && now - polledMs < limits.pollMs) return false;
    isHinted = false;
    polledMs = now;
    return configuration.refresh();
  }

  async function runRound(memory: ShardMemory, configuration: Configuration): Promise<void> {
    const judged = await judgeAgain(inbox.take(), {
      shard,
      knowledge: memory,
      learn: async (monitorIds) => {
        await configuration.refreshProbes();
        if (monitorIds.length > 0) await configuration.learn(monitorIds);
      },
    });
    const taken = intake(judged, memory.cursors, sha256);
    taken.rows.push(...(central?.rows(memory) ?? []));
    await fold(memory, taken.rows);
    await rebuild(memory);
    const isHeld = isHolding();
    const toldUs = Math.max(nowUs(), inbox.lastReceivedUs(), memory.toldUntilUs);
    backlogs.note(taken.arrivals);
    const behind = backlogs.at(nowUs());
    const { rechecks, standings, ...changes } = memory.fold.take(toldUs, isHeld, (voter) => behind.has(voter));
    central?.follow({ rechecks, standings }, memory);
    if (!isHeld) memory.toldUntilUs = toldUs;
    await partitions.prepareFor(taken.rows, toldUs);
    await inFlight;
    const isIdle = isOnlyFence({ intake: taken, changes }) && performance.now() - committedMs < limits.idleMs;
    if (isIdle) answerer.answer({ intake: taken, changes, rechecks });
    else commit(taken, changes, rechecks, isHeld ? undefined : toldUs, memory);
  }

  async function fold(memory: ShardMemory, rows: readonly IngestRow[]): Promise<void> {
    for (let at = 0; at < rows.length; at += foldedAtOnce) {
      if (at > 0) await nextTurn();
      memory.fold.apply(rows.slice(at, at + foldedAtOnce));
    }
  }

  /** Reads what the fold cannot go on without. */
  async function rebuild(memory: ShardMemory): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      const wishes = memory.fold.rebuilds();
      if (wishes.length === 0) return;
      if (attempt === mostRebuilds)
        throw new Error(`shard ${shard}: monitor ${wishes[0]?.monitorId} cannot be rebuilt`);
      await inFlight;
      const wanted = rebuildWindows(memory, wishes);
      restoreAll(memory, wanted, await readWindows(reader, wanted));
    }
  }

  function commit(
    taken: Intake,
    changes: Changes,
    rechecks: readonly RecheckWish[],
    foldedUntilUs: number | undefined,
    memory: ShardMemory,
  ): void {
    committedMs = performance.now();
    const written = writeRound(options.client, options.ownership, { intake: taken, changes, foldedUntilUs }, encode);
    inFlight = settle(written, taken, changes, rechecks, memory);
    inFlight.catch((error: unknown) => {
      failure ??= { error };
      bell.ring();
    });
  }

  async function settle(
    written: Promise<void>,
    taken: Intake,
    changes: Changes,
    rechecks: readonly RecheckWish[],
    memory: ShardMemory,
  ): Promise<void> {
    await withDeadline(written, limits.commitMs, `shard ${shard}: a transaction took too long`);
    answerer.answer({ intake: taken, changes, rechecks });
    options.live?.tell(taken.rows, memory.monitors);
    tellStatuses(options.bus, changes.statuses);
    options.onCommitted?.({ rows: taken.rows.length, messages: taken.settled.length });
  }

  /** True while what waited in the stream at the takeover is not all read: until then no vote ends for want of a result. */
  function isHolding(): boolean {
    if (isDrained) return false;
    const isRead = backlog !== undefined && inbox.takenCount() >= backlog;
    isDrained = isRead || performance.now() - startedMs > limits.holdMs;
    return !isDrained;
  }

  function isRoundDue(memory: ShardMemory): boolean {
    const now = performance.now();
    if (inbox.isDue(now) || now - committedMs >= limits.idleMs || isCentralDue(now)) return true;
    // Results that wait make a round soon enough, and a fuller one.
    if (!isDrained || inbox.dueMs() < Number.POSITIVE_INFINITY) return false;
    return now - lookedMs >= limits.expiryMs && memory.fold.nextDueUs() <= nowUs();
  }

  function isCentralDue(now: number): boolean {
    return (central?.dueMs() ?? Number.POSITIVE_INFINITY) <= now;
  }

  function waitMs(memory: ShardMemory): number {
    const now = performance.now();
    const gatheredMs = inbox.dueMs();
    const times = [committedMs + limits.idleMs, polledMs + limits.pollMs, probesReadMs + limits.probesMs, gatheredMs];
    if (central !== undefined) times.push(central.dueMs());
    if (isDrained && gatheredMs === Number.POSITIVE_INFINITY) {
      times.push(Math.max(now + (memory.fold.nextDueUs() - nowUs()) / 1_000, lookedMs + limits.expiryMs));
    }
    return Math.max(0, Math.min(...times) - now);
  }

  return {
    finished: run(),
    stop: () => {
      stopping.abort();
      bell.ring();
    },
    hint: () => {
      isHinted = true;
      bell.ring();
    },
  };
}
