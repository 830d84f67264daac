import type { CheckOutcome } from '@parallax/checks';
import type { Assignment, CheckAnswer, ResultRecord, RunCheck, TraceStep } from '@parallax/wire';
import type { AppliedChange, AssignmentStore } from '../assignments/store.ts';
import { messageOf } from '../ports.ts';
import type { Logger } from '../ports.ts';
import type { ServerClock } from './clock.ts';
import { toResult, toSkipped, verdictOf } from './result.ts';
import { Schedule } from './schedule.ts';
import type { FirstCheck, ScheduledMonitor, Slot } from './schedule.ts';
import { targetHost } from './target-host.ts';

/** Runs one check of an assignment; never rejects for anything that a target does. */
export type CheckRunner = (
  assignment: Assignment,
  options: { readonly signal: AbortSignal; readonly trace?: (step: string, detail: string) => void },
) => Promise<CheckOutcome>;

export type RunnerOptions = {
  readonly probeId: number;
  readonly maxInFlight: number;
  readonly perHost?: number;
  readonly clock: ServerClock;
  readonly monotonicUs: () => number;
  readonly check: CheckRunner;
  /** Takes a result into the log. `urgent`: it should be published at once. */
  readonly record: (shard: number, monotonicUs: number, result: ResultRecord, urgent: boolean) => void;
  /** Judges an outcome once more before it counts: the probe's own uplink may be what is broken. */
  readonly examine?: (outcome: CheckOutcome) => CheckOutcome;
  readonly logger: Logger;
};

/** What is remembered of a monitor's last voting result, to tell what is new about the next. */
type Last = { failing: boolean; error: string | undefined };

/** A start with many monitors spreads their first checks so that about so many begin in a second. */
const firstChecksPerSecond = 200;

/** Runs the checks of the assignments on their schedule, and those that the control plane asks for. */
export class Runner {
  readonly #options: RunnerOptions;
  readonly #store: AssignmentStore;
  readonly #schedule: Schedule;
  readonly #last = new Map<number, Last>();
  readonly #abort = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #timerDueMs = Infinity;
  #lastNowMs = -Infinity;
  #lastMonotonicUs = 0;

  constructor(store: AssignmentStore, options: RunnerOptions) {
    this.#store = store;
    this.#options = options;
    const { maxInFlight } = options;
    this.#schedule = new Schedule({
      probeId: options.probeId,
      limits: { maxInFlight, perHost: options.perHost ?? 2, maxRechecks: Math.max(1, Math.ceil(maxInFlight / 10)) },
      actions: {
        start: (slot, kind) => this.#begin(slot, kind),
        skip: (slot, dueMs, why) => this.#recordSkipped(slot, dueMs, why),
      },
    });
  }

  get inFlight(): number {
    return this.#schedule.inFlight;
  }

  /** The assignments have changed. */
  apply(change: AppliedChange): void {
    const nowMs = this.#nowMs();
    for (const monitorId of change.removed) {
      this.#schedule.remove(monitorId);
      this.#last.delete(monitorId);
    }
    const withinMs = Math.max(1_000, (change.set.length / firstChecksPerSecond) * 1_000);
    for (const assignment of change.set) {
      const previous = change.previous.get(assignment.monitorId);
      const monitor = toScheduled(assignment);
      let first: FirstCheck | undefined;
      if (change.first) first = { withinMs: Math.min(withinMs, monitor.intervalMs) };
      else if (previous === undefined || previous.probeRevision !== assignment.probeRevision) first = 'at_once';
      if (first === 'at_once') this.#last.delete(assignment.monitorId);
      else if (change.set.length > firstChecksPerSecond)
        this.#last.set(assignment.monitorId, { failing: false, error: undefined });
      this.#schedule.set(monitor, nowMs, first);
    }
    this.#tick();
  }

  /** Runs what the control plane asks for; undefined for a recheck that goes into the schedule and whose result travels by the log. */
  async runCheck(request: RunCheck, kind: 'manual' | 'recheck'): Promise<CheckAnswer> {
    const assignment = request.assignment ?? this.#store.get(request.monitorId);
    const refuse = (refused: string): CheckAnswer => emptyAnswer(request.requestId, refused);
    if (assignment === undefined) return refuse('the monitor is not assigned to this probe');
    if (kind === 'recheck') {
      this.#schedule.askRecheck(request.monitorId, this.#nowMs());
      this.#tick();
      return emptyAnswer(request.requestId, '');
    }
    const host = targetHost(assignment.url);
    if (!this.#schedule.enter(host)) return refuse('the probe is at its limit of checks at the same time');
    const startUs = this.#options.monotonicUs();
    const trace: TraceStep[] = [];
    const addTrace = (step: string, detail: string): void => {
      if (trace.length < 1_000) trace.push({ atUs: BigInt(this.#options.monotonicUs() - startUs), step, detail });
    };
    try {
      const deadline = AbortSignal.timeout(Math.min(Math.max(1, request.deadlineMs), 120_000));
      const signal = AbortSignal.any([this.#abort.signal, deadline]);
      const raw = await this.#options.check(assignment, request.trace ? { signal, trace: addTrace } : { signal });
      const outcome = this.#options.examine?.(raw) ?? raw;
      this.#options.clock.checkForJump();
      const effectiveUs = this.#options.clock.effectiveUs(startUs);
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
      };
    } catch (error) {
      return refuse(`the check could not be run: ${messageOf(error)}`);
    } finally {
      this.#schedule.leave(host, this.#nowMs());
      this.#tick();
    }
  }

  /** Ends all checks; resolves when none is left. Their results are not recorded. */
  async stop(): Promise<void> {
    this.#abort.abort();
    clearTimeout(this.#timer);
    await Promise.allSettled(this.#running);
  }

  /** Server time for the schedule. When it does not go on as the monotonic clock does, every monitor moves to its next regular slot. */
  #nowMs(): number {
    const nowMs = this.#options.clock.nowMs();
    const monotonicUs = this.#options.monotonicUs();
    const expectedMs = this.#lastNowMs + (monotonicUs - this.#lastMonotonicUs) / 1_000;
    const jumped = this.#lastNowMs > 0 && Math.abs(nowMs - expectedMs) > 1_000;
    this.#lastNowMs = nowMs;
    this.#lastMonotonicUs = monotonicUs;
    if (jumped) {
      this.#options.logger.warn(
        { by_ms: Math.round(nowMs - expectedMs) },
        'the time has jumped: checks go on at their next regular slots',
      );
      this.#schedule.rephase(nowMs, nowMs - expectedMs);
    }
    return nowMs;
  }

  #tick(): void {
    if (this.#abort.signal.aborted) return;
    const nowMs = this.#nowMs();
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
        this.#tick();
      },
      Math.min(Math.max(0, nextMs - nowMs), 60_000),
    );
  }

  #begin(slot: Slot, kind: 'scheduled' | 'recheck'): void {
    const assignment = this.#store.get(slot.monitor.id);
    const run = this.#runScheduled(slot, kind, assignment).finally(() => this.#running.delete(run));
    this.#running.add(run);
  }

  async #runScheduled(slot: Slot, kind: 'scheduled' | 'recheck', assignment: Assignment | undefined): Promise<void> {
    const { clock, monotonicUs, check, examine, record } = this.#options;
    const startUs = monotonicUs();
    let verdict: ReturnType<typeof verdictOf> = 'neutral';
    try {
      if (assignment === undefined) return;
      const raw = await check(assignment, { signal: this.#abort.signal });
      const outcome = examine?.(raw) ?? raw;
      if (this.#abort.signal.aborted) return;
      verdict = verdictOf(outcome.outcome);
      clock.checkForJump();
      const { isNew, isUrgent } = this.#whatIsNew(assignment, outcome, verdict);
      record(
        assignment.shard,
        startUs,
        toResult(assignment, kind, outcome, clock.effectiveUs(startUs), isNew),
        isUrgent,
      );
    } catch (error) {
      this.#options.logger.error(
        { monitor_id: slot.monitor.id, error: messageOf(error) },
        'a check could not be recorded',
      );
    } finally {
      this.#schedule.finished(slot, kind, verdict, this.#nowMs());
      this.#tick();
    }
  }

  /** The evidence of a failure is kept the first time and when its code changes; a first failure and a first good answer cannot wait. */
  #whatIsNew(
    assignment: Assignment,
    outcome: CheckOutcome,
    verdict: ReturnType<typeof verdictOf>,
  ): { isNew: boolean; isUrgent: boolean } {
    if (this.#store.get(assignment.monitorId) === undefined) return { isNew: false, isUrgent: false };
    const last = this.#last.get(assignment.monitorId);
    const failing = verdict === 'failing';
    const isNew = verdict !== 'good' && (last?.failing !== failing || last.error !== outcome.code);
    const isUrgent = last === undefined || (verdict !== 'neutral' && last.failing !== failing) || (failing && isNew);
    if (verdict !== 'neutral' || isNew) {
      this.#last.set(assignment.monitorId, {
        failing: verdict === 'neutral' ? (last?.failing ?? false) : failing,
        error: outcome.code,
      });
    }
    return { isNew: isNew || (outcome.outcome === 'warn' && last?.error !== outcome.code), isUrgent };
  }

  #recordSkipped(slot: Slot, dueMs: number, why: 'overrun' | 'overload'): void {
    const assignment = this.#store.get(slot.monitor.id);
    if (assignment === undefined) return;
    const monotonicUs = this.#options.monotonicUs();
    const effectiveUs = this.#options.clock.anchored ? Math.round(dueMs * 1_000) : 0;
    try {
      this.#options.record(assignment.shard, monotonicUs, toSkipped(assignment, effectiveUs, why), false);
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
    intervalMs: Math.max(1, assignment.intervalSeconds) * 1_000,
    host: targetHost(assignment.url),
    confirmations: assignment.confirmations,
  };
}

function emptyAnswer(requestId: string, refused: string): CheckAnswer {
  return { requestId, effectiveUs: 0n, outcomeJson: Buffer.alloc(0), trace: [], refused };
}
