import { freshSeconds, verdictOf } from '@parallax/checks';
import type { ResultRecord } from '@parallax/wire';
import { Schedule } from '../../../probe-agent/src/runner/schedule.ts';
import type { Slot } from '../../../probe-agent/src/runner/slot.ts';

export type Answer = 'ok' | 'fail' | 'timeout' | 'probe_error';

export type VantagePointOptions = {
  readonly probeId: number;
  readonly monitors: readonly number[];
  readonly intervalS: number;
  readonly timeoutS: number;
  readonly confirmations: number;
  readonly startMs: number;
  /** What a check finds that begins then. */
  readonly sees: (monitorId: number, atMs: number) => Answer;
  /** How far the effective time of a check that begins then is off, ms. */
  readonly clockErrorMs: (atMs: number) => number;
};

/** What lives on virtual time and has results to send. */
export type Point = {
  readonly probeId: number;
  /** In the order of their numbers, which begin at 1. */
  readonly log: readonly ResultRecord[];
  /** When anything happens next. */
  readonly nextMs: number;
  /** The control plane asks for second opinions. */
  readonly ask: (monitorIds: readonly number[]) => void;
  /** Lives until then, each event at its own time. */
  readonly live: (untilMs: number) => void;
};

/** Results that were found before, as if they were found now. */
export class RecordedPoint implements Point {
  readonly probeId: number;
  readonly log: ResultRecord[] = [];
  readonly #recorded: readonly ResultRecord[];

  constructor(probeId: number, recorded: readonly ResultRecord[]) {
    this.probeId = probeId;
    this.#recorded = recorded;
  }

  get nextMs(): number {
    const next = this.#recorded[this.log.length];
    return next === undefined ? Number.POSITIVE_INFINITY : endMs(next);
  }

  ask(): void {
    // What it is asked for was asked for then.
  }

  live(untilMs: number): void {
    while (this.nextMs <= untilMs) {
      const next = this.#recorded[this.log.length];
      if (next !== undefined) this.log.push(next);
    }
  }
}

const endMs = (result: ResultRecord): number => Math.ceil((result.effectiveUs + result.totalUs) / 1_000);

const answersWithinMs = 20;

type Running = {
  readonly slot: Slot;
  readonly kind: 'scheduled' | 'recheck';
  readonly startMs: number;
  readonly endMs: number;
};

/** A probe on virtual time: the agent's own schedule, checks that take as long as their answer, and a log of what they found. */
export class VantagePoint implements Point {
  readonly log: ResultRecord[] = [];
  readonly #options: VantagePointOptions;
  readonly #schedule: Schedule;
  #running: Running[] = [];
  #nowMs: number;

  constructor(options: VantagePointOptions) {
    this.#options = options;
    this.#nowMs = options.startMs;
    const most = options.monitors.length + 1;
    this.#schedule = new Schedule({
      probeId: options.probeId,
      limits: { maxInFlight: most, perHost: most, maxRechecks: most },
      actions: { start: (slot, kind) => this.#begin(slot, kind), skip: () => undefined },
    });
    for (const id of options.monitors) {
      this.#schedule.set(
        { id, host: 'target', intervalMs: options.intervalS * 1_000, confirmations: options.confirmations },
        options.startMs,
        'on_phase',
      );
    }
  }

  get probeId(): number {
    return this.#options.probeId;
  }

  get nextMs(): number {
    return Math.min(this.#schedule.nextMs, ...this.#running.map(({ endMs }) => endMs));
  }

  ask(monitorIds: readonly number[]): void {
    for (const monitorId of monitorIds) this.#schedule.askRecheck(monitorId, this.#nowMs);
  }

  live(untilMs: number): void {
    for (let nextMs = this.nextMs; nextMs <= untilMs; nextMs = this.nextMs) {
      this.#nowMs = Math.max(this.#nowMs, nextMs);
      const ended = this.#running.filter(({ endMs }) => endMs <= this.#nowMs);
      this.#running = this.#running.filter(({ endMs }) => endMs > this.#nowMs);
      for (const one of ended) this.#end(one);
      this.#schedule.run(this.#nowMs);
    }
    this.#nowMs = untilMs;
  }

  #begin(slot: Slot, kind: 'scheduled' | 'recheck'): void {
    const { sees, timeoutS } = this.#options;
    const lastsMs = sees(slot.monitor.id, this.#nowMs) === 'timeout' ? timeoutS * 1_000 : answersWithinMs;
    this.#running.push({ slot, kind, startMs: this.#nowMs, endMs: this.#nowMs + lastsMs });
  }

  #end({ slot, kind, startMs, endMs }: Running): void {
    const { sees, clockErrorMs, intervalS, timeoutS } = this.#options;
    const outcome = sees(slot.monitor.id, startMs);
    this.log.push({
      monitorId: slot.monitor.id,
      effectiveUs: Math.round((startMs + clockErrorMs(startMs)) * 1_000),
      probeRevision: 1,
      kind,
      outcome,
      error: outcome === 'ok' ? 0 : 20,
      freshS: freshSeconds(intervalS, timeoutS),
      totalUs: (endMs - startMs) * 1_000,
    });
    this.#schedule.finished(slot, kind, verdictOf(outcome), endMs);
  }
}
