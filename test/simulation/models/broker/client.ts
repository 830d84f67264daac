import type { Process } from '../../engine/engine.ts';
import type { BrokerServer, ApiAnswer, ClientLink, Delivered } from './server.ts';

export type ClientStatus = { readonly type: 'disconnect' | 'reconnect' | 'close' };
type Callback = (error: Error | null, message: ClientMessage) => void;

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const bytesOf = (data: Uint8Array | string | undefined): Uint8Array =>
  typeof data === 'string' ? encoder.encode(data) : (data ?? new Uint8Array());

/** A message as the library of NATS hands it out. */
class ClientMessage {
  readonly subject: string;
  readonly data: Uint8Array;
  readonly reply: string | undefined;
  readonly headers:
    | { readonly code: number; readonly description: string; readonly get: (name: string) => string }
    | undefined;

  constructor({ subject, data, reply, status }: Delivered) {
    this.subject = subject;
    this.data = data;
    this.reply = reply;
    this.headers =
      status === undefined
        ? undefined
        : {
            code: status.code,
            description: status.description,
            get: (name) => (name === 'Nats-Pending-Messages' ? String(status.pending) : ''),
          };
  }

  json(): unknown {
    return JSON.parse(decoder.decode(this.data));
  }

  respond(): boolean {
    return false;
  }
}

/** Statuses for `for await`, until they are stopped. */
class Statuses implements AsyncIterable<ClientStatus> {
  #queue: ClientStatus[] = [];
  #wake: (() => void) | undefined;
  #isOver = false;

  add(status: ClientStatus): void {
    this.#queue.push(status);
    this.#wake?.();
  }

  stop(): void {
    this.#isOver = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ClientStatus> {
    for (;;) {
      for (const status of this.#queue.splice(0)) yield status;
      if (this.#isOver) return;
      if (this.#queue.length === 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}

export type ClientOptions = { readonly reconnect?: boolean; readonly waitOnFirstConnect?: boolean };

const redialUs = { least: 250_000, most: 500_000 } as const;

/** A connection to the broker as the library of NATS gives it to one process. */
export class BrokerClient {
  readonly #server: BrokerServer;
  readonly #process: Process;
  readonly #options: ClientOptions;
  readonly #subscriptions = new Map<string, Set<Callback>>();
  readonly #statuses = new Set<Statuses>();
  #link: ClientLink | undefined;
  /** Sent once there is a connection again, as the library does. */
  #outbox: ((link: ClientLink) => void)[] = [];
  #isClosed = false;
  #settleClosed: (error: Error | undefined) => void = () => undefined;
  readonly #closed: Promise<Error | undefined>;
  /** Requests that wait for an answer; with the connection goes every answer. */
  readonly #lost = new Set<() => void>();

  private constructor(server: BrokerServer, process: Process, options: ClientOptions) {
    this.#server = server;
    this.#process = process;
    this.#options = options;
    this.#closed = new Promise((resolve) => {
      this.#settleClosed = resolve;
    });
  }

  static async connect(server: BrokerServer, options: ClientOptions): Promise<BrokerClient> {
    const process = server.engine.current;
    if (process === undefined) throw new Error('nobody connects to the broker');
    const client = new BrokerClient(server, process, options);
    for (;;) {
      await server.engine.pause(server.network.latencyUs());
      if (client.#dial()) return client;
      if (options.waitOnFirstConnect !== true) throw new Error('the broker refuses connections');
      await client.#waitToRedial();
    }
  }

  status(): Statuses {
    const statuses = new Statuses();
    this.#statuses.add(statuses);
    return statuses;
  }

  closed(): Promise<Error | undefined> {
    return this.#closed;
  }

  isClosed(): boolean {
    return this.#isClosed;
  }

  async close(): Promise<void> {
    const link = this.#link;
    this.#link = undefined;
    if (link !== undefined) {
      link.wire.send(1, () => this.#server.detach(link));
      link.wire.close(0);
    }
    this.#end(undefined);
  }

  async drain(): Promise<void> {
    await this.#server.engine.pause(this.#server.network.latencyUs());
  }

  publish(subject: string, data?: Uint8Array | string, options: { readonly reply?: string } = {}): void {
    if (this.#isClosed) throw new Error('closed connection');
    const bytes = bytesOf(data);
    this.#send((link) => this.#server.published(link, subject, bytes, options.reply));
  }

  subscribe(subject: string, { callback }: { readonly callback: Callback }): { readonly unsubscribe: () => void } {
    const callbacks = this.#subscriptions.get(subject) ?? new Set();
    this.#subscriptions.set(subject, callbacks.add(callback));
    this.#send((link) => link.subjects.add(subject));
    return {
      unsubscribe: () => {
        callbacks.delete(callback);
        if (callbacks.size > 0) return;
        this.#subscriptions.delete(subject);
        if (!this.#isClosed) this.#send((link) => link.subjects.delete(subject));
      },
    };
  }

  async request(): Promise<never> {
    throw new Error('nobody answers');
  }

  /** Asks the server; rejects when the answer does not come in time or the connection breaks. */
  ask(timeoutMs: number, perform: (server: BrokerServer) => ApiAnswer): Promise<ApiAnswer> {
    return new Promise((resolve, reject) => {
      const over = (message: string): void => {
        clearTimeout(timer);
        this.#lost.delete(lose);
        reject(new Error(message));
      };
      const lose = (): void => over('the connection was lost');
      const timer = setTimeout(() => over('timeout'), timeoutMs);
      this.#lost.add(lose);
      this.#send((link) => {
        const answer = perform(this.#server);
        link.wire.send(0, () => {
          clearTimeout(timer);
          this.#lost.delete(lose);
          resolve(answer);
        });
      });
    });
  }

  #send(arrive: (link: ClientLink) => void): void {
    const link = this.#link;
    if (link === undefined) this.#outbox.push(arrive);
    else link.wire.send(1, () => arrive(link));
  }

  #dial(): boolean {
    const server = this.#server;
    const between = [this.#process.machine.name, server.machine.name] as const;
    if (!server.isUp || server.process.isStopped || server.network.isCut(between)) return false;
    const wire = server.network.connect(
      { process: this.#process, onBroken: () => this.#broken(link) },
      { process: server.process, onBroken: () => server.detach(link) },
    );
    const link: ClientLink = {
      wire,
      isGone: false,
      subjects: new Set(),
      deliver: (to, message) => wire.send(0, () => this.#receive(to, message)),
    };
    this.#link = link;
    wire.send(1, () => server.attach(link));
    for (const subject of this.#subscriptions.keys()) this.#send((attached) => attached.subjects.add(subject));
    for (const arrive of this.#outbox.splice(0)) this.#send(arrive);
    return true;
  }

  #broken(link: ClientLink): void {
    if (this.#link !== link) return;
    this.#link = undefined;
    for (const lose of this.#lost) lose();
    this.#tell({ type: 'disconnect' });
    if (this.#options.reconnect === true) void this.#redial();
    else this.#end(new Error('the connection was lost'));
  }

  async #redial(): Promise<void> {
    while (!this.#isClosed) {
      await this.#waitToRedial();
      if (this.#isClosed || this.#link !== undefined) return;
      if (this.#dial()) {
        this.#tell({ type: 'reconnect' });
        return;
      }
    }
  }

  #waitToRedial(): Promise<void> {
    return this.#server.engine.pause(this.#process.random.between(redialUs.least, redialUs.most));
  }

  #receive(to: string, message: Delivered): void {
    for (const callback of this.#subscriptions.get(to) ?? []) callback(null, new ClientMessage(message));
  }

  #tell(status: ClientStatus): void {
    for (const statuses of this.#statuses) statuses.add(status);
  }

  #end(error: Error | undefined): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const lose of this.#lost) lose();
    for (const statuses of this.#statuses) statuses.stop();
    this.#settleClosed(error);
  }
}
