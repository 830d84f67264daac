import { availableParallelism } from 'node:os';
import type { CheckOutcome, Listener } from '@parallax/checks';
import type { Assignment, CheckAnswer, ResultRecord, RunCheck } from '@parallax/wire';
import type { AppliedChange } from '../assignments/store.ts';
import type { Logger } from '../ports.ts';
import type { CheckerOptions } from '../runner/checker.ts';
import type { ServerClock } from '../runner/clock.ts';
import { planChange } from '../runner/plan.ts';
import type { PlannedChange } from '../runner/plan.ts';
import { refusal } from '../runner/runner.ts';
import type { SkipReason } from '../runner/skipped.ts';
import { CheckWorker } from './check-worker.ts';
import type { ThreadStarter } from './check-worker.ts';
import { unpackResults } from './packed-results.ts';
import { placesOf, Shares, workerOf } from './share.ts';

export type WorkerPoolOptions = {
  readonly count: number;
  readonly startThread: ThreadStarter;
  readonly checker: CheckerOptions;
  readonly probeId: number;
  readonly maxInFlight: number;
  /** Stamps the results of all workers. */
  readonly clock: ServerClock;
  /** Everything that is assigned, for a worker that begins anew. */
  readonly assignments: {
    readonly get: (monitorId: number) => Assignment | undefined;
    readonly all: readonly Assignment[];
  };
  /** As for a runner. */
  readonly record: (shard: number, monotonicUs: number, result: ResultRecord, urgent: boolean) => void;
  readonly examine: (outcome: CheckOutcome) => Promise<CheckOutcome>;
  readonly onBegin?: ((lateMs: number) => void) | undefined;
  readonly onSkip?: ((why: SkipReason) => void) | undefined;
  readonly random: () => number;
  readonly logger: Logger;
};

/** How many threads run checks. @param wanted 'auto' for one on each core that this process may use; each has to have a place for a check */
export function workerCount(wanted: number | 'auto', maxInFlight: number): number {
  return Math.min(wanted === 'auto' ? availableParallelism() : wanted, maxInFlight);
}

/**
 * Runs the checks in several threads, each with the targets whose hosts fall to it. To everybody else it is what a Runner is: the clock, the
 * log and the session stay with the main thread. A thread that ends by itself is started anew, with its share; what it was about is lost, and its
 * monitors go on at their next regular slots.
 */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #shares: Shares;
  readonly #workers: readonly CheckWorker[];
  #deniedListeners: readonly Listener[] = [];

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#shares = new Shares(options.count);
    const places = placesOf(options.maxInFlight, options.count);
    this.#workers = places.map((maxInFlight, index) => this.#worker(index, maxInFlight));
    for (const worker of this.#workers) worker.start();
  }

  get inFlight(): number {
    return this.#workers.reduce((sum, worker) => sum + worker.inFlight, 0);
  }

  /** The assignments have changed. */
  apply(change: AppliedChange): void {
    for (const [index, part] of this.#shares.divide(planChange(change))) this.#workers[index]?.assign(part);
  }

  /** Server time is known anew. */
  followClock(): void {
    const { line } = this.#options.clock;
    for (const worker of this.#workers) worker.send({ type: 'clock', line });
  }

  /** The product's own listeners, which no check may reach. */
  denyListeners(listeners: readonly Listener[]): void {
    this.#deniedListeners = listeners;
    for (const worker of this.#workers) worker.send({ type: 'deny', listeners });
  }

  /** As a runner does it; the worker that has the target's host answers. */
  async runCheck(request: RunCheck, kind: 'manual' | 'recheck'): Promise<CheckAnswer> {
    const { count, clock } = this.#options;
    const index =
      request.assignment === undefined ? this.#shares.of(request.monitorId) : workerOf(request.assignment.url, count);
    const worker = this.#workers[index ?? -1];
    if (worker === undefined) return refusal(request.requestId, 'the monitor is not assigned to this probe');
    const answer = await worker.run(request, kind);
    if (answer.effectiveUs === 0n) return answer;
    return { ...answer, effectiveUs: BigInt(clock.effectiveUs(Number(answer.effectiveUs))) };
  }

  /** Each worker tells by itself. */
  tellSkipped(): void {}

  /** Ends all checks; resolves when no thread is left. */
  async stop(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop()));
  }

  #worker(index: number, maxInFlight: number): CheckWorker {
    const options = this.#options;
    return new CheckWorker({
      name: `checks ${index + 1}`,
      startThread: options.startThread,
      begin: () => ({
        purpose: 'parallax-checks',
        probeId: options.probeId,
        maxInFlight,
        checker: options.checker,
        line: options.clock.line,
        deniedListeners: this.#deniedListeners,
        isObserved: options.onBegin !== undefined,
      }),
      share: () => this.#shareOf(index),
      examine: options.examine,
      report: ({ results, lateMs, skipped }) => {
        this.#record(results);
        for (const each of lateMs) options.onBegin?.(each);
        for (const why of ['overrun', 'overload'] as const)
          for (let left = skipped[why]; left > 0; left -= 1) options.onSkip?.(why);
      },
      random: options.random,
      logger: options.logger,
    });
  }

  /** Stamps and records what a worker has handed over. A sleep of the machine is found before anything is stamped. */
  #record(packed: Uint8Array): void {
    if (packed.length === 0) return;
    const { clock, record } = this.#options;
    clock.checkForJump();
    for (const { shard, monotonicUs, result, urgent } of unpackResults(packed))
      record(shard, monotonicUs, { ...result, effectiveUs: clock.effectiveUs(monotonicUs) }, urgent);
  }

  /** Everything that a worker checks, to go on with. */
  #shareOf(index: number): PlannedChange {
    const assignments = this.#options.assignments.all.filter(({ monitorId }) => this.#shares.of(monitorId) === index);
    return {
      set: assignments.map((assignment) => ({ assignment, first: 'on_phase' })),
      removed: [],
      isPresumedGood: true,
    };
  }
}
