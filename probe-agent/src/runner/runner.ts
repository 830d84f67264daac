import { nothingNew, Novelty, verdictOf } from '@parallax/checks';
import type { CheckOutcome, Verdict } from '@parallax/checks';
import type { Assignment, CheckAnswer, ResultRecord, RunCheck, TraceStep } from '@parallax/wire';
import type { AppliedChange } from '../assignments/store.ts';
import { messageOf } from '../ports.ts';
import type { Logger } from '../ports.ts';
import type { ServerClock } from './clock.ts';
import { intervalMsOf, planChange } from './plan.ts';
import type { PlannedChange } from './plan.ts';
import { toResult, toSkipped } from './result.ts';
import { Schedule } from './schedule.ts';
import { SkippedSlots } from './skipped.ts';
import type { SkipReason } from './skipped.ts';
import type { ScheduledMonitor, Slot } from './slot.ts';
import { targetHost } from './target-host.ts';

/** Runs one check of an assignment; never rejects for anything that a target does. */
export type CheckRunner = (
  assignment: Assignment,
  options: { readonly signal: AbortSignal; readonly trace?: (step: string, detail: string) => void },
) => Promise<CheckOutcome>;

/** What a runner asks of the clock; a thread that only runs checks follows the clock of another. */
export type RunnerClock = Pick<ServerClock, 'nowMs' | 'checkForJump' | 'effectiveUs'>;

/** Where a runner looks up what is assigned now. */
export type Assigned = { readonly get: (monitorId: number) => Assignment | undefined };

export type RunnerOptions = {
  readonly probeId: number;
  readonly maxInFlight: number;
  readonly perHost?: number;
  readonly clock: RunnerClock;
  readonly monotonicUs: () => number;
  readonly check: CheckRunner;
  /** Takes a result into the log. `urgent`: it should be published at once. */
  readonly record: (shard: number, monotonicUs: number, result: ResultRecord, urgent: boolean) => void;
  /** Judges a failing outcome once more before it counts, some seconds at most: the probe's own uplink may be what is broken. */
  readonly examine?: (outcome: CheckOutcome) => Promise<CheckOutcome>;
  /** Told how long after it was due a scheduled check begins, in milliseconds. */
  readonly onBegin?: (lateMs: number) => void;
  /** Told of each slot that is not run, recorded or not. */
  readonly onSkip?: (why: SkipReason) => void;
  readonly logger: Logger;
};

/** Runs the checks of the assignments on their schedule, and those that the control plane asks for. */
export class Runner {
  readonly #options: RunnerOptions;
  readonly #store: Assigned;
  readonly #schedule: Schedule;
  readonly #novelty = new Novelty();
  readonly #skipped = new SkippedSlots();
  readonly #abort = new AbortController();
  #running = 0;
  #onIdle: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerDueMs = Infinity;
  /** The last reading of the clocks: one serves all that happens at its moment. */
  #readMs = -Infinity;
  #readUs = 0;

  constructor(store: Assigned, options: RunnerOptions) {
    this.#store = store;
    this.#options = options;
    const { maxInFlight } = options;
    this.#schedule = new Schedule({
      probeId: options.probeId,
      limits: { maxInFlight, perHost: options.perHost ?? 2, maxRechecks: Math.max(1, Math.ceil(maxInFlight / 10)) },
      actions: {
        start: (slot, kind) => this.#begin(slot, kind),
        skip: (slot, dueMs, why) => this.#onSkipped(slot, dueMs, why),
      },
    });
  }

  get inFlight(): number {
    return this.#schedule.inFlight;
  }

  /** The assignments have changed. */
  apply(change: AppliedChange): void {
    this.take(planChange(change));
  }

  /** The assignments have changed, and when each is looked at first is decided. */
  take({ set, removed, isPresumedGood }: PlannedChange): void {
    const nowMs = this.#read();
    for (const monitorId of removed) {
      this.#schedule.remove(monitorId);
      this.#novelty.forget(monitorId);
      this.#skipped.forget(monitorId);
    }
    for (const { assignment, first } of set) {
      if (first === 'at_once') {
        this.#novelty.forget(assignment.monitorId);
        this.#skipped.forget(assignment.monitorId);
      } else if (isPresumedGood) this.#novelty.presumeGood(assignment.monitorId);
      this.#schedule.set(toScheduled(assignment), nowMs, first);
    }
    this.#tick(nowMs);
  }

  /** Runs what the control plane asks for; undefined for a recheck that goes into the schedule and whose result travels by the log. */
  async runCheck(request: RunCheck, kind: 'manual' | 'recheck'): Promise<CheckAnswer> {
    const assignment = request.assignment ?? this.#store.get(request.monitorId);
    const refuse = (refused: string): CheckAnswer => refusal(request.requestId, refused);
    if (assignment === undefined) return refuse('the monitor is not assigned to this probe');
    if (kind === 'recheck') {
      const nowMs = this.#read();
      this.#schedule.askRecheck(request.monitorId, nowMs);
      this.#tick(nowMs);
      return refusal(request.requestId, '');
    }
    if (isLate(request, this.#read())) return refuse('the request was too long on its way to the probe');
    const host = targetHost(assignment.url);
    if (!this.#schedule.enter(host)) return refuse('the probe is at its limit of checks at the same time');
    this.#read();
    const startUs = this.#readUs;
    const trace: TraceStep[] = [];
    const addTrace = (step: string, detail: string): void => {
      if (trace.length < 1_000) trace.push({ atUs: BigInt(this.#options.monotonicUs() - startUs), step, detail });
    };
    try {
      const deadline = AbortSignal.timeout(Math.min(Math.max(1, request.deadlineMs), 120_000));
      const signal = AbortSignal.any([this.#abort.signal, deadline]);
      const raw = await this.#options.check(assignment, request.trace ? { signal, trace: addTrace } : { signal });
      const outcome = await this.#examined(raw);
      if (this.#abort.signal.aborted) return refuse('the agent of this probe is stopping');
      // Nobody was told of a result that is late, so there is none.
      if (isLate(request, this.#read())) return refuse('the probe finished the check too late');
      const effectiveUs = this.#options.clock.effectiveUs(startUs, this.#readUs);
      if (request.assignment === undefined) {
        const evidence = verdictOf(outcome.outcome) === 'failing';
        this.#options.record(
          assignment.shard,
          startUs,
          toResult(assignment, 'manual', outcome, effectiveUs, evidence),
          true,
        );
      }
      return {
        requestId: request.requestId,
        effectiveUs: BigInt(effectiveUs),
        outcomeJson: Buffer.from(JSON.stringify(outcome)),
        trace,
        refused: '',
        diagnosisJson: Buffer.alloc(0),
        chainJson: Buffer.alloc(0),
      };
    } catch (error) {
      return refuse(`the check could not be run: ${messageOf(error)}`);
    } finally {
      const nowMs = this.#read();
      this.#schedule.leave(host, nowMs);
      this.#tick(nowMs);
    }
  }

  /** Ends all checks; resolves when none is left. Their results are not recorded. */
  async stop(): Promise<void> {
    this.#abort.abort();
    clearTimeout(this.#timer);
    if (this.#running === 0) return;
    const before = this.#onIdle;
    await new Promise<void>((resolve) => {
      this.#onIdle = () => {
        before?.();
        resolve();
      };
    });
  }

  /** Says how many slots were skipped for want of a place, a minute after it last did. To be called every now and then. */
  tellSkipped(): void {
    const counts = this.#skipped.toTell(this.#options.monotonicUs() / 1_000);
    if (counts === undefined) return;
    this.#options.logger.warn(
      { overload: counts.overload, overrun: counts.overrun, in_flight: this.inFlight },
      'checks were skipped: this probe has more to do than it can, or one host has too many checks at the same time',
    );
  }

  /**
   * Reads the clocks: gives server time for the schedule. When it does not go on as the monotonic clock does, every monitor moves to its
   * next regular slot. A sleep of the machine is found here, before anything is stamped.
   */
  #read(): number {
    const { clock } = this.#options;
    const monotonicUs = this.#options.monotonicUs();
    clock.checkForJump(monotonicUs);
    const nowMs = clock.nowMs(monotonicUs);
    const expectedMs = this.#readMs + (monotonicUs - this.#readUs) / 1_000;
    const jumped = this.#readMs > 0 && Math.abs(nowMs - expectedMs) > 1_000;
    this.#readMs = nowMs;
    this.#readUs = monotonicUs;
    if (jumped) {
      this.#options.logger.warn(
        { by_ms: Math.round(nowMs - expectedMs) },
        'the time has jumped: checks go on at their next regular slots',
      );
      this.#schedule.rephase(nowMs, nowMs - expectedMs);
    }
    return nowMs;
  }

  #tick(nowMs: number): void {
    if (this.#abort.signal.aborted) return;
    this.#schedule.run(nowMs);
    const nextMs = this.#schedule.nextMs;
    if (this.#timer !== undefined && nextMs >= this.#timerDueMs && this.#timerDueMs > nowMs) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#timerDueMs = nextMs;
    if (nextMs === Infinity) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#tick(this.#read());
      },
      Math.min(Math.max(0, nextMs - nowMs), 60_000),
    );
  }

  #begin(slot: Slot, kind: 'scheduled' | 'recheck'): void {
    this.#running += 1;
    const startUs = this.#options.monotonicUs();
    if (kind === 'scheduled')
      this.#options.onBegin?.(this.#readMs + (startUs - this.#readUs) / 1_000 - slot.startedDueMs);
    void this.#runScheduled(slot, kind, this.#store.get(slot.monitor.id), startUs);
  }

  async #runScheduled(
    slot: Slot,
    kind: 'scheduled' | 'recheck',
    assignment: Assignment | undefined,
    startUs: number,
  ): Promise<void> {
    const { clock, check, record } = this.#options;
    let verdict: Verdict = 'neutral';
    let endMs: number | undefined;
    try {
      if (assignment === undefined) return;
      let outcome = await check(assignment, { signal: this.#abort.signal });
      if (verdictOf(outcome.outcome) === 'failing') outcome = await this.#examined(outcome);
      if (this.#abort.signal.aborted) return;
      verdict = verdictOf(outcome.outcome);
      endMs = this.#read();
      const isAssigned = this.#store.get(assignment.monitorId) !== undefined;
      const made = { nowMs: endMs, probeRevision: assignment.probeRevision };
      const { isNew, isUrgent } = isAssigned ? this.#novelty.take(assignment.monitorId, outcome, made) : nothingNew;
      const effectiveUs = clock.effectiveUs(startUs, this.#readUs);
      record(assignment.shard, startUs, toResult(assignment, kind, outcome, effectiveUs, isNew), isUrgent);
    } catch (error) {
      this.#options.logger.error(
        { monitor_id: slot.monitor.id, error: messageOf(error) },
        'a check could not be recorded',
      );
    } finally {
      this.#running -= 1;
      endMs ??= this.#read();
      this.#schedule.finished(slot, kind, verdict, endMs);
      this.#tick(endMs);
      if (this.#running === 0) this.#onIdle?.();
    }
  }

  async #examined(outcome: CheckOutcome): Promise<CheckOutcome> {
    const { examine } = this.#options;
    return examine === undefined ? outcome : examine(outcome);
  }

  #onSkipped(slot: Slot, dueMs: number, why: SkipReason): void {
    this.#options.onSkip?.(why);
    const assignment = this.#store.get(slot.monitor.id);
    if (!this.#skipped.add(slot.monitor, dueMs, why) || assignment === undefined) return;
    const dueUs = Math.round(this.#readUs - Math.max(0, this.#readMs - dueMs) * 1_000);
    const effectiveUs = this.#options.clock.effectiveUs(dueUs, this.#readUs);
    try {
      this.#options.record(assignment.shard, dueUs, toSkipped(assignment, effectiveUs, why), false);
    } catch (error) {
      this.#options.logger.error(
        { monitor_id: slot.monitor.id, error: messageOf(error) },
        'a skipped check could not be recorded',
      );
    }
  }
}

function toScheduled(assignment: Assignment): ScheduledMonitor {
  return {
    id: assignment.monitorId,
    intervalMs: intervalMsOf(assignment),
    host: targetHost(assignment.url),
    confirmations: assignment.confirmations,
  };
}

/** Whether nobody waits any more for what was asked. */
function isLate({ expiresUs }: RunCheck, nowMs: number): boolean {
  return expiresUs > 0n && nowMs * 1_000 >= Number(expiresUs);
}

/** An answer without a check. @param refused why there was none; empty when its result goes another way */
export function refusal(requestId: string, refused: string): CheckAnswer {
  const nothing = Buffer.alloc(0);
  return {
    requestId,
    effectiveUs: 0n,
    outcomeJson: nothing,
    trace: [],
    refused,
    diagnosisJson: nothing,
    chainJson: nothing,
  };
}
