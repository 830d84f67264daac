import { Buffer } from 'node:buffer';
import { startAgent } from '../../../probe-agent/src/agent.ts';
import type { Agent } from '../../../probe-agent/src/agent.ts';
import type { Identity } from '../../../probe-agent/src/state/identity.ts';
import { Process } from '../engine/engine.ts';
import { Machine } from '../engine/machine.ts';
import type { Random } from '../engine/random.ts';
import { Disk } from '../models/disk.ts';
import type { ProbePlan } from './plan.ts';
import type { World } from './world.ts';

/** Who starts the agent again waits for so long. */
const restartUs = 3_000_000;

/** A machine with an agent on it that is started again whenever it ends, as a service manager does. */
export class ProbeMachine {
  readonly plan: ProbePlan;
  readonly machine: Machine;
  readonly disk: Disk;
  readonly signingSeed: Uint8Array;
  process: Process | undefined;
  #agent: Agent | undefined;
  readonly #world: World;
  readonly #random: Random;
  #starts = 0;
  /** Nobody starts it: without power, or on purpose. */
  #isDown = true;
  /** Causes for which it has no power now. */
  #powerCuts = 0;

  constructor(world: World, plan: ProbePlan) {
    this.plan = plan;
    this.#world = world;
    this.#random = world.random.fork(`probe ${plan.id}`);
    this.machine = new Machine({
      name: `probe ${plan.id}`,
      nowUs: world.engine.nowUs,
      rate: plan.rate,
      wallOffsetUs: plan.wallOffsetUs,
      uptimeUs: this.#random.between(60_000_000, 9_000_000_000),
      tellsSleep: plan.tellsSleep,
    });
    this.disk = new Disk(world.engine, this.#random.fork('disk'));
    this.signingSeed = Buffer.from(Array.from({ length: 32 }, () => this.#random.between(0, 255)));
  }

  /** True while an agent runs that has what it needs. */
  get isRunning(): boolean {
    return this.#agent !== undefined;
  }

  start(): void {
    this.#isDown = false;
    if (this.process?.isAlive === true) return;
    this.#starts += 1;
    const { engine, sessions } = this.#world;
    const process = new Process({
      name: `agent ${this.plan.id}`,
      machine: this.machine,
      random: this.#random.fork(`start ${this.#starts}`),
      nowUs: engine.nowUs,
    });
    this.process = process;
    sessions.probeOf.set(process, this.plan.id);
    process.onEnd.push(() => this.#ended(process));
    this.#world.note('agent starts', this.plan.id);
    engine.after(0, process, () => {
      this.#run(process).catch((error: unknown) => {
        this.#world.note('agent fails', this.plan.id, String(error));
        engine.kill(process);
      });
    });
  }

  /** Ends the agent at once; it is started again. */
  kill(): void {
    if (this.process !== undefined) this.#world.engine.kill(this.process);
  }

  /** Ends the agent as the service manager does, and starts it again. */
  restart(): void {
    const { process } = this;
    const agent = this.#agent;
    if (process === undefined || agent === undefined) return;
    this.#world.engine.after(0, process, () => {
      void agent.stop().then(() => this.#world.engine.kill(process));
    });
  }

  losePower(): void {
    this.#powerCuts += 1;
    if (this.#powerCuts > 1) return;
    this.#isDown = true;
    this.#world.network.losePower(this.machine.name);
    this.kill();
    this.disk.losePower();
  }

  regainPower(): void {
    this.#powerCuts -= 1;
    if (this.#powerCuts > 0) return;
    this.machine.boot(this.#world.engine.nowUs);
    this.#world.network.power(this.machine.name);
    this.start();
  }

  sleep(): void {
    this.machine.sleep(this.#world.engine.nowUs);
    this.#world.network.silence(this.machine.name, () => this.machine.isAsleep);
  }

  wake(): void {
    this.machine.wake(this.#world.engine.nowUs);
    if (this.process !== undefined) this.#world.engine.release(this.process);
  }

  async #run(process: Process): Promise<void> {
    const world = this.#world;
    const { plan } = this;
    const identity: Identity = {
      probeId: plan.id,
      name: `probe ${plan.id}`,
      region: plan.region,
      keyPem: '',
      certificateDer: new Uint8Array(),
      authorityDer: new Uint8Array(),
      signingSeed: this.signingSeed,
      sessionAddress: 'control-plane:1',
      enrolmentAddress: '',
      brokerAddress: 'broker:1',
    };
    this.#agent = await startAgent({
      stateDir: '/state',
      identity,
      bootId: this.machine.bootId,
      capabilities: [],
      publicAddresses: [],
      maxInFlight: 20,
      canaries: plan.hasCanary ? ['canary:1'] : [],
      check: (assignment) =>
        world.targets.check(
          { probeId: plan.id, region: plan.region, machine: this.machine.name },
          assignment.monitorId,
          assignment.timeoutSeconds,
        ),
      denyListeners: () => undefined,
      logger: world.agentLogger(plan.id),
      onFatal: (error) => {
        world.note('agent gives up', plan.id, error.message);
        world.engine.after(0, undefined, () => world.engine.kill(process));
      },
      brokerTls: false,
    });
  }

  #ended(process: Process): void {
    if (this.process === process) this.#agent = undefined;
    this.#world.note('agent ended', this.plan.id);
    this.#world.engine.after(restartUs, undefined, () => {
      if (!this.#isDown && this.process === process) this.start();
    });
  }
}
