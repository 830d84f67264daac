import { connect } from '@nats-io/transport-node';
import type { ConnectionOptions, Msg, NatsConnection } from '@nats-io/transport-node';
import { natsAuthenticator } from '@parallax/pki';
import type { Logger } from '@parallax/telemetry';
import type { Bus } from './bus.ts';

export type BusOptions = {
  /** `nats://host:port` or `tls://host:port`; several for a cluster. */
  readonly servers: string | readonly string[];
  /** PEM of the authority that signed the broker's certificate; absent: no TLS. */
  readonly authorityPem?: string;
  /** The text of a credentials file (JWT and seed); absent: a broker without accounts. */
  readonly credentials?: string;
  /** Shown in the broker's connection list. */
  readonly name: string;
  readonly log: Logger;
};

/** A bus that somebody must close. */
export type OpenBus = Bus & { readonly close: () => Promise<void> };

/**
 * Connects to the broker and stays connected: waits for it at the start and dials again for ever afterwards, so that a broker that
 * is restarted costs nothing but time.
 */
export async function connectBus(options: BusOptions): Promise<OpenBus> {
  const connection = await connect(connectionOptions(options));
  const log = options.log.child({ part: 'bus' });
  let isConnected = true;
  void watch(connection, log, (connected) => {
    isConnected = connected;
  });

  return {
    connection,
    hint: (subject, message) => {
      // The client would keep it for later: a hint that is late is worth nothing, and its store is not bounded.
      if (!isConnected || connection.isClosed()) return;
      try {
        connection.publish(subject, JSON.stringify(message));
      } catch (error) {
        log.debug({ err: error, subject }, 'hint not sent');
      }
    },
    ask: async (subject, message, timeoutMs) => {
      if (!isConnected || connection.isClosed()) return undefined;
      try {
        const answer = await connection.request(subject, JSON.stringify(message), { timeout: timeoutMs });
        return answer.json<unknown>();
      } catch (error) {
        // Nobody listens, nobody answered in time, the broker went away, or the answer was no JSON: all the same to the asker.
        log.debug({ err: error, subject }, 'no answer');
        return undefined;
      }
    },
    listen: (subject, onMessage) => {
      const subscription = connection.subscribe(subject, {
        callback: (error, message) => {
          if (error === null) void answer(message, onMessage, log);
          else log.warn({ err: error, subject }, 'subscription refused');
        },
      });
      return { stop: () => subscription.unsubscribe() };
    },
    close: async () => {
      // Draining waits for the broker; while that is away there is nothing to drain into.
      if (isConnected) await connection.drain().catch(() => undefined);
      await connection.close();
    },
  };
}

function connectionOptions(options: BusOptions): ConnectionOptions {
  return {
    servers: typeof options.servers === 'string' ? options.servers : [...options.servers],
    name: options.name,
    waitOnFirstConnect: true,
    reconnect: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    reconnectJitterTLS: 250,
    timeout: 5_000,
    // A half-open connection is found within 20 s.
    pingInterval: 10_000,
    maxPingOut: 2,
    ...(options.authorityPem === undefined ? {} : { tls: { ca: options.authorityPem } }),
    ...(options.credentials === undefined ? {} : { authenticator: natsAuthenticator(options.credentials) }),
  };
}

async function watch(connection: NatsConnection, log: Logger, onChange: (connected: boolean) => void): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === 'disconnect') {
      onChange(false);
      log.warn('the broker is away; dialling again');
    } else if (status.type === 'reconnect') {
      onChange(true);
      log.info('the broker is back');
    } else if (status.type === 'error') {
      log.warn({ err: status.error }, 'the broker refused something');
    }
  }
  onChange(false);
}

async function answer(message: Msg, onMessage: (message: unknown) => unknown, log: Logger): Promise<void> {
  try {
    const result = await onMessage(message.data.length === 0 ? undefined : message.json<unknown>());
    if (result !== undefined && message.reply !== undefined && message.reply !== '') {
      message.respond(JSON.stringify(result));
    }
  } catch (error) {
    log.warn({ err: error, subject: message.subject }, 'a message was not understood or its handler failed');
  }
}
