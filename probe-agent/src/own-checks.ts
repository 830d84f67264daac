import type { CheckOutcome } from '@parallax/checks';
import type { CheckAnswer, ResultRecord, RunCheck } from '@parallax/wire';
import { AssignmentCache } from './assignments/cache.ts';
import { AssignmentStore } from './assignments/store.ts';
import type { AppliedChange } from './assignments/store.ts';
import type { DiagnosisDesk } from './diagnosis/desk.ts';
import { momentNow } from './machine/moments.ts';
import type { AgentObserver } from './metrics.ts';
import type { OwnUplink } from './own-uplink.ts';
import { messageOf, monotonicUs } from './ports.ts';
import type { Logger } from './ports.ts';
import type { ResultLog } from './results/log.ts';
import type { ServerClock } from './runner/clock.ts';
import { Runner } from './runner/runner.ts';
import type { CheckRunner } from './runner/runner.ts';
import type { Identity } from './state/identity.ts';
import { WorkerPool } from './workers/pool.ts';
import type { WantedWorkers } from './workers/wanted.ts';

export type AgentListeners = readonly { readonly address: string; readonly port: number }[];

export type OwnChecksOptions = {
  readonly stateDir: string;
  readonly identity: Identity;
  readonly bootId: string;
  readonly maxInFlight: number;
  readonly check: CheckRunner;
  /** Threads that run the scheduled checks; absent: this one does, with `check`. */
  readonly workers?: WantedWorkers | undefined;
  /** The product's own listeners, which no check may reach. */
  readonly denyListeners: (listeners: AgentListeners) => void;
  readonly observer?: AgentObserver;
  /** Looks at targets step by step when voters differ; absent: such requests are answered by a check. */
  readonly diagnosis?: DiagnosisDesk;
  readonly logger: Logger;
};

/** The parts of the agent that its checks work with. */
export type ChecksSurroundings = {
  readonly clock: ServerClock;
  readonly log: ResultLog;
  readonly uplink: Pick<OwnUplink, 'examine'>;
  /** True while the session with the control plane stands. */
  readonly isConnected: () => boolean;
  readonly random: () => number;
};

/** What this probe checks: its assignments, what is kept of them for a start without the control plane, and what runs them. */
export class OwnChecks {
  readonly assignments: AssignmentStore;
  readonly #options: OwnChecksOptions;
  readonly #isConnected: () => boolean;
  readonly #cache: AssignmentCache;
  readonly #runner: Runner | WorkerPool;
  #deniedListeners: AgentListeners = [];
  /** Checks under way whose answer the control plane awaits. */
  #asked = 0;

  constructor(options: OwnChecksOptions, surroundings: ChecksSurroundings) {
    this.#options = options;
    this.#isConnected = surroundings.isConnected;
    this.assignments = new AssignmentStore((change) => this.#apply(change));
    this.#cache = this.#makeCache(surroundings.clock);
    this.#runner = this.#makeRunner(surroundings);
  }

  /** Checks under way, scheduled and asked for. */
  get inFlight(): number {
    return this.#runner.inFlight;
  }

  get isAnswerAwaited(): boolean {
    return this.#asked > 0;
  }

  /** Begins with what an earlier run has kept, when it may still be checked. */
  async restore(): Promise<void> {
    const kept = await this.#cache.read();
    if (kept === undefined) return;
    this.denyListeners(kept.deniedListeners);
    this.assignments.restore(kept.revision, kept.assignments, kept.privateTargetsBasis);
    this.#options.logger.info(
      { assignments: this.assignments.size, revision: kept.revision.toString() },
      'kept assignments are checked until the control plane says what has changed',
    );
  }

  /** The control plane knows this probe: its assignments may be kept. */
  welcome(listeners: AgentListeners): void {
    this.#cache.allow();
    this.denyListeners(listeners);
  }

  denyListeners(listeners: AgentListeners): void {
    this.#deniedListeners = listeners.map(({ address, port }) => ({ address, port }));
    this.#options.denyListeners(this.#deniedListeners);
    this.#options.diagnosis?.denyListeners(this.#deniedListeners);
    if (this.#runner instanceof WorkerPool) this.#runner.denyListeners(this.#deniedListeners);
  }

  /** Answers what the control plane asks beside the schedule. */
  async answer(request: RunCheck, kind: 'manual' | 'recheck'): Promise<CheckAnswer> {
    this.#asked += 1;
    const { diagnosis } = this.#options;
    const asked =
      request.diagnose && diagnosis !== undefined
        ? diagnosis.answer(request, request.assignment ?? this.assignments.get(request.monitorId))
        : this.#runner.runCheck(request, kind);
    return asked.finally(() => {
      this.#asked -= 1;
    });
  }

  /** The control plane was just heard, so what is assigned is known to hold. */
  confirm(): void {
    this.#cache.confirm();
  }

  contactLost(): void {
    this.#cache.changed();
  }

  /** The line of the server's clock has changed. */
  followClock(): void {
    if (this.#runner instanceof WorkerPool) this.#runner.followClock();
  }

  tellSkipped(): void {
    this.#runner.tellSkipped();
  }

  /** The probe is no longer one: nothing is checked and nothing is kept. */
  forget(): void {
    this.assignments.clear();
    void this.#cache.remove().catch((error: unknown) => {
      this.#options.logger.error({ error: messageOf(error) }, 'the kept assignments could not be removed');
    });
  }

  /** Ends the checks. */
  stop(): Promise<void> {
    return this.#runner.stop();
  }

  /** Writes at once what is still to be kept of the assignments. */
  flush(): Promise<void> {
    return this.#cache.flush();
  }

  #apply(change: AppliedChange): void {
    this.#runner.apply(change);
    if (this.#isConnected()) this.#cache.confirm();
    this.#cache.changed();
  }

  #makeCache(clock: ServerClock): AssignmentCache {
    const { stateDir, identity, bootId, logger } = this.#options;
    const { assignments } = this;
    return new AssignmentCache({
      stateDir,
      owner: { probeId: identity.probeId, secret: identity.signingSeed },
      now: () => momentNow(bootId, clock.nowMs()),
      present: () =>
        assignments.revision === 0n
          ? undefined
          : {
              revision: assignments.revision,
              assignments: assignments.all,
              privateTargetsBasis: assignments.privateTargetsBasis,
              deniedListeners: this.#deniedListeners,
            },
      logger,
    });
  }

  #makeRunner({ clock, log, uplink, random }: ChecksSurroundings): Runner | WorkerPool {
    const { identity, maxInFlight, observer, workers, check, logger } = this.#options;
    const runs = {
      probeId: identity.probeId,
      maxInFlight,
      clock,
      examine: (outcome: CheckOutcome) => uplink.examine(outcome),
      record: (shard: number, atUs: number, result: ResultRecord, urgent: boolean) => {
        log.append(shard, atUs, result, urgent);
        observer?.recorded(result.outcome, result.kind);
      },
      ...(observer && { onBegin: observer.began, onSkip: observer.skipped }),
      logger,
    };
    return workers === undefined
      ? new Runner(this.assignments, { ...runs, monotonicUs, check })
      : new WorkerPool({ ...runs, ...workers, assignments: this.assignments, random });
  }
}
