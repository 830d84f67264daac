import type { CheckOutcome } from '@parallax/checks';
import type { Engine } from '../engine/engine.ts';
import type { Random } from '../engine/random.ts';
import type { Network } from '../models/network.ts';
import { internet } from '../models/uplink.ts';
import type { Plan, TargetState } from './plan.ts';

/** A check as it truly was. */
export type TrueCheck = {
  readonly id: number;
  /** 0: the control plane. */
  readonly probeId: number;
  readonly monitorId: number;
  readonly startedUs: number;
  /** A failure that the target, or a blip on the way to it, is to blame for. */
  readonly isTrueFailure: boolean;
};

/** What is checked, as it is for each region, and every check of it. */
export class Targets {
  readonly checks = new Map<number, TrueCheck>();
  readonly #engine: Engine;
  readonly #network: Network;
  readonly #random: Random;
  readonly #plan: Plan;
  /** By monitor and region: what is wrong with it, the latest last. */
  readonly #wrong = new Map<string, TargetState[]>();
  #ids = 0;

  constructor(options: {
    readonly engine: Engine;
    readonly network: Network;
    readonly random: Random;
    readonly plan: Plan;
  }) {
    this.#engine = options.engine;
    this.#network = options.network;
    this.#random = options.random;
    this.#plan = options.plan;
  }

  begin(monitorId: number, region: string, state: TargetState): void {
    const key = `${monitorId} ${region}`;
    this.#wrong.set(key, [...(this.#wrong.get(key) ?? []), state]);
  }

  end(monitorId: number, region: string, state: TargetState): void {
    const states = this.#wrong.get(`${monitorId} ${region}`) ?? [];
    const at = states.indexOf(state);
    if (at >= 0) states.splice(at, 1);
  }

  healAll(): void {
    this.#wrong.clear();
  }

  /** Runs one check in the process that asks. The number of the check travels as the duration of its name's resolution. */
  async check(
    place: { readonly probeId: number; readonly region: string; readonly machine: string },
    monitorId: number,
    timeoutS: number,
  ): Promise<CheckOutcome> {
    this.#ids += 1;
    const id = this.#ids;
    const startedUs = this.#engine.nowUs;
    const isCut = (): boolean => this.#network.isCut([place.machine, internet]);
    const wasCut = isCut();
    const seen = this.#seen(monitorId, place.region);
    const said = wasCut ? 'timeout' : this.#said(place.probeId, seen);
    this.checks.set(id, {
      id,
      probeId: place.probeId,
      monitorId,
      startedUs,
      isTrueFailure: !wasCut && (seen === 'fail' || seen === 'timeout'),
    });
    const totalUs = this.#lastsUs(said, timeoutS);
    await this.#engine.pause(totalUs);
    const isLost = isCut() && said !== 'fail';
    if (isLost && said !== 'timeout') await this.#engine.pause(timeoutS * 1_000_000);
    return outcomeOf(id, isLost ? 'timeout' : said, totalUs);
  }

  #seen(monitorId: number, region: string): TargetState {
    const wrong = this.#wrong.get(`${monitorId} ${region}`)?.at(-1);
    if (wrong !== undefined) return wrong;
    return this.#random.chance(this.#plan.blips) ? this.#random.pick(['fail', 'timeout'] as const) : 'up';
  }

  #said(probeId: number, seen: TargetState): TargetState {
    const { liar } = this.#plan;
    if (liar?.probeId !== probeId) return seen;
    switch (liar.says) {
      case 'fail':
        return 'fail';
      case 'ok':
        return 'up';
      case 'anything':
        return this.#random.pick(['up', 'fail', 'timeout', 'slow', 'warn'] as const);
    }
  }

  #lastsUs(state: TargetState, timeoutS: number): number {
    switch (state) {
      case 'timeout':
        return timeoutS * 1_000_000;
      case 'fail':
        return this.#random.between(1_000, 60_000);
      case 'slow':
        return this.#random.between(400_000, 900_000);
      case 'up':
      case 'warn':
        return this.#random.between(5_000, 300_000);
    }
  }
}

function outcomeOf(id: number, state: TargetState, total: number): CheckOutcome {
  const phases = { dns: id };
  const evidence = { address: '203.0.113.80' };
  switch (state) {
    case 'up':
      return { outcome: 'ok', total, phases };
    case 'slow':
      return { outcome: 'slow', total, phases };
    case 'warn':
      return {
        outcome: 'warn',
        total,
        phases,
        source: 'target',
        code: 'tls_expires_soon',
        message: 'soon over',
        evidence,
      };
    case 'fail':
      return {
        outcome: 'fail',
        total,
        phases,
        source: 'target',
        code: 'connect_refused',
        message: 'refused',
        evidence,
      };
    case 'timeout':
      return {
        outcome: 'timeout',
        total,
        phases,
        source: 'target',
        code: 'connect_timeout',
        message: 'silent',
        evidence,
      };
  }
}
