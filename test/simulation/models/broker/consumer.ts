import type { Engine, Process, Task } from '../../engine/engine.ts';
import { matches } from './stream.ts';
import type { StoredMessage, StreamStore } from './stream.ts';

export type ConsumerConfig = {
  readonly durable_name: string;
  readonly filter_subject: string;
  readonly ack_policy: 'explicit' | 'all' | 'none';
  readonly ack_wait: number;
  readonly max_ack_pending: number;
};

/** Somebody who asked for messages. */
export type Pull = {
  left: number;
  readonly deliver: (message: StoredMessage, reply: string) => void;
  readonly status: (code: number, description: string, pending: number) => void;
  /** Its client is gone. */
  readonly isGone: () => boolean;
  expiry: Task | undefined;
};

type Pending = { message: StoredMessage; task: Task | undefined };

/**
 * A durable pull consumer: hands out each message once, and once more when it was not acknowledged in time. What comes again has no
 * place in the order: later messages may have gone out before it.
 */
export class Consumer {
  readonly config: ConsumerConfig;
  readonly #engine: Engine;
  readonly #process: () => Process;
  readonly #store: StreamStore;
  #nextSeq = 1;
  readonly #pending = new Map<number, Pending>();
  #again: StoredMessage[] = [];
  #pulls: Pull[] = [];
  #deliveries = 0;

  constructor(options: {
    readonly engine: Engine;
    readonly process: () => Process;
    readonly store: StreamStore;
    readonly config: ConsumerConfig;
  }) {
    this.#engine = options.engine;
    this.#process = options.process;
    this.#store = options.store;
    this.config = options.config;
  }

  get waiting(): number {
    return this.#store.matching(this.config.filter_subject).filter(({ seq }) => seq >= this.#nextSeq).length;
  }

  pull(batch: number, expiresUs: number, pull: Omit<Pull, 'left' | 'expiry'>): void {
    const waiting: Pull = { ...pull, left: batch, expiry: undefined };
    waiting.expiry = this.#engine.after(expiresUs, this.#process(), () => {
      if (!this.#pulls.includes(waiting)) return;
      this.#drop(waiting);
      waiting.status(408, 'Request Timeout', waiting.left);
    });
    this.#pulls.push(waiting);
    this.serve();
  }

  /** Something may be there for who waits. */
  serve(): void {
    for (const pull of this.#pulls) if (pull.isGone()) this.#drop(pull);
    for (let pull = this.#pulls[0]; pull !== undefined; pull = this.#pulls[0]) {
      if (this.#pending.size >= this.config.max_ack_pending) return;
      const message = this.#next();
      if (message === undefined) return;
      this.#expect(message);
      this.#deliveries += 1;
      pull.left -= 1;
      pull.deliver(message, `$JS.ACK.${this.config.durable_name}.${message.seq}.${this.#deliveries}`);
      if (pull.left === 0) this.#drop(pull);
    }
  }

  /** Gives the sequence numbers that are done with by it. */
  acknowledged(seq: number): number[] {
    const done = this.config.ack_policy === 'all' ? [...this.#pending.keys()].filter((each) => each <= seq) : [seq];
    return done.filter((each) => {
      const pending = this.#pending.get(each);
      if (pending === undefined) return this.#again.some((message) => message.seq === each) && this.#forgetAgain(each);
      if (pending.task !== undefined) pending.task.run = undefined;
      return this.#pending.delete(each);
    });
  }

  /** The server begins anew: what was out stays out until its time is over, who waited is gone. */
  restart(): void {
    this.#pulls = [];
    this.#nextSeq = Math.min(this.#nextSeq, this.#store.nextSeq);
    for (const pending of this.#pending.values()) {
      if (pending.task !== undefined) pending.task.run = undefined;
      this.#expire(pending);
    }
  }

  /** It is deleted: who waits is told. */
  end(): void {
    for (const pull of this.#pulls.slice()) {
      this.#drop(pull);
      pull.status(409, 'Consumer Deleted', pull.left);
    }
    for (const { task } of this.#pending.values()) if (task !== undefined) task.run = undefined;
    this.#pending.clear();
  }

  #next(): StoredMessage | undefined {
    for (let message = this.#again.shift(); message !== undefined; message = this.#again.shift())
      if (this.#store.messages.has(message.seq)) return message;
    for (const message of this.#store.messages.values()) {
      if (message.seq < this.#nextSeq || !matches(this.config.filter_subject, message.subject)) continue;
      this.#nextSeq = message.seq + 1;
      return message;
    }
    return undefined;
  }

  #expect(message: StoredMessage): void {
    const pending: Pending = { message, task: undefined };
    this.#pending.set(message.seq, pending);
    this.#expire(pending);
  }

  #expire(pending: Pending): void {
    pending.task = this.#engine.after(this.config.ack_wait / 1_000, this.#process(), () => {
      this.#pending.delete(pending.message.seq);
      this.#again.push(pending.message);
      this.serve();
    });
  }

  #forgetAgain(seq: number): boolean {
    this.#again = this.#again.filter((message) => message.seq !== seq);
    return true;
  }

  #drop(pull: Pull): void {
    if (pull.expiry !== undefined) pull.expiry.run = undefined;
    this.#pulls = this.#pulls.filter((other) => other !== pull);
  }
}
