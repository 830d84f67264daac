import { Process } from '../../engine/engine.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Machine } from '../../engine/machine.ts';
import type { Random } from '../../engine/random.ts';
import type { Network, Wire } from '../network.ts';
import { Consumer } from './consumer.ts';
import type { ConsumerConfig } from './consumer.ts';
import { matches, StreamStore } from './stream.ts';
import type { StreamConfig } from './stream.ts';

/** A message on its way to a client. */
export type Delivered = {
  readonly subject: string;
  readonly data: Uint8Array;
  readonly reply: string | undefined;
  readonly status: { readonly code: number; readonly description: string; readonly pending: number } | undefined;
};

/** A client as the server sees it. */
export type ClientLink = {
  readonly wire: Wire;
  isGone: boolean;
  /** Subjects it listens to. */
  readonly subjects: Set<string>;
  /** @param to the subscription that it goes to */
  readonly deliver: (to: string, message: Delivered) => void;
};

/** An answer of the JetStream API. */
export type ApiAnswer = { readonly value?: unknown; readonly error?: 'stream_not_found' | 'no_responders' | 'full' };

const decoder = new TextDecoder();
const encoder = new TextEncoder();

const noResponders = (subject: string): Delivered => ({
  subject,
  data: new Uint8Array(),
  reply: undefined,
  status: { code: 503, description: 'No Responders', pending: 0 },
});

/** To the first subscription of a client that means its subject. False when it has none. */
function deliver(client: ClientLink, message: Delivered): boolean {
  for (const pattern of client.subjects) {
    if (!matches(pattern, message.subject)) continue;
    client.deliver(pattern, message);
    return true;
  }
  return false;
}

/** A nats-server with JetStream, as far as results travel by it. Its store survives it, or not. */
export class BrokerServer {
  readonly engine: Engine;
  readonly network: Network;
  readonly machine: Machine;
  readonly #random: Random;
  process: Process;
  #stream: StreamStore | undefined;
  #consumers = new Map<string, Consumer>();
  #clients = new Set<ClientLink>();
  /** Told of each message that it has taken into its store. */
  onStored: ((subject: string, data: Uint8Array) => void) | undefined;

  constructor(options: {
    readonly engine: Engine;
    readonly network: Network;
    readonly machine: Machine;
    readonly random: Random;
  }) {
    this.engine = options.engine;
    this.network = options.network;
    this.machine = options.machine;
    this.#random = options.random;
    this.process = this.#newProcess();
    this.#syncSometimes();
  }

  get isUp(): boolean {
    return this.process.isAlive;
  }

  /** Messages that nobody has acknowledged. */
  get unread(): number {
    return this.#stream?.messages.size ?? 0;
  }

  /** Ends it at once. @param isLossy the machine dies with it: some of what was not synced is gone */
  kill(isLossy: boolean): void {
    this.engine.kill(this.process);
    if (isLossy && this.#stream !== undefined) this.#stream.takeBack(this.#random.between(0, this.#stream.unsynced));
  }

  start(): void {
    if (this.isUp) return;
    this.process = this.#newProcess();
    for (const consumer of this.#consumers.values()) consumer.restart();
    this.#syncSometimes();
  }

  /** Puts the store of a server that is down back to some earlier state. */
  rollBack(): void {
    if (this.#stream !== undefined) this.#stream.takeBack(this.#random.between(0, this.#stream.operations));
  }

  /** Empties the store of a server that is down. */
  wipe(): void {
    this.#stream = undefined;
    this.#consumers.clear();
  }

  attach(link: ClientLink): void {
    this.#clients.add(link);
  }

  detach(link: ClientLink): void {
    link.isGone = true;
    this.#clients.delete(link);
  }

  /** A message that a client has sent: an acknowledgement, a pull, something for the stream, or for whoever listens. */
  published(link: ClientLink, subject: string, data: Uint8Array, reply: string | undefined): void {
    if (subject.startsWith('$JS.ACK.')) this.#acknowledge(subject);
    else if (subject.startsWith('$JS.API.CONSUMER.MSG.NEXT.')) this.#pull(link, subject, data, reply ?? '');
    else if (this.#stream?.takes(subject) === true) this.#takeIn(link, subject, data, reply);
    else if (!this.#pass(subject, data, reply) && reply !== undefined) deliver(link, noResponders(reply));
  }

  /** Hands a message to everybody who listens to its subject. False when nobody does. */
  #pass(subject: string, data: Uint8Array, reply: string | undefined): boolean {
    let isHeard = false;
    for (const client of this.#clients) {
      const message = { subject, data, reply, status: undefined };
      if (deliver(client, message)) isHeard = true;
    }
    return isHeard;
  }

  #takeIn(link: ClientLink, subject: string, data: Uint8Array, reply: string | undefined): void {
    const { error, value } = this.store(subject, data);
    if (reply === undefined) return;
    const answer = error === undefined ? value : { error: { code: 400, description: error } };
    deliver(link, {
      subject: reply,
      data: encoder.encode(JSON.stringify(answer)),
      reply: undefined,
      status: undefined,
    });
  }

  /** Takes a message into the stream that has its subject. */
  store(subject: string, data: Uint8Array): ApiAnswer {
    const stream = this.#stream;
    if (stream === undefined || !stream.takes(subject)) return { error: 'no_responders' };
    if (stream.isFull(subject)) return { error: 'full' };
    const { seq } = stream.add(subject, data);
    this.onStored?.(subject, data);
    for (const consumer of this.#consumers.values()) consumer.serve();
    return { value: { stream: stream.config.name, seq } };
  }

  /** What somebody beside the modelled processes tells all who listen. */
  hint(subject: string, message: unknown): void {
    if (!this.isUp) return;
    this.engine.after(0, this.process, () => this.#pass(subject, encoder.encode(JSON.stringify(message)), undefined));
  }

  streamInfo(): ApiAnswer {
    return this.#stream === undefined ? { error: 'stream_not_found' } : { value: { config: this.#stream.config } };
  }

  addStream(config: StreamConfig): ApiAnswer {
    this.#stream ??= new StreamStore(config);
    return { value: {} };
  }

  updateStream(config: Partial<StreamConfig>): ApiAnswer {
    if (this.#stream === undefined) return { error: 'stream_not_found' };
    this.#stream.config = { ...this.#stream.config, ...config };
    return { value: {} };
  }

  deleteConsumer(name: string): ApiAnswer {
    this.#consumers.get(name)?.end();
    this.#consumers.delete(name);
    return { value: {} };
  }

  addConsumer(config: ConsumerConfig): ApiAnswer {
    const store = this.#stream;
    if (store === undefined) return { error: 'stream_not_found' };
    let consumer = this.#consumers.get(config.durable_name);
    if (consumer === undefined) {
      consumer = new Consumer({ engine: this.engine, process: () => this.process, store, config });
      this.#consumers.set(config.durable_name, consumer);
    }
    return { value: { num_pending: consumer.waiting } };
  }

  #pull(link: ClientLink, subject: string, data: Uint8Array, reply: string): void {
    const status = (code: number, description: string, pending: number): void =>
      link.deliver(reply, {
        subject: reply,
        data: new Uint8Array(),
        reply: undefined,
        status: { code, description, pending },
      });
    const consumer = this.#consumers.get(subject.split('.').at(-1) ?? '');
    if (consumer === undefined) {
      status(503, 'No Responders', 0);
      return;
    }
    const request = JSON.parse(decoder.decode(data)) as { readonly batch: number; readonly expires: number };
    consumer.pull(request.batch, request.expires / 1_000, {
      deliver: (message, ackSubject) =>
        link.deliver(reply, {
          subject: message.subject,
          data: message.data,
          reply: ackSubject,
          status: undefined,
        }),
      status,
      isGone: () => link.isGone,
    });
  }

  #acknowledge(subject: string): void {
    const [, , name, seq] = subject.split('.');
    const consumer = this.#consumers.get(name ?? '');
    if (consumer === undefined) return;
    for (const done of consumer.acknowledged(Number(seq))) this.#stream?.remove(done);
  }

  #newProcess(): Process {
    const process = new Process({
      name: 'broker',
      machine: this.machine,
      random: this.#random.fork('process'),
      nowUs: this.engine.nowUs,
    });
    this.#clients = new Set();
    return process;
  }

  /** The server syncs its store every now and then; the period is long, so that much can be lost. */
  #syncSometimes(): void {
    this.engine.after(this.#random.between(5_000_000, 120_000_000), this.process, () => {
      this.#stream?.sync();
      this.#syncSometimes();
    });
  }
}
