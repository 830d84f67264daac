import { EventEmitter } from 'node:events';
import type { Engine, Process } from '../engine/engine.ts';
import type { Network, Wire } from './network.ts';

/** What the server of a control plane does with a stream. */
export type SessionHandler = (call: ServerStream) => void;

/** The agent's end of a session's stream, as gRPC gives it. */
export class ClientStream extends EventEmitter {
  #wire: Wire | undefined;
  #peer: ServerStream | undefined;
  #isOver = false;
  #early: unknown[] = [];

  attach(wire: Wire, peer: ServerStream): void {
    this.#wire = wire;
    this.#peer = peer;
    for (const message of this.#early.splice(0)) this.write(message);
  }

  write(message: unknown): boolean {
    if (this.#isOver) return false;
    const peer = this.#peer;
    if (this.#wire === undefined || peer === undefined) this.#early.push(message);
    else this.#wire.send(1, () => peer.receive(message));
    return true;
  }

  cancel(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const peer = this.#peer;
    this.#wire?.send(1, () => peer?.lost());
    this.#wire?.close(0);
  }

  fail(code: number, details: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.emit('error', Object.assign(new Error(`${code}: ${details}`), { code, details }));
  }

  receive(message: unknown): void {
    if (!this.#isOver) this.emit('data', message);
  }
}

/** The control plane's end. */
export class ServerStream extends EventEmitter {
  readonly probeId: number;
  readonly writableLength = 0;
  readonly #wire: Wire;
  readonly #client: ClientStream;
  #isPaused = false;
  #isOver = false;
  #held: unknown[] = [];

  constructor(probeId: number, wire: Wire, client: ClientStream) {
    super();
    this.probeId = probeId;
    this.#wire = wire;
    this.#client = client;
  }

  write(message: unknown): boolean {
    if (!this.#isOver) this.#wire.send(0, () => this.#client.receive(message));
    return true;
  }

  pause(): this {
    this.#isPaused = true;
    return this;
  }

  resume(): this {
    this.#isPaused = false;
    for (const message of this.#held.splice(0)) this.emit('data', message);
    return this;
  }

  end(): void {
    this.#finish(14, 'the control plane ended the session');
  }

  getPeer(): string {
    return '203.0.113.7:1';
  }

  receive(message: unknown): void {
    if (this.#isOver) return;
    if (this.#isPaused || this.listenerCount('data') === 0) this.#held.push(message);
    else this.emit('data', message);
  }

  lost(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.emit('cancelled');
    this.emit('close');
  }

  /** An error that the server emits ends the stream with its code. */
  override emit(event: string, ...given: unknown[]): boolean {
    const isHeard = (event !== 'error' || this.listenerCount('error') > 0) && super.emit(event, ...given);
    if (event === 'error') {
      const { code = 13, details = '' } = (given[0] ?? {}) as { readonly code?: number; readonly details?: string };
      this.#finish(code, details);
    }
    return isHeard;
  }

  #finish(code: number, details: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const client = this.#client;
    this.#wire.send(0, () => client.fail(code, details));
  }
}

/** Where agents find the control planes that hold their sessions. */
export class SessionNetwork {
  readonly #engine: Engine;
  readonly #network: Network;
  readonly #servers = new Map<Process, SessionHandler>();
  /** The probe that a process is. */
  readonly probeOf = new Map<Process, number>();

  constructor(engine: Engine, network: Network) {
    this.#engine = engine;
    this.#network = network;
  }

  serve(handler: SessionHandler): void {
    const process = this.#engine.current;
    if (process === undefined) throw new Error('nobody serves sessions');
    this.#servers.set(process, handler);
    process.onEnd.push(() => this.#servers.delete(process));
  }

  /** Dials some control plane that takes connections. */
  dial(): ClientStream {
    const stream = new ClientStream();
    const client = this.#engine.current;
    if (client === undefined) throw new Error('nobody dials');
    const probeId = this.probeOf.get(client) ?? 0;
    const servers = [...this.#servers].filter(([process]) => process.isAlive);
    const chosen = servers.length === 0 ? undefined : client.random.pick(servers);
    const latencyUs = this.#network.latencyUs();
    if (chosen === undefined) {
      this.#engine.after(latencyUs, client, () => stream.fail(14, 'connection refused'));
      return stream;
    }
    const [server, handler] = chosen;
    // Where the way is cut, nothing comes back; the session gives up by itself.
    if (this.#network.isCut([client.machine.name, server.machine.name])) return stream;
    let call: ServerStream | undefined;
    const wire = this.#network.connect(
      { process: client, onBroken: () => stream.fail(14, 'the connection was lost') },
      { process: server, onBroken: () => call?.lost() },
    );
    const accepted = new ServerStream(probeId, wire, stream);
    call = accepted;
    wire.send(1, () => handler(accepted));
    stream.attach(wire, accepted);
    return stream;
  }
}
