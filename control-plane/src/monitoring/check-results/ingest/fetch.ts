import { AckPolicy, DeliverPolicy, jetstreamManager } from '@nats-io/jetstream';
import type { JetStreamManager } from '@nats-io/jetstream';
import { createInbox } from '@nats-io/transport-node';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import type { Logger } from '@parallax/telemetry';
import { resultsStream } from '../../../platform/bus/results-stream.ts';

/** A message as the broker handed it out. `settle` tells the broker that it is done with, or that it must never come again. */
export type Fetched = {
  readonly subject: string;
  readonly data: Uint8Array;
  readonly settle: (verdict: 'done' | 'never') => void;
};

export type FetcherOptions = {
  readonly connection: NatsConnection;
  readonly shard: number;
  readonly log: Logger;
  /** Runs before each time the consumer is made: brings the stream up to date, and throws when the shard is not ours any more. */
  readonly beforeOpening: () => Promise<void>;
  readonly onMessage: (message: Fetched) => void;
  /** The consumer was made; so many messages were waiting. */
  readonly onOpened: (waiting: number) => void;
};

/** Messages that may be held here, unread or unsettled. */
const mostHeld = 2_000;
const pullSize = 500;
const pullBytes = 16 * 1024 * 1024;
const pullExpiresMs = 5_000;
/** A pull that says nothing for so long is dead: the consumer is made again. */
const silentMs = pullExpiresMs + 5_000;
const retryMs = 500;

const done = new TextEncoder().encode('+ACK');
const never = new TextEncoder().encode('+TERM');

/**
 * Fetches a shard's messages by pulls, at most so many as may be held. The consumer is deleted and made again at the start and after
 * every reconnect of the broker: an old one hands out later messages before the unacknowledged ones, and may strand messages after the
 * broker was killed. What was fetched through an earlier one is not settled any more; it comes again and is known by its cursor.
 */
export class Fetcher {
  readonly #options: FetcherOptions;
  readonly #consumer: string;
  readonly #statuses: ReturnType<NatsConnection['status']>;
  readonly #timer: NodeJS.Timeout;
  /** Counts the consumers that were made: what an earlier one delivers does not count. */
  #generation = 0;
  #isOpen = false;
  #isStopped = false;
  #isConnected = true;
  /** Asked for and not delivered. */
  #wanted = 0;
  #held = 0;
  #heardAtMs = performance.now();
  #opening: Promise<void> | undefined;
  #inbox: { readonly subject: string; readonly unsubscribe: () => void } | undefined;

  /** Fetches at once. */
  constructor(options: FetcherOptions) {
    this.#options = options;
    this.#consumer = `ingest-${options.shard}`;
    this.#statuses = options.connection.status();
    void this.#followConnection();
    this.#timer = setInterval(() => this.#ensureOpen(), retryMs);
    this.#ensureOpen();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    this.#generation += 1;
    this.#inbox?.unsubscribe();
    // Ends the loop over the statuses of the connection, which lives on.
    (this.#statuses as { readonly stop?: () => void }).stop?.();
    await this.#opening;
  }

  async #followConnection(): Promise<void> {
    for await (const status of this.#statuses) {
      if (this.#isStopped) return;
      if (status.type === 'disconnect') this.#onConnection(false);
      else if (status.type === 'reconnect') this.#onConnection(true);
    }
  }

  /** Requests that were under way get no answer any more: what waits for them is abandoned. */
  #onConnection(isConnected: boolean): void {
    this.#isConnected = isConnected;
    this.#isOpen = false;
    this.#generation += 1;
    this.#opening = undefined;
    if (isConnected) this.#ensureOpen();
  }

  #ensureOpen(): void {
    const { connection, log } = this.#options;
    if (this.#isStopped || !this.#isConnected || this.#opening !== undefined || connection.isClosed()) return;
    const isSilent = this.#isOpen && this.#wanted > 0 && performance.now() - this.#heardAtMs > silentMs;
    if (this.#isOpen && !isSilent) {
      this.#pull();
      return;
    }
    if (isSilent) log.warn('the broker does not answer a pull; making the consumer again');
    const attempt = this.#open()
      .catch((error: unknown) => log.info({ err: error }, 'the results cannot be fetched now; trying again'))
      .finally(() => {
        if (this.#opening === attempt) this.#opening = undefined;
      });
    this.#opening = attempt;
  }

  async #open(): Promise<void> {
    const { connection, beforeOpening, onOpened } = this.#options;
    this.#isOpen = false;
    this.#generation += 1;
    this.#wanted = 0;
    this.#held = 0;
    const generation = this.#generation;
    this.#inbox?.unsubscribe();
    this.#inbox = undefined;
    await beforeOpening();
    const manager = await jetstreamManager(connection, { timeout: 5_000, checkAPI: false });
    if (!this.#isCurrent(generation)) return;
    const waiting = await this.#makeConsumer(manager);
    if (!this.#isCurrent(generation)) return;
    const subject = createInbox();
    const subscription = connection.subscribe(subject, {
      callback: (error, message) => this.#onDelivery(error, message, generation),
    });
    this.#inbox = { subject, unsubscribe: () => subscription.unsubscribe() };
    this.#heardAtMs = performance.now();
    this.#isOpen = true;
    onOpened(waiting);
    this.#pull();
  }

  /** @returns how many messages wait for it */
  async #makeConsumer({ consumers }: JetStreamManager): Promise<number> {
    await consumers.delete(resultsStream, this.#consumer).catch(() => undefined);
    const info = await consumers.add(resultsStream, {
      durable_name: this.#consumer,
      filter_subject: `results.*.${this.#options.shard}`,
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
      // A message that is held longer comes again and is trimmed as a duplicate.
      ack_wait: 60_000_000_000,
      max_ack_pending: mostHeld * 2,
      max_waiting: 16,
    });
    return info.num_pending;
  }

  #isCurrent(generation: number): boolean {
    return generation === this.#generation && !this.#isStopped;
  }

  #pull(): void {
    const { connection } = this.#options;
    if (!this.#isOpen || this.#inbox === undefined || connection.isClosed()) return;
    if (this.#wanted > pullSize / 2 || this.#held + this.#wanted + pullSize > mostHeld) return;
    this.#wanted += pullSize;
    const request = { batch: pullSize, expires: pullExpiresMs * 1_000_000, max_bytes: pullBytes };
    const nextSubject = `$JS.API.CONSUMER.MSG.NEXT.${resultsStream}.${this.#consumer}`;
    connection.publish(nextSubject, JSON.stringify(request), { reply: this.#inbox.subject });
  }

  #onDelivery(error: Error | null, message: Msg, generation: number): void {
    if (!this.#isCurrent(generation)) return;
    this.#heardAtMs = performance.now();
    if (error !== null || message.subject === this.#inbox?.subject) {
      this.#onStatus(error, message);
      return;
    }
    this.#wanted = Math.max(0, this.#wanted - 1);
    this.#held += 1;
    let isSettled = false;
    this.#options.onMessage({
      subject: message.subject,
      data: message.data,
      settle: (verdict) => {
        if (isSettled) return;
        isSettled = this.#settle(message, verdict, generation);
      },
    });
    this.#pull();
  }

  /** @returns false where it can or need not be said any more */
  #settle({ reply }: Msg, verdict: 'done' | 'never', generation: number): boolean {
    const { connection } = this.#options;
    if (generation !== this.#generation || reply === undefined || connection.isClosed()) return false;
    this.#held -= 1;
    connection.publish(reply, verdict === 'done' ? done : never);
    this.#pull();
    return true;
  }

  /** 404, 408: the pull is over. 409: over too, or the consumer is gone. 503: nobody serves it. */
  #onStatus(error: Error | null, message: Msg): void {
    const code = message.headers?.code ?? 0;
    const pending = Number(message.headers?.get('Nats-Pending-Messages') ?? '');
    this.#wanted = Number.isInteger(pending) && pending > 0 ? Math.max(0, this.#wanted - pending) : 0;
    const text = message.headers?.description;
    const isGone = error !== null || code === 503 || /deleted|leadership|shutdown/i.test(text ?? '');
    if (!isGone) {
      this.#pull();
      return;
    }
    this.#options.log.info({ code, text }, 'the consumer of the results is gone; making it again');
    this.#isOpen = false;
  }
}
