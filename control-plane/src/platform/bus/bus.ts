import type { NatsConnection } from '@nats-io/transport-node';

/** The broker as capabilities see it. Core messages are hints and requests; only the stream RESULTS carries what must not be lost. */
export type Bus = {
  readonly connection: NatsConnection;
  /** Publishes a hint as JSON; silently nothing while the broker is away. */
  readonly hint: (subject: string, message: unknown) => void;
  /** Asks and waits for the first answer; undefined when nobody answers in time. */
  readonly ask: (subject: string, message: unknown, timeoutMs: number) => Promise<unknown>;
  /** Calls back for every message of a subject until stopped; what the callback returns is sent to an asker. */
  readonly listen: (subject: string, onMessage: (message: unknown) => unknown) => { readonly stop: () => void };
};
