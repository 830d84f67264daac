import type { NatsConnection } from '@nats-io/transport-node';
import { Novelty, verdictOf } from '@parallax/checks';
import type { Verdict } from '@parallax/checks';
import type { Logger } from '@parallax/telemetry';
import type { Context } from '../../context.ts';
import { createGroupFinder, onsetOf } from '../groups/check/index.ts';
import type { FormerLook, GroupLook } from '../groups/check/index.ts';
import { createCentralCheck } from './gateway.ts';
import type { CentralCheck } from './gateway.ts';
import type { DeskFacts, DeskOrder } from './desk.ts';
import { readSessions, readTargets } from './queries.ts';
import type { CentralTarget, ProbeSession } from './queries.ts';
import { mayStillReport } from './reporting.ts';
import { toCentralResult } from './result.ts';
import type { CentralResult } from './result.ts';
import { CentralSchedule } from './schedule.ts';
import type { CentralKind, CentralSlot, ScheduleLimits } from './schedule.ts';

/** What the owner of one shard has of the runner. */
export type CentralLease = {
  readonly order: (orders: readonly DeskOrder[]) => void;
  /** Looks at these at once, where the control plane checks them (rule 7). */
  readonly ask: (monitorIds: readonly number[]) => void;
  /** Results since the last time. A round that fails loses them; they are checked again. */
  readonly take: () => readonly CentralResult[];
  /** What must be known before a fallback begins; undefined while it is being read, `onNews` says when to ask again. */
  readonly facts: () => Pick<DeskFacts, 'mayStart' | 'mayStillReport'> | undefined;
  /** Ends all checks of the shard; what runs is aborted and forgotten. */
  readonly close: () => void;
};

/** Runs the checks of the control plane for all shards that this process owns. */
export type CentralRunner = {
  /** The status of these monitors is another: looks now at the group monitors that contain them, of those that it checks. */
  readonly changed: (monitorIds: readonly number[]) => void;
  /** @param onNews called when results or facts are there; `isUrgent`: what came is new and is to be stored at once */
  readonly open: (onNews: (isUrgent: boolean) => void) => CentralLease;
  readonly stop: () => Promise<void>;
};

export type CentralRunnerOptions = {
  readonly context: Pick<Context, 'sealer' | 'now'> & {
    readonly database: { readonly raw: Parameters<typeof readTargets>[0] };
    readonly bus: { readonly connection: NatsConnection };
  };
  readonly check: CentralCheck;
  readonly log: Logger;
  /** Of one shard; `centralLimits` when absent. */
  readonly limits?: ScheduleLimits;
  /** How long the broker must have stood before a fallback begins. */
  readonly brokerSettlesMs?: number;
};

/** Of one process. */
export const centralLimits: ScheduleLimits = {
  inFlight: 500,
  perSecond: 600,
  fallbackInFlight: 150,
  fallbackPerSecond: 100,
};

/** Targets that are read in one query. */
const readAtOnce = 500;
/** What is known of the sessions is good for so long. */
const sessionsGoodMs = 2_000;
const readAgainMs = 1_000;
/** Agents dial the broker again within some seconds of its return. */
const brokerSettlesMs = 15_000;

export function createCentralRunner(options: CentralRunnerOptions): CentralRunner {
  const { context, log } = options;
  const reader = context.database.raw;
  const leases = new Set<Lease>();
  const broker = watchBroker(context.bus.connection);
  let sessions: ReadonlyMap<number, ProbeSession> = new Map();
  let sessionsReadMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  const finder = createGroupFinder(context, log, (monitorIds) => {
    for (const lease of leases) lease.look(monitorIds);
  });

  function readSessionsOnce(onNews: () => void): void {
    reading ??= readAllSessions().finally(() => {
      reading = undefined;
    });
    void reading.then(onNews);
  }

  async function readAllSessions(): Promise<void> {
    try {
      const found = await readSessions(reader);
      sessions = new Map(found.map((session) => [session.probeId, session]));
      sessionsReadMs = performance.now();
    } catch (error) {
      log.info({ err: error }, 'the sessions of the probes could not be read');
    }
  }

  return {
    open: (onNews) => {
      const lease = new Lease(options, onNews);
      leases.add(lease);
      return {
        order: (orders) => lease.order(orders),
        ask: (monitorIds) => lease.ask(monitorIds),
        take: () => lease.take(),
        facts: () => {
          if (performance.now() - sessionsReadMs > sessionsGoodMs) {
            readSessionsOnce(() => onNews(false));
            return undefined;
          }
          const nowMs = context.now();
          return {
            mayStart: broker.stoodForMs() >= (options.brokerSettlesMs ?? brokerSettlesMs),
            mayStillReport: (probeId) => mayStillReport(sessions.get(probeId), nowMs),
          };
        },
        close: () => {
          leases.delete(lease);
          lease.close();
        },
      };
    },
    changed: finder.changed,
    stop: async () => {
      broker.stop();
      for (const lease of leases) lease.close();
      leases.clear();
      await reading;
    },
  };
}

/** The last look at a group monitor, of one configuration. */
type Former = FormerLook & { readonly version: string };

type Known = { readonly version: string; readonly target: CentralTarget };

/** The checks of one shard: its schedule and timer, what is checked, and results that wait to be taken. */
class Lease {
  readonly #options: CentralRunnerOptions;
  readonly #onNews: (isUrgent: boolean) => void;
  readonly #schedule: CentralSchedule;
  readonly #closing = new AbortController();
  readonly #targets = new Map<number, Known>();
  readonly #novelty = new Novelty();
  readonly #formerLooks = new Map<number, Former>();
  /** Whose check is under way, and whether somebody has asked for another one since it began. */
  readonly #underWay = new Map<number, 'enough' | 'again'>();
  /** Started, and what is checked is not known yet. */
  #unread: { readonly slot: CentralSlot; readonly kind: CentralKind }[] = [];
  #isReading = false;
  #results: CentralResult[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(options: CentralRunnerOptions, onNews: (isUrgent: boolean) => void) {
    this.#options = options;
    this.#onNews = onNews;
    this.#schedule = new CentralSchedule(options.limits ?? centralLimits, (slot, kind) => this.#begin(slot, kind));
  }

  order(orders: readonly DeskOrder[]): void {
    if (orders.length === 0) return;
    const nowMs = this.#options.context.now();
    for (const order of orders) {
      if (order.type === 'check') {
        this.#schedule.set(order.wish, order.first, nowMs);
      } else {
        this.#schedule.end(order.monitorId, order.isOnceMore, nowMs);
        if (!order.isOnceMore) this.#forget(order.monitorId);
      }
    }
    this.#tick();
  }

  ask(monitorIds: readonly number[]): void {
    const nowMs = this.#options.context.now();
    for (const monitorId of monitorIds) this.#schedule.ask(monitorId, nowMs);
    if (monitorIds.length > 0) this.#tick();
  }

  /** As `ask`, but what is under way may have read what was before: then it is done once more. */
  look(monitorIds: readonly number[]): void {
    for (const monitorId of monitorIds) if (this.#underWay.has(monitorId)) this.#underWay.set(monitorId, 'again');
    this.ask(monitorIds);
  }

  take(): readonly CentralResult[] {
    const results = this.#results;
    this.#results = [];
    return results;
  }

  close(): void {
    this.#closing.abort();
    clearTimeout(this.#timer);
  }

  #tick(): void {
    if (this.#closing.signal.aborted) return;
    const nowMs = this.#options.context.now();
    this.#schedule.run(nowMs);
    clearTimeout(this.#timer);
    const { nextMs } = this.#schedule;
    if (nextMs === Number.POSITIVE_INFINITY) return;
    // A timer may fire a little early; one that is asked for less than a millisecond ahead would spin.
    this.#timer = setTimeout(() => this.#tick(), Math.min(Math.max(1, Math.ceil(nextMs - nowMs)), 60_000));
  }

  #begin(slot: CentralSlot, kind: CentralKind): void {
    const known = this.#targets.get(slot.wish.monitorId);
    if (known?.version === slot.wish.version) {
      void this.#run(slot, kind, known.target);
      return;
    }
    this.#unread.push({ slot, kind });
    if (!this.#isReading) void this.#readUnread();
  }

  /** Reads what is checked of those that wait for it, many in one query, never one by one. */
  async #readUnread(): Promise<void> {
    this.#isReading = true;
    // What else is due in this turn comes along.
    await Promise.resolve();
    while (this.#unread.length > 0 && !this.#closing.signal.aborted) {
      const batch = this.#unread.splice(0, readAtOnce);
      const versions = batch.map(({ slot }) => slot.wish.version);
      try {
        const { context, log } = this.#options;
        const ids = batch.map(({ slot }) => slot.wish.monitorId);
        const targets = await readTargets(context.database.raw, context.sealer, ids, (monitorId, error) =>
          log.error({ monitor_id: monitorId, err: error }, 'the secrets of a monitor do not open; it is not checked'),
        );
        batch.forEach(({ slot, kind }, index) => {
          const { monitorId } = slot.wish;
          const target = targets.get(monitorId);
          if (target === undefined || slot.isRemoved) {
            this.#finish(slot, 'neutral');
            return;
          }
          this.#targets.set(monitorId, { version: versions[index] ?? '', target });
          void this.#run(slot, kind, target);
        });
      } catch (error) {
        this.#options.log.info({ err: error }, 'what is to be checked could not be read; trying again');
        this.#unread.unshift(...batch);
        await new Promise((resolve) => setTimeout(resolve, readAgainMs));
      }
    }
    this.#isReading = false;
  }

  async #run(slot: CentralSlot, kind: CentralKind, target: CentralTarget): Promise<void> {
    const { wish } = slot;
    let verdict: Verdict = 'neutral';
    this.#underWay.set(wish.monitorId, 'enough');
    try {
      const { outcome, startedMs, look } = await this.#options.check(target, { signal: this.#closing.signal });
      if (this.#closing.signal.aborted) return;
      verdict = verdictOf(outcome.outcome);
      if (slot.isRemoved) return;
      const made = { nowMs: performance.now(), probeRevision: target.probeRevision };
      const { isNew, isUrgent } = this.#novelty.take(wish.monitorId, outcome, made);
      const effectiveMs = look === undefined ? startedMs : this.#dated(wish, look, startedMs);
      const facts = { ...wish, probeRevision: target.probeRevision, kind, startedMs: effectiveMs, isNew };
      this.#results.push(toCentralResult(facts, outcome));
      this.#onNews(isUrgent);
    } catch (error) {
      this.#options.log.error({ monitor_id: wish.monitorId, err: error }, 'a check of the control plane failed inside');
    } finally {
      this.#finish(slot, verdict);
    }
  }

  #finish(slot: CentralSlot, verdict: Verdict): void {
    if (this.#closing.signal.aborted) return;
    const isLast = slot.isLast;
    const { monitorId } = slot.wish;
    const isWanted = this.#underWay.get(monitorId) === 'again';
    this.#underWay.delete(monitorId);
    this.#schedule.finished(slot, verdict, this.#options.context.now());
    if (isWanted) this.#schedule.ask(monitorId, this.#options.context.now());
    if (isLast) this.#forget(monitorId);
    this.#tick();
  }

  /** When what was seen of a group monitor began to be so. Only the same configuration has a past, so nothing is dated to before it. */
  #dated({ monitorId, version }: CentralSlot['wish'], look: GroupLook, nowMs: number): number {
    const known = this.#formerLooks.get(monitorId);
    const effectiveMs = onsetOf(known?.version === version ? known : undefined, look, nowMs);
    this.#formerLooks.set(monitorId, { ...look, effectiveMs, version });
    return effectiveMs;
  }

  #forget(monitorId: number): void {
    this.#targets.delete(monitorId);
    this.#formerLooks.delete(monitorId);
    this.#novelty.forget(monitorId);
  }
}

/** Knows since when the broker has stood without a break. */
function watchBroker(connection: NatsConnection): { readonly stoodForMs: () => number; readonly stop: () => void } {
  let stoodSinceMs: number | undefined = performance.now();
  const statuses = connection.status();
  void (async () => {
    for await (const status of statuses) {
      if (status.type === 'disconnect') stoodSinceMs = undefined;
      else if (status.type === 'reconnect') stoodSinceMs = performance.now();
    }
  })();
  return {
    stoodForMs: () =>
      stoodSinceMs === undefined || connection.isClosed() ? Number.NEGATIVE_INFINITY : performance.now() - stoodSinceMs,
    stop: () => (statuses as { readonly stop?: () => void }).stop?.(),
  };
}

/** The runner of a control-plane process. */
export function startCentralRunner(context: Context, log: Logger): CentralRunner {
  const ofShard = (limit: number): number => Math.ceil(limit / context.shards);
  return createCentralRunner({
    context,
    check: createCentralCheck({ ...context, log }),
    log,
    // One process may own every shard.
    limits: {
      inFlight: ofShard(centralLimits.inFlight),
      perSecond: ofShard(centralLimits.perSecond),
      fallbackInFlight: ofShard(centralLimits.fallbackInFlight),
      fallbackPerSecond: ofShard(centralLimits.fallbackPerSecond),
    },
  });
}
