import { ed25519PublicKey } from '@parallax/pki';
import type { Logger as ControlPlaneLogger } from '@parallax/telemetry';
import type { Logger as AgentLogger } from '../../../probe-agent/src/ports.ts';
import { configurationSubject, dispatchSubject } from '../../../control-plane/src/platform/bus/subjects.ts';
import { Engine } from '../engine/engine.ts';
import { setCurrent } from '../engine/current.ts';
import { useVirtualTime } from '../engine/globals.ts';
import { Machine } from '../engine/machine.ts';
import { createRandom } from '../engine/random.ts';
import type { Random } from '../engine/random.ts';
import { createTrace } from '../engine/trace.ts';
import type { Trace } from '../engine/trace.ts';
import { BrokerServer } from '../models/broker/server.ts';
import { Database } from '../models/database/database.ts';
import type { RoundWrite } from '../models/database/results.ts';
import { Disk } from '../models/disk.ts';
import { Network } from '../models/network.ts';
import { SessionNetwork } from '../models/sessions.ts';
import { createUplinkView } from '../models/uplink.ts';
import { Deliveries } from '../oracle/deliveries.ts';
import { watchLogs } from '../oracle/log-watch.ts';
import { Verdicts } from '../oracle/verdicts.ts';
import { Violation } from '../oracle/violation.ts';
import { createMonitor } from './configure.ts';
import { begin } from './deeds.ts';
import { noteRound } from './notes.ts';
import type { Plan } from './plan.ts';
import { ProbeMachine } from './probe.ts';
import { ReplicaMachine } from './replica.ts';
import { Targets } from './targets.ts';

const second = 1_000_000;
/** Every world begins then. */
export const originUs = 1_800_000_000 * second;
/** A world that has healed has this long to come to rest. */
const restsWithinUs = 420 * second;
/** Stored timelines are compared with the definition this often at most, while the world lasts. */
const compareEveryUs = 45 * second;

export type WorldOptions = {
  readonly plan: Plan;
  /** Told of each thing that happens, as a line. */
  readonly onLine?: ((line: string) => void) | undefined;
  /** Trouble ends after so many steps. */
  readonly steps?: number | undefined;
};

/** What a world that kept all promises was like. */
export type WorldFigures = {
  readonly steps: number;
  readonly simulatedUs: number;
  readonly results: number;
  readonly downs: number;
  readonly compared: number;
  readonly hash: string;
};

/** A whole installation with its probes, its broker, its database and what it watches, on virtual time. */
export class World {
  readonly plan: Plan;
  readonly engine = new Engine(originUs);
  readonly random: Random;
  readonly trace: Trace;
  readonly network: Network;
  readonly broker: BrokerServer;
  readonly database: Database;
  readonly sessions: SessionNetwork;
  readonly targets: Targets;
  readonly probes: readonly ProbeMachine[];
  readonly replicas: readonly ReplicaMachine[];
  readonly #deliveries: Deliveries;
  readonly #verdicts: Verdicts;
  readonly #options: WorldOptions;
  /** When each owner last read the configuration of each shard. */
  readonly #configurationReadUs = new WeakMap<object, Map<number, number>>();
  #comparedUs = originUs;
  #compared = 0;
  /** Shards whose next round is compared, whenever it comes. */
  readonly #toCompare = new Set<number>();
  /** Ends what lasts, newest last. */
  readonly #ends = new Set<() => void>();

  constructor(options: WorldOptions) {
    const { plan } = options;
    const { engine } = this;
    this.plan = plan;
    this.#options = options;
    this.random = createRandom(plan.seed, 'world');
    this.trace = createTrace(originUs, options.onLine);
    this.network = new Network(engine, this.random.fork('network'));
    const machine = (name: string): Machine =>
      new Machine({ name, nowUs: originUs, rate: 1, wallOffsetUs: 0, uptimeUs: 1e9, tellsSleep: true });
    const { network } = this;
    this.broker = new BrokerServer({ engine, network, machine: machine('broker'), random: this.random.fork('broker') });
    this.database = new Database({
      engine,
      network,
      machine: machine('database'),
      random: this.random.fork('database'),
      shards: plan.shards,
    });
    this.sessions = new SessionNetwork(engine, network);
    this.targets = new Targets({ engine, network, random: this.random.fork('targets'), plan });
    this.probes = plan.probes.map((probe) => new ProbeMachine(this, probe));
    this.replicas = [0, 1].map((index) => new ReplicaMachine(this, index));
    this.#deliveries = new Deliveries(this.database, this.targets);
    this.#verdicts = new Verdicts(this.database, this.targets, excusedIn(plan));
  }

  /** Lives from the beginning to the end. Rejects with the first promise that is broken. */
  async live(): Promise<WorldFigures> {
    const restore = useVirtualTime(this.engine);
    this.#connect();
    try {
      this.#begin();
      await this.engine.run(
        originUs + this.plan.troubleUs,
        () => this.engine.steps >= (this.#options.steps ?? Infinity),
      );
      await this.#comeToRest();
    } finally {
      restore();
      setCurrent(undefined);
      watchLogs(undefined);
    }
    return {
      steps: this.engine.steps,
      simulatedUs: this.engine.nowUs - originUs,
      results: this.#deliveries.storedRows,
      downs: this.#verdicts.downs,
      compared: this.#compared,
      hash: this.trace.hash(),
    };
  }

  note(what: string, ...details: readonly (number | string)[]): void {
    this.trace.note(this.engine.nowUs, what, ...details);
  }

  /** Something lasts: it ends after its time, or when the world heals. */
  lasts(us: number, end: () => void): void {
    const endOnce = (): void => {
      if (this.#ends.delete(endOnce)) end();
    };
    this.#ends.add(endOnce);
    this.engine.after(us, undefined, endOnce);
  }

  /** A monitor's statistics were reset: what was told of it before is void. */
  resets(monitorId: number, atUs: number): void {
    this.#verdicts.reset(monitorId, atUs);
  }

  agentLogger(probeId: number): AgentLogger {
    const tell = (level: string) => (_fields: object, message: string) => this.note(`agent ${level}`, probeId, message);
    return { debug: () => undefined, info: tell('says'), warn: tell('warns'), error: tell('errs') };
  }

  replicaLogger(name: string): ControlPlaneLogger {
    const tell =
      (level: string) =>
      (fields: unknown, message?: string): void =>
        this.note(`${name} ${level}`, message ?? String(fields), errorText(fields));
    const logger = { debug: () => undefined, info: tell('says'), warn: tell('warns'), error: tell('errs') };
    return Object.assign(logger, { child: () => logger }) as unknown as ControlPlaneLogger;
  }

  #connect(): void {
    setCurrent({
      engine: this.engine,
      broker: this.broker,
      database: this.database,
      sessions: this.sessions,
      uplink: createUplinkView(this.engine, this.network),
      diskHere: () => this.#diskHere(),
      onConfigurationRead: (owner, shard) => {
        if (owner === undefined || shard === undefined) return;
        const known = this.#configurationReadUs.get(owner) ?? new Map<number, number>();
        this.#configurationReadUs.set(owner, known.set(shard, this.engine.nowUs));
      },
      configuredUs: (shard) => this.#configurationReadUs.get(this.engine.current ?? {})?.get(shard) ?? 0,
      beforeCommit: (write) => this.#deliveries.judge(write),
      afterCommit: (write) => this.#committed(write),
    });
    const probeHere = (): number => this.sessions.probeOf.get(this.engine.current ?? ({} as never)) ?? 0;
    watchLogs({
      appended: (stream, seq, result) => {
        const { monitorId, outcome, dnsUs } = result;
        this.note('appended', probeHere(), stream.epoch, stream.shard, seq, monitorId, outcome, dnsUs ?? 0);
        this.#deliveries.appended(probeHere(), stream, seq, result);
      },
      synced: (stream, seq) => this.#promise(() => this.#deliveries.synced(probeHere(), stream, seq)),
      acknowledged: (stream, seq) => {
        this.note('acknowledged', probeHere(), stream.epoch, stream.shard, seq);
        this.#promise(() => this.#deliveries.acknowledged(probeHere(), stream, seq));
      },
    });
    this.database.onClaimed = (shard, term, owner) => this.note('claimed', shard, term, owner);
    this.database.configuration.onChanged = (monitorIds, probeIds) => this.#hint(monitorIds, probeIds);
  }

  #begin(): void {
    const { configuration } = this.database;
    for (const { plan, signingSeed } of this.probes)
      configuration.probes.set(plan.id, {
        id: plan.id,
        region: plan.region,
        publicKey: ed25519PublicKey(signingSeed),
        revision: 0n,
      });
    for (const monitor of this.plan.monitors) createMonitor(this, monitor);
    for (const replica of this.replicas) replica.start();
    for (const probe of this.probes) probe.start();
    for (const event of this.plan.events) {
      this.engine.after(event.atUs, undefined, () => {
        this.note('event', event.kind, Math.round(event.lastsUs / second));
        begin(this, event);
      });
    }
  }

  /** Everything heals; then what was synced arrives, and every timeline is what the definition says. */
  async #comeToRest(): Promise<void> {
    this.note('heals');
    for (const end of this.#ends) end();
    this.targets.healAll();
    this.network.healAll();
    this.database.trouble = undefined;
    const untilUs = this.engine.nowUs + restsWithinUs;
    await this.engine.run(this.engine.nowUs + 8 * second, never);
    const missing = this.#deliveries.expectSynced();
    // The votes of before have ended, and whoever can be heard was heard.
    const restUs = this.engine.nowUs + 25 * second;
    const isAtRest = (): boolean => this.engine.nowUs >= restUs && this.#isAllTold(restUs) && missing().length === 0;
    for (; !isAtRest() && this.engine.nowUs < untilUs; ) await this.engine.run(this.engine.nowUs + second, never);
    if (missing().length > 0) throw new Violation('what was synced is stored', missing().join('; '));
    if (!this.#isAllTold(restUs)) {
      const told = this.database.locks.rows.map((row) => row.foldedUntilUs);
      throw new Violation('time goes on', `shards are told until ${told.join(', ')}`);
    }
    for (let shard = 0; shard < this.plan.shards; shard += 1) this.#toCompare.add(shard);
    await this.engine.run(untilUs, () => this.#toCompare.size === 0);
    if (this.#toCompare.size > 0) throw new Violation('time goes on', 'nobody writes any more');
    this.#verdicts.judgeAnnouncements();
  }

  #isAllTold(untilUs: number): boolean {
    return this.database.locks.rows.every(({ foldedUntilUs }) => (foldedUntilUs ?? 0) >= untilUs);
  }

  #committed(write: RoundWrite): void {
    noteRound(this.trace, this.engine.nowUs, write);
    this.#verdicts.judge(write);
    const { foldedUntilUs } = write;
    if (foldedUntilUs === undefined || !this.#knowsConfiguration(write)) return;
    const isDue = this.#toCompare.delete(write.shard) || this.engine.nowUs - this.#comparedUs >= compareEveryUs;
    if (!isDue) return;
    this.#comparedUs = this.engine.nowUs;
    this.#compared += 1;
    for (const monitor of this.database.configuration.monitors.values())
      if (monitor.shard === write.shard && !monitor.isDeleted) this.#verdicts.compare(monitor, foldedUntilUs);
  }

  /** Whether a round was made by an owner that had read everything that is configured. */
  #knowsConfiguration({ configuredUs }: RoundWrite): boolean {
    const { configuration } = this.database;
    return configuredUs > configuration.changedUs && !configuration.isChanging;
  }

  #hint(monitorIds: readonly number[], probeIds: readonly number[]): void {
    this.note('configured', monitorIds.join(','));
    const shards = new Set(monitorIds.map((id) => this.database.configuration.monitor(id).shard));
    // Hints may be lost.
    if (this.random.chance(0.3)) return;
    for (const shard of shards) this.broker.hint(configurationSubject(shard), {});
    for (const probeId of probeIds) this.broker.hint(dispatchSubject(probeId), { type: 'assignments' });
  }

  #diskHere(): Disk {
    const name = this.engine.current?.machine.name;
    const probe = this.probes.find(({ machine }) => machine.name === name);
    if (probe === undefined) throw new Error(`${name} has no disk`);
    return probe.disk;
  }

  /** A broken promise ends the world, whoever catches the error. */
  #promise(judge: () => void): void {
    try {
      judge();
    } catch (error) {
      this.engine.fail(error);
    }
  }
}

const never = (): boolean => false;

function errorText(fields: unknown): string {
  const error = (fields as { readonly err?: unknown } | undefined)?.err;
  return error instanceof Error ? error.message : '';
}

/** Who may say of a target what is not so. */
function excusedIn(plan: Plan): ReadonlySet<number> {
  const cutOff = plan.events.flatMap((event) =>
    event.kind === 'uplink_lost' || event.kind === 'asleep' || event.kind === 'power_lost' ? [event.probeId] : [],
  );
  return new Set([...cutOff, ...(plan.liar === undefined ? [] : [plan.liar.probeId])]);
}
