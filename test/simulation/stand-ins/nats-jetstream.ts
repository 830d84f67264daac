import type { BrokerClient } from '../models/broker/client.ts';
import type { ConsumerConfig } from '../models/broker/consumer.ts';
import type { ApiAnswer, BrokerServer } from '../models/broker/server.ts';
import type { StreamConfig } from '../models/broker/stream.ts';

/* What the product uses of `@nats-io/jetstream`, on the modelled broker. */

export const AckPolicy = { None: 'none', All: 'all', Explicit: 'explicit' } as const;
export const DeliverPolicy = { All: 'all' } as const;
export const DiscardPolicy = { New: 'new', Old: 'old' } as const;
export const RetentionPolicy = { Workqueue: 'workqueue', Limits: 'limits' } as const;
export const StorageType = { File: 'file', Memory: 'memory' } as const;
export const JetStreamApiCodes = { StreamNotFound: 10_059 } as const;

export class JetStreamApiError extends Error {
  override readonly name = 'JetStreamApiError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export async function jetstreamManager(client: BrokerClient, options: { readonly timeout?: number } = {}) {
  const ask = async (perform: (server: BrokerServer) => ApiAnswer): Promise<unknown> =>
    valueOf(await client.ask(options.timeout ?? 5_000, perform));
  return {
    streams: {
      info: (_name: string) => ask((server) => server.streamInfo()),
      add: (config: StreamConfig) => ask((server) => server.addStream(config)),
      update: (_name: string, config: Partial<StreamConfig>) => ask((server) => server.updateStream(config)),
    },
    consumers: {
      delete: (_stream: string, name: string) => ask((server) => server.deleteConsumer(name)),
      add: (_stream: string, config: ConsumerConfig) => ask((server) => server.addConsumer(config)),
    },
  };
}

export function jetstream(client: BrokerClient) {
  return {
    publish: async (subject: string, data: Uint8Array, options: { readonly timeout?: number } = {}): Promise<unknown> =>
      valueOf(await client.ask(options.timeout ?? 5_000, (server) => server.store(subject, data))),
  };
}

function valueOf({ value, error }: ApiAnswer): unknown {
  if (error === 'stream_not_found') throw new JetStreamApiError(JetStreamApiCodes.StreamNotFound, 'stream not found');
  if (error === 'no_responders') throw new Error('no responders');
  if (error === 'full') throw new JetStreamApiError(10_077, 'maximum messages per subject exceeded');
  return value;
}
