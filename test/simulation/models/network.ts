import type { Engine, Process } from '../engine/engine.ts';
import type { Random } from '../engine/random.ts';

/** One end of a connection. */
type End = { readonly process: Process; readonly onBroken: () => void; isBroken: boolean; lastUs: number };

/** A silent peer is given up after this: pings of NATS and gRPC notice within 20 s. */
const silentUs = 20_000_000;

/**
 * A connection as TCP makes it: everything arrives once and in order, or the connection breaks. While the way is cut, what was sent waits.
 */
export class Wire {
  readonly #network: Network;
  readonly #ends: readonly [End, End];
  #held: (() => void)[] = [];

  readonly #isLocal: boolean;

  /** @param isLocal within one data centre: a tenth of the time */
  constructor(
    network: Network,
    isLocal: boolean,
    first: { readonly process: Process; readonly onBroken: () => void },
    second: { readonly process: Process; readonly onBroken: () => void },
  ) {
    this.#network = network;
    this.#isLocal = isLocal;
    this.#ends = [
      { ...first, isBroken: false, lastUs: 0 },
      { ...second, isBroken: false, lastUs: 0 },
    ];
    for (const end of this.#ends) end.process.onEnd.push(() => this.#ended(end));
  }

  get between(): readonly [string, string] {
    return [this.#ends[0].process.machine.name, this.#ends[1].process.machine.name];
  }

  get isBroken(): boolean {
    return this.#ends[0].isBroken && this.#ends[1].isBroken;
  }

  /** Has something happen at one end, after what was sent there before. */
  send(to: 0 | 1, arrive: () => void): void {
    const transmit = (): void => {
      const end = this.#ends[to];
      const { engine } = this.#network;
      const atUs = Math.max(end.lastUs, engine.nowUs + this.#latencyUs());
      end.lastUs = atUs;
      engine.after(atUs - engine.nowUs, end.process, () => {
        if (!end.isBroken) arrive();
      });
    };
    if (this.#network.isCut(this.between)) this.#held.push(transmit);
    else transmit();
  }

  /** One end closes it; the other hears of it when the way is open. */
  close(from: 0 | 1): void {
    const own = this.#ends[from];
    if (own.isBroken) return;
    own.isBroken = true;
    this.#tell(1 - from);
  }

  /** The way is open again. */
  heal(): void {
    for (const transmit of this.#held.splice(0)) transmit();
  }

  /** Nothing was heard for long: the end that runs gives it up, and the other learns so as soon as it runs again. */
  giveUp(): void {
    for (const end of this.#ends) this.#breakAt(end, 0);
    this.#held = [];
  }

  #ended(end: End): void {
    end.isBroken = true;
    // Without power nobody says goodbye.
    if (this.#network.isDark(end.process.machine.name)) return;
    this.#tell(this.#ends[0] === end ? 1 : 0);
  }

  #tell(index: number): void {
    const other = this.#ends[index];
    if (other === undefined) return;
    const tell = (): void => this.#breakAt(other, this.#latencyUs());
    if (this.#network.isCut(this.between)) this.#held.push(tell);
    else tell();
  }

  #latencyUs(): number {
    return this.#isLocal ? Math.round(this.#network.latencyUs() / 10) : this.#network.latencyUs();
  }

  #breakAt(end: End, afterUs: number): void {
    if (end.isBroken) return;
    const { engine } = this.#network;
    end.lastUs = Math.max(end.lastUs, engine.nowUs + afterUs);
    engine.after(end.lastUs - engine.nowUs, end.process, () => {
      if (end.isBroken) return;
      end.isBroken = true;
      end.onBroken();
    });
  }
}

/** The ways between machines: how long they take, and which are cut. */
export class Network {
  readonly engine: Engine;
  readonly #random: Random;
  readonly #cuts = new Map<string, number>();
  readonly #dark = new Set<string>();
  #wires: Wire[] = [];

  constructor(engine: Engine, random: Random) {
    this.engine = engine;
    this.#random = random;
  }

  latencyUs(): number {
    const random = this.#random;
    return random.chance(0.01) ? random.between(20_000, 400_000) : random.between(200, 20_000);
  }

  isCut([one, other]: readonly [string, string]): boolean {
    if (this.#dark.size > 0 && (this.#dark.has(one) || this.#dark.has(other))) return true;
    if (this.#cuts.size === 0) return false;
    return (this.#cuts.get(`${one}|${other}`) ?? 0) + (this.#cuts.get(`${other}|${one}`) ?? 0) > 0;
  }

  /** Without power: not even a refusal comes from it. */
  isDark(machine: string): boolean {
    return this.#dark.has(machine);
  }

  connect(
    first: { readonly process: Process; readonly onBroken: () => void },
    second: { readonly process: Process; readonly onBroken: () => void },
    isLocal = false,
  ): Wire {
    const wire = new Wire(this, isLocal, first, second);
    if (this.#wires.length > 200) this.#wires = this.#wires.filter((each) => !each.isBroken);
    this.#wires.push(wire);
    return wire;
  }

  cut(one: string, other: string): void {
    const key = `${one}|${other}`;
    this.#cuts.set(key, (this.#cuts.get(key) ?? 0) + 1);
    this.engine.after(silentUs, undefined, () => {
      for (const wire of this.#between(one, other)) if (this.isCut(wire.between)) wire.giveUp();
    });
  }

  heal(one: string, other: string): void {
    const key = `${one}|${other}`;
    const left = (this.#cuts.get(key) ?? 0) - 1;
    if (left > 0) this.#cuts.set(key, left);
    else this.#cuts.delete(key);
    for (const wire of this.#between(one, other)) if (!this.isCut(wire.between)) wire.heal();
  }

  /** A machine falls silent without a word: its peers notice after a while. */
  silence(machine: string, isStill: () => boolean): void {
    const wires = this.#of(machine);
    this.engine.after(silentUs, undefined, () => {
      if (isStill()) for (const wire of wires) wire.giveUp();
    });
  }

  losePower(machine: string): void {
    this.#dark.add(machine);
    this.silence(machine, () => true);
  }

  /** With power again; whoever still believes in an old connection is told that there is none. */
  power(machine: string): void {
    this.#dark.delete(machine);
    for (const wire of this.#of(machine)) wire.giveUp();
  }

  /** Nothing is cut any more. */
  healAll(): void {
    this.#cuts.clear();
    for (const wire of this.#wires) if (!this.isCut(wire.between)) wire.heal();
  }

  #between(one: string, other: string): Wire[] {
    return this.#wires.filter(({ between: [a, b] }) => (a === one && b === other) || (a === other && b === one));
  }

  #of(machine: string): Wire[] {
    return this.#wires.filter(({ between: [a, b] }) => a === machine || b === machine);
  }
}
