import { AckPolicy, DeliverPolicy, jetstreamManager } from '@nats-io/jetstream';
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

export type Fetcher = { readonly stop: () => Promise<void> };

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
export function startFetcher(options: FetcherOptions): Fetcher {
  const { connection, log } = options;
  const consumer = `ingest-${options.shard}`;
  const nextSubject = `$JS.API.CONSUMER.MSG.NEXT.${resultsStream}.${consumer}`;
  let generation = 0;
  let isOpen = false;
  let isStopped = false;
  let isConnected = true;
  /** Asked for and not delivered. */
  let wanted = 0;
  let held = 0;
  let heardAtMs = performance.now();
  let opening: Promise<void> | undefined;
  let inbox: { readonly subject: string; readonly unsubscribe: () => void } | undefined;

  function pull(): void {
    if (!isOpen || inbox === undefined || connection.isClosed()) return;
    if (wanted > pullSize / 2 || held + wanted + pullSize > mostHeld) return;
    wanted += pullSize;
    const request = { batch: pullSize, expires: pullExpiresMs * 1_000_000, max_bytes: pullBytes };
    connection.publish(nextSubject, JSON.stringify(request), { reply: inbox.subject });
  }

  function onDelivery(error: Error | null, message: Msg, ofGeneration: number): void {
    if (ofGeneration !== generation || isStopped) return;
    heardAtMs = performance.now();
    if (error !== null || message.subject === inbox?.subject) {
      onStatus(error, message);
      return;
    }
    wanted = Math.max(0, wanted - 1);
    held += 1;
    let isSettled = false;
    options.onMessage({
      subject: message.subject,
      data: message.data,
      settle: (verdict) => {
        if (ofGeneration !== generation || isSettled || message.reply === undefined || connection.isClosed()) return;
        isSettled = true;
        held -= 1;
        connection.publish(message.reply, verdict === 'done' ? done : never);
        pull();
      },
    });
    pull();
  }

  /** 404, 408: the pull is over. 409: over too, or the consumer is gone. 503: nobody serves it. */
  function onStatus(error: Error | null, message: Msg): void {
    const code = message.headers?.code ?? 0;
    const pending = Number(message.headers?.get('Nats-Pending-Messages') ?? '');
    wanted = Number.isInteger(pending) && pending > 0 ? Math.max(0, wanted - pending) : 0;
    const isGone =
      error !== null || code === 503 || /deleted|leadership|shutdown/i.test(message.headers?.description ?? '');
    if (isGone) {
      log.info({ code, text: message.headers?.description }, 'the consumer of the results is gone; making it again');
      isOpen = false;
    } else {
      pull();
    }
  }

  async function open(): Promise<void> {
    isOpen = false;
    generation += 1;
    wanted = 0;
    held = 0;
    const ofGeneration = generation;
    inbox?.unsubscribe();
    inbox = undefined;
    await options.beforeOpening();
    const manager = await jetstreamManager(connection, { timeout: 5_000, checkAPI: false });
    if (ofGeneration !== generation || isStopped) return;
    await manager.consumers.delete(resultsStream, consumer).catch(() => undefined);
    const info = await manager.consumers.add(resultsStream, {
      durable_name: consumer,
      filter_subject: `results.*.${options.shard}`,
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
      // A message that is held longer comes again and is trimmed as a duplicate.
      ack_wait: 60_000_000_000,
      max_ack_pending: mostHeld * 2,
      max_waiting: 16,
    });
    if (ofGeneration !== generation || isStopped) return;
    const subject = createInbox();
    const subscription = connection.subscribe(subject, {
      callback: (error, message) => onDelivery(error, message, ofGeneration),
    });
    inbox = { subject, unsubscribe: () => subscription.unsubscribe() };
    heardAtMs = performance.now();
    isOpen = true;
    options.onOpened(info.num_pending);
    pull();
  }

  function ensureOpen(): void {
    if (isStopped || !isConnected || opening !== undefined || connection.isClosed()) return;
    const isSilent = isOpen && wanted > 0 && performance.now() - heardAtMs > silentMs;
    if (isOpen && !isSilent) {
      pull();
      return;
    }
    if (isSilent) log.warn('the broker does not answer a pull; making the consumer again');
    const attempt = open()
      .catch((error: unknown) => log.info({ err: error }, 'the results cannot be fetched now; trying again'))
      .finally(() => {
        if (opening === attempt) opening = undefined;
      });
    opening = attempt;
  }

  /** Requests that were under way get no answer any more: what waits for them is abandoned. */
  function onConnection(connected: boolean): void {
    isConnected = connected;
    isOpen = false;
    generation += 1;
    opening = undefined;
    if (connected) ensureOpen();
  }

  const statuses = connection.status();
  void (async () => {
    for await (const status of statuses) {
      if (isStopped) return;
      if (status.type === 'disconnect') onConnection(false);
      else if (status.type === 'reconnect') onConnection(true);
    }
  })();
  const timer = setInterval(ensureOpen, retryMs);
  ensureOpen();

  return {
    stop: async () => {
      isStopped = true;
      clearInterval(timer);
      generation += 1;
      inbox?.unsubscribe();
      // Ends the loop over the statuses of the connection, which lives on.
      (statuses as { readonly stop?: () => void }).stop?.();
      await opening;
    },
  };
}
