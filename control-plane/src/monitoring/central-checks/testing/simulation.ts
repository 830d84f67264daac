import { freshSeconds } from '@parallax/checks';
import type { Outcome } from '@parallax/checks';
import { createMonitorFold, timeline } from '../../consensus/index.ts';
import type { MonitorInputs, Status, StoredResult } from '../../consensus/index.ts';
import { CentralDesk } from '../desk.ts';
import type { DeskMonitor, DeskOrder } from '../desk.ts';
import { CentralSchedule } from '../schedule.ts';
import type { CentralSlot } from '../schedule.ts';

export const second = 1_000_000;

export type SimulatedProbe = { readonly id: number; readonly region: string; outcome: Outcome | 'silent' };

/** For tests: one monitor, its probes, the fold, the desk and the schedule, all on a clock that the test moves by whole seconds. */
export class Simulation {
  readonly probes: SimulatedProbe[];
  /** What the control plane itself finds. */
  central: Outcome = 'ok';
  /** Probes whose results may yet come. */
  readonly blocked = new Set<number>();
  mayStart = true;
  nowUs = 1_000_000 * second;
  readonly results: StoredResult[] = [];
  /** Orders with their times. */
  readonly orders: { readonly atUs: number; readonly order: DeskOrder }[] = [];
  readonly monitor: DeskMonitor;
  inputs: MonitorInputs;
  #desk = new CentralDesk();
  #fold: ReturnType<typeof createMonitorFold>;
  #schedule: CentralSchedule;
  #started: { readonly slot: CentralSlot; readonly kind: 'scheduled' | 'recheck' }[] = [];
  #told: unknown;

  constructor(options: {
    readonly regions: readonly string[];
    readonly intervalS?: number;
    readonly timeoutS?: number;
  }) {
    const { regions, intervalS = 10, timeoutS = 5 } = options;
    this.probes = regions.map((region, index) => ({ id: index + 1, region, outcome: 'ok' }));
    this.monitor = { monitorId: 1, intervalS, timeoutS, confirmations: 2, version: '1' };
    this.inputs = {
      monitorId: 1,
      assignments: this.probes.map(({ id, region }) => ({
        voter: id,
        region,
        fromUs: this.nowUs,
        toUs: null,
        supplement: false,
      })),
      configurations: [{ fromUs: this.nowUs, probeRevision: 1, confirmations: 2, policy: 'majority', intervalS }],
      pauses: [],
      quarantines: [],
      resetUs: null,
      createdUs: this.nowUs,
    };
    this.#fold = createMonitorFold({
      inputs: this.inputs,
      before: [],
      votesAtHorizon: new Map(),
      results: [],
      storedRanges: [],
      storedProbeRanges: [],
      horizonUs: this.nowUs,
      nowUs: this.nowUs,
    });
    this.#schedule = this.#newSchedule();
  }

  get status(): Status {
    return this.#fold.take().status;
  }

  get freshUs(): number {
    return freshSeconds(this.monitor.intervalS, this.monitor.timeoutS) * second;
  }

  /** True while the control plane checks the monitor. */
  get isChecking(): boolean {
    return this.orders.at(-1)?.order.type === 'check';
  }

  get centralResults(): StoredResult[] {
    return this.results.filter(({ voter }) => voter === 0);
  }

  /** Voters that hold a vote now by the definition of the consensus, `central` left out. */
  holders(): number[] {
    const near = this.results.filter(({ eUs }) => eUs > this.nowUs - 10 * this.freshUs);
    const { perVoter } = timeline(this.inputs, near, this.nowUs, this.nowUs + 1);
    return [...perVoter]
      .filter(([voter, segments]) => voter !== 0 && segments.at(-1)?.status !== 'UNKNOWN')
      .map(([voter]) => voter);
  }

  reconfigure(inputs: Partial<MonitorInputs>): void {
    this.inputs = { ...this.inputs, ...inputs };
    if (typeof this.#fold.reconfigure(this.inputs) === 'object') throw new Error('the fold asks for a rebuild');
  }

  /** Another owner takes the shard over: only what is stored is known. */
  takeover(): void {
    this.#desk = new CentralDesk();
    this.#schedule = this.#newSchedule();
    this.#started = [];
    this.#told = undefined;
    const horizonUs = this.nowUs - 30 * second;
    this.#fold = createMonitorFold({
      inputs: this.inputs,
      before: this.results.filter(({ eUs }) => eUs < horizonUs),
      votesAtHorizon: new Map(),
      results: this.results.filter(({ eUs }) => eUs >= horizonUs),
      storedRanges: [],
      storedProbeRanges: [],
      horizonUs,
      nowUs: this.nowUs,
    });
  }

  run(seconds: number): void {
    for (let step = 0; step < seconds; step += 1) this.#step();
  }

  #newSchedule(): CentralSchedule {
    const limits = { inFlight: 9, perSecond: 900, fallbackInFlight: 4, fallbackPerSecond: 400 };
    return new CentralSchedule(limits, (slot, kind) => this.#started.push({ slot, kind }));
  }

  #step(): void {
    this.nowUs += second;
    const nowMs = this.nowUs / 1_000;
    this.#schedule.run(nowMs);
    for (const { slot, kind } of this.#started.splice(0)) {
      this.#add(0, this.central, slot.wish.freshS, kind);
      const isFailing = this.central === 'fail' || this.central === 'timeout';
      const verdict = isFailing ? 'failing' : this.central === 'probe_error' ? 'neutral' : 'good';
      this.#schedule.finished(slot, verdict, nowMs);
    }
    for (const { id, outcome } of this.probes) {
      const isDue = Math.round(this.nowUs / second) % this.monitor.intervalS === id % this.monitor.intervalS;
      if (isDue && outcome !== 'silent') this.#add(id, outcome, this.freshUs / second, 'scheduled');
    }
    this.#fold.advance(this.nowUs);
    for (const { voters } of this.#fold.take().rechecks) if (voters.includes(0)) this.#schedule.ask(1, nowMs);
    const { standing } = this.#fold;
    if (standing !== this.#told) this.#desk.tell(this.monitor, standing);
    this.#told = standing;
    this.#desk.settled();
    if (this.#desk.nextStartUs <= this.nowUs) {
      this.#desk.start(this.nowUs, { mayStart: this.mayStart, mayStillReport: (id) => this.blocked.has(id) });
    }
    for (const order of this.#desk.take()) {
      this.orders.push({ atUs: this.nowUs, order });
      if (order.type === 'check') this.#schedule.set(order.wish, order.first, nowMs);
      else this.#schedule.end(order.monitorId, order.isOnceMore, nowMs);
    }
  }

  #add(voter: number, outcome: Outcome, freshS: number, kind: 'scheduled' | 'recheck'): void {
    const row: StoredResult = {
      eUs: this.nowUs,
      voter,
      kind,
      outcome,
      error: 0,
      freshS,
      probeRevision: 1,
      receivedUs: this.nowUs,
    };
    this.results.push(row);
    if (typeof this.#fold.apply([row]) === 'object') throw new Error('the fold asks for a rebuild');
  }
}
