import { freshSeconds, verdictOf } from '@parallax/checks';
import type { CheckKind, Outcome } from '@parallax/checks';
import { createMonitorFold } from '../../../control-plane/src/monitoring/consensus/index.ts';
import type { MonitorInputs, StoredResult } from '../../../control-plane/src/monitoring/consensus/index.ts';
import { Schedule } from '../../../probe-agent/src/runner/schedule.ts';
import type { Slot } from '../../../probe-agent/src/runner/slot.ts';
import { createRandom } from '../engine/random.ts';
import type { Random } from '../engine/random.ts';
import { settingOf } from './setting.ts';
import type { DaySetting, Outage } from './setting.ts';

/** What was seen of one monitor on one day. */
export type DayFigures = {
  readonly checks: number;
  /** Outages announced while the target answered. */
  readonly falseDowns: number;
  /** Milliseconds from the begin of each outage until it was announced; infinity for one that was not. */
  readonly detectedMs: readonly number[];
  readonly intervalS: number;
};

const originMs = 1_800_000_000_000;
const dayMs = 86_400_000;
/** The ingest cuts what is dated ahead of its receipt to that, and those of one batch a microsecond apart, so that none covers another. */
const apartMs = 0.002;
/** An outage may still be told of some time after its end, by results that were on their way. */
const echoMs = 90_000;
const monitorId = 1;

type Probe = {
  readonly id: number;
  readonly schedule: Schedule;
  /** The check that runs. */
  running:
    | {
        readonly slot: Slot;
        readonly kind: CheckKind;
        readonly startedMs: number;
        readonly endsMs: number;
        readonly outcome: Outcome;
      }
    | undefined;
  /** Its last check failed for no lasting reason: the next does not. */
  hasBlipped: boolean;
  /** It says nothing that could be dated until then: its clock was set. */
  datesFromMs: number;
  /** When its last result was taken: the ingest takes those of a probe in their order. */
  takenMs: number;
};

type Arrival = { readonly atMs: number; readonly row: StoredResult };
type Asked = { readonly atMs: number; readonly probe: Probe };

/** One monitor for one day: three agents' schedules, one of which lies, and the fold that hears them. All else is chance. */
export function liveDay(seed: number, isIndependent = false): DayFigures {
  const random = createRandom(seed, 'day');
  return new Day(settingOf(seed, random, isIndependent), random).live();
}

class Day {
  readonly #setting: DaySetting;
  readonly #random: Random;
  readonly #probes: readonly Probe[];
  readonly #fold;
  #arrivals: Arrival[] = [];
  #asked: Asked[] = [];
  #nowMs = originMs;
  #checks = 0;
  #falseDowns = 0;
  readonly #detected = new Map<Outage, number>();
  readonly #freshS: number;

  constructor(setting: DaySetting, random: Random) {
    this.#setting = setting;
    this.#random = random;
    this.#freshS = freshSeconds(setting.intervalS, setting.timeoutS);
    const inputs = inputsOf(setting);
    const begin = {
      inputs,
      before: [],
      votesAtHorizon: new Map(),
      results: [],
      storedRanges: [],
      storedProbeRanges: [],
    };
    this.#fold = createMonitorFold({ ...begin, horizonUs: originMs * 1_000 - 1, nowUs: originMs * 1_000 });
    this.#probes = [1, 2, 3].map((id) => this.#newProbe(id));
  }

  live(): DayFigures {
    for (const probe of this.#probes) {
      const { intervalS, confirmations } = this.#setting;
      const monitor = { id: monitorId, intervalMs: intervalS * 1_000, host: 'target', confirmations };
      probe.schedule.set(monitor, this.#nowMs, { withinMs: 1_000 });
    }
    for (let atMs = this.#next(); atMs < originMs + dayMs; atMs = this.#next()) {
      this.#nowMs = Math.max(this.#nowMs, atMs);
      this.#step();
    }
    return {
      checks: this.#checks,
      falseDowns: this.#falseDowns,
      detectedMs: this.#setting.outages.map((outage) => this.#detected.get(outage) ?? Number.POSITIVE_INFINITY),
      intervalS: this.#setting.intervalS,
    };
  }

  #newProbe(id: number): Probe {
    const probe: Probe = {
      id,
      schedule: new Schedule({
        probeId: id + this.#setting.probesFrom,
        limits: { maxInFlight: 10, perHost: 2, maxRechecks: 1 },
        actions: { start: (slot, kind) => this.#start(probe, slot, kind), skip: () => undefined },
      }),
      running: undefined,
      hasBlipped: false,
      datesFromMs: 0,
      takenMs: 0,
    };
    return probe;
  }

  #next(): number {
    let atMs = this.#fold.nextExpiryUs / 1_000;
    for (const { schedule, running } of this.#probes) {
      if (running === undefined) atMs = Math.min(atMs, schedule.nextMs);
      else atMs = Math.min(atMs, running.endsMs);
    }
    for (const arrival of this.#arrivals) atMs = Math.min(atMs, arrival.atMs);
    for (const asked of this.#asked) atMs = Math.min(atMs, asked.atMs);
    return atMs;
  }

  #step(): void {
    const nowMs = this.#nowMs;
    for (const probe of this.#probes) {
      if (probe.running !== undefined && probe.running.endsMs <= nowMs) this.#end(probe, probe.running);
      if (probe.running === undefined && probe.schedule.nextMs <= nowMs) probe.schedule.run(nowMs);
    }
    if (this.#asked.some(({ atMs }) => atMs <= nowMs)) {
      for (const { probe } of this.#asked.filter(({ atMs }) => atMs <= nowMs)) {
        probe.schedule.askRecheck(monitorId, nowMs);
        probe.schedule.run(nowMs);
      }
      this.#asked = this.#asked.filter(({ atMs }) => atMs > nowMs);
    }
    const rows = this.#arrivals.filter(({ atMs }) => atMs <= nowMs).map(({ row }) => row);
    if (rows.length > 0) this.#arrivals = this.#arrivals.filter(({ atMs }) => atMs > nowMs);
    if (rows.length > 0 || this.#fold.nextExpiryUs <= nowMs * 1_000) this.#hear(rows);
  }

  #start(probe: Probe, slot: Slot, kind: CheckKind): void {
    this.#checks += 1;
    const { outcome, lastsMs } = this.#see(probe);
    const startedMs = this.#nowMs;
    probe.running = { slot, kind, startedMs, endsMs: startedMs + lastsMs, outcome };
  }

  #see(probe: Probe): { readonly outcome: Outcome; readonly lastsMs: number } {
    const random = this.#random;
    const outcome = this.#outcome(probe);
    const lastsMs = outcome === 'timeout' ? this.#setting.timeoutS * 1_000 : random.between(5, 400);
    return { outcome, lastsMs };
  }

  #outcome(probe: Probe): Outcome {
    const { liar, blips, isIndependent } = this.#setting;
    const random = this.#random;
    const outage = this.#outageAt(this.#nowMs);
    if (probe.id === liar.probeId) {
      switch (liar.says) {
        case 'fail':
          return 'fail';
        case 'timeout':
          return 'timeout';
        case 'ok':
          return 'ok';
        case 'anything':
          return random.chance(0.5) ? 'fail' : 'ok';
        case 'by turns':
          return Math.floor(this.#nowMs / liar.everyMs) % 2 === 0 ? 'fail' : 'ok';
      }
    }
    if (outage !== undefined) return outage.outcome;
    const isBlip = (isIndependent || !probe.hasBlipped) && random.chance(blips);
    probe.hasBlipped = isBlip;
    return isBlip ? random.pick(['fail', 'timeout'] as const) : 'ok';
  }

  #end(probe: Probe, { slot, kind, startedMs, outcome }: NonNullable<Probe['running']>): void {
    const nowMs = this.#nowMs;
    probe.running = undefined;
    probe.schedule.finished(slot, kind === 'recheck' ? 'recheck' : 'scheduled', verdictOf(outcome), nowMs);
    const { setClockEveryMs, misdated } = this.#setting;
    // Set by 90 s, a clock voids what the agent knows of time until the next exchange, at most four seconds later.
    if (this.#random.chance((this.#setting.intervalS * 1_000) / setClockEveryMs))
      probe.datesFromMs = nowMs + this.#random.between(1, 4_000);
    const sentMs = Math.max(nowMs + this.#random.between(30, 500), probe.datesFromMs);
    const receivedMs = Math.max(sentMs + this.#random.between(5, 400), probe.takenMs + apartMs);
    probe.takenMs = receivedMs;
    const beside = misdated.probeId === probe.id ? misdated.byMs : this.#random.between(-50, 50);
    const receivedUs = receivedMs * 1_000;
    const eUs = Math.min(Math.round((startedMs + beside) * 1_000), receivedUs - 1);
    const error = outcome === 'fail' ? 20 : outcome === 'timeout' ? 21 : 0;
    const row = { eUs, voter: probe.id, kind, outcome, error, freshS: this.#freshS, probeRevision: 1, receivedUs };
    this.#arrivals.push({ atMs: receivedMs, row });
  }

  #hear(rows: readonly StoredResult[]): void {
    const nowMs = this.#nowMs;
    if (this.#fold.apply(rows, nowMs * 1_000) !== 'folded') throw new Error('a result came too late for the fold');
    const { transitions, rechecks } = this.#fold.take();
    for (const { voters } of rechecks)
      for (const voter of voters) {
        const probe = this.#probes.find(({ id }) => id === voter);
        if (probe !== undefined) this.#asked.push({ atMs: nowMs + this.#random.between(10, 600), probe });
      }
    for (const { to, atUs } of transitions) if (to === 'DOWN' || to === 'TIMEOUT') this.#announced(atUs / 1_000);
  }

  #announced(sinceMs: number): void {
    const { outages, misdated } = this.#setting;
    // Where a probe dates its results wrongly, so does what rests on them.
    const slackMs = echoMs + Math.abs(misdated.byMs);
    const cause = outages.find(
      ({ fromMs, toMs }) => this.#nowMs >= fromMs && sinceMs < toMs + slackMs && this.#nowMs < toMs + slackMs,
    );
    if (cause === undefined) this.#falseDowns += 1;
    else if (!this.#detected.has(cause)) this.#detected.set(cause, this.#nowMs - cause.fromMs);
  }

  #outageAt(atMs: number): Outage | undefined {
    return this.#setting.outages.find(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs);
  }
}

function inputsOf({ intervalS, confirmations }: DaySetting): MonitorInputs {
  const fromUs = originMs * 1_000;
  return {
    monitorId,
    assignments: ['eu', 'us', 'ap'].map((region, index) => ({
      voter: index + 1,
      region,
      fromUs,
      toUs: null,
      supplement: false,
    })),
    configurations: [{ fromUs, probeRevision: 1, confirmations, policy: 'majority', intervalS }],
    pauses: [],
    quarantines: [],
    resetUs: null,
    createdUs: fromUs,
  };
}
