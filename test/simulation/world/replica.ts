import type { CheckOutcome } from '@parallax/checks';
import type pg from 'pg';
import type { DatabasePool } from 'slonik';
import { createCentralRunner } from '../../../control-plane/src/monitoring/central-checks/index.ts';
import type { CentralRunner } from '../../../control-plane/src/monitoring/central-checks/index.ts';
import { startShard } from '../../../control-plane/src/monitoring/check-results/ingest/job.ts';
import type { RunningShard } from '../../../control-plane/src/monitoring/check-results/ingest/job.ts';
import { SessionGateway } from '../../../control-plane/src/monitoring/probes/sessions/gateway.ts';
import { connectBus } from '../../../control-plane/src/platform/bus/nats-bus.ts';
import { configurationSubject } from '../../../control-plane/src/platform/bus/subjects.ts';
import { Process } from '../engine/engine.ts';
import { Machine } from '../engine/machine.ts';
import type { Random } from '../engine/random.ts';
import type { World } from './world.ts';

const restartUs = 2_000_000;
const monitorOfUrl = (url: string): number => Number(/monitor-(\d+)/.exec(url)?.[1]);

/** A machine with a control plane on it: the owner of shards when it gets hold of them, and the home of sessions. */
export class ReplicaMachine {
  readonly name: string;
  readonly machine: Machine;
  process: Process | undefined;
  readonly #world: World;
  readonly #random: Random;
  #starts = 0;
  #stop: (() => Promise<void>) | undefined;

  constructor(world: World, index: number) {
    this.name = `replica ${index}`;
    this.#world = world;
    this.#random = world.random.fork(this.name);
    this.machine = new Machine({
      name: this.name,
      nowUs: world.engine.nowUs,
      rate: 1 + this.#random.between(-40, 40) / 1e6,
      wallOffsetUs: this.#random.between(-20_000, 20_000),
      uptimeUs: this.#random.between(60_000_000, 9_000_000_000),
      tellsSleep: true,
    });
  }

  start(): void {
    if (this.process?.isAlive === true) return;
    this.#starts += 1;
    const { engine } = this.#world;
    const process = new Process({
      name: this.name,
      machine: this.machine,
      random: this.#random.fork(`start ${this.#starts}`),
      nowUs: engine.nowUs,
    });
    this.process = process;
    process.onEnd.push(() => {
      this.#stop = undefined;
      this.#world.note('replica ended', this.name);
      engine.after(restartUs, undefined, () => {
        if (this.process === process) this.start();
      });
    });
    this.#world.note('replica starts', this.name);
    engine.after(0, process, () => {
      this.#run().catch((error: unknown) => engine.fail(error));
    });
  }

  kill(): void {
    if (this.process !== undefined) this.#world.engine.kill(this.process);
  }

  /** Ends it as its service manager does. */
  restart(): void {
    const { process } = this;
    const stop = this.#stop;
    if (process === undefined || stop === undefined) return;
    this.#world.engine.after(0, process, () => {
      void stop().then(() => this.#world.engine.kill(process));
    });
  }

  async #run(): Promise<void> {
    const world = this.#world;
    const { database, plan, engine } = world;
    const log = world.replicaLogger(this.name);
    const bus = await connectBus({ servers: 'broker', name: this.name, log });
    // Every replica keeps its distance to the clock of the database; it is not exact.
    const offsetMs = this.#random.between(-2_000, 2_000) / 1_000;
    const now = (): number => engine.nowUs / 1_000 + offsetMs;
    const pool = { query: (text: string, values?: unknown[]) => database.query(text, values) };
    const central = plan.hasCentral ? this.#centralRunner(bus.connection, now) : undefined;
    const shards: RunningShard[] = [];
    for (let shard = 0; shard < plan.shards; shard += 1) {
      const running = startShard({
        shard,
        shards: plan.shards,
        replica: this.name,
        openClient: () => database.connect() as unknown as Promise<pg.Client>,
        reader: pool as unknown as pg.Pool,
        connection: bus.connection,
        bus,
        log,
        now,
        claimEveryMs: 1_500,
        limits: { pollMs: plan.pollMs, idleMs: 2_000, probesMs: 30_000 },
        central,
        onCommitted: undefined,
      });
      bus.listen(configurationSubject(shard), running.hint);
      shards.push(running);
    }
    const gateway = new SessionGateway({
      pool: pool as unknown as DatabasePool,
      bus,
      sealer: undefined as never,
      natsAuthority: { mintProbeJwt: () => 'jwt' },
      replica: this.name,
      shards: plan.shards,
      brokerAddress: 'broker:1',
      deniedListeners: () => [],
      allowedPrivateTargets: [],
      now,
      log,
      limits: { pollMs: Math.max(1_500, plan.pollMs), reportMs: 10_000 },
    });
    gateway.addTo({
      addService: (_service: unknown, { session }: { session: never }) => world.sessions.serve(session),
    } as never);
    gateway.start();
    this.#stop = async () => {
      await gateway.stop();
      await Promise.all(shards.map((shard) => shard.stop()));
      await central?.stop();
      await bus.close();
    };
  }

  #centralRunner(connection: object, now: () => number): CentralRunner {
    const world = this.#world;
    return createCentralRunner({
      context: {
        sealer: undefined as never,
        now,
        database: { raw: undefined as never },
        bus: { connection: connection as never },
      },
      check: async (monitor): Promise<{ startedMs: number; outcome: CheckOutcome; trace: [] }> => {
        const startedMs = now();
        const place = { probeId: 0, region: 'central', machine: this.machine.name };
        const outcome = await world.targets.check(place, monitorOfUrl(monitor.url), monitor.timeoutS);
        return { startedMs, outcome, trace: [] };
      },
      log: world.replicaLogger(this.name),
    });
  }
}
