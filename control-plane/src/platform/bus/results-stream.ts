import {
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream';
import type { StreamUpdateConfig } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';

/** The one stream: what must not be lost between a probe and the ingest. */
export const resultsStream = 'RESULTS';

/** Most messages that one probe may leave unread in one shard; the next is refused and stays in the probe's log. */
export const messagesPerSubject = 1_000;

/** Batches of at most 128 KiB with their signature and framing. */
const maxMessageBytes = 160 * 1024;
const maxAgeNs = 48 * 3_600 * 1_000_000_000;

export type ResultsStreamOptions = {
  readonly shards: number;
  /** Probes that may publish. */
  readonly probeIds: readonly number[];
  /** Byte limit of the stream; 2 GiB when absent. */
  readonly maxBytes?: number;
};

/** The subjects of these probes, in order. Probe 0 is the control plane: it publishes nothing, and keeps the list from being empty. */
export function resultSubjects(shards: number, probeIds: readonly number[]): string[] {
  const everyone = [0, ...[...new Set(probeIds)].filter((id) => id > 0).sort((a, b) => a - b)];
  return everyone.flatMap((probe) => Array.from({ length: shards }, (_, shard) => `results.${probe}.${shard}`));
}

/**
 * Makes the stream or brings its subjects and limits up to date; repeating it changes nothing. Exactly the subjects that exist: a
 * probe that may invent subjects can fill the stream. Only what nats-server 2.9 knows is used.
 * @throws when the broker is away or refuses
 */
export async function ensureResultsStream(connection: NatsConnection, options: ResultsStreamOptions): Promise<void> {
  const manager = await jetstreamManager(connection, { timeout: 10_000 });
  const wanted = {
    subjects: resultSubjects(options.shards, options.probeIds),
    max_age: maxAgeNs,
    max_bytes: options.maxBytes ?? 2 * 1024 ** 3,
    max_msg_size: maxMessageBytes,
    max_msgs_per_subject: messagesPerSubject,
    // The probe learns that its message was refused and sends it again; discarding old ones would lose what was acknowledged.
    discard: DiscardPolicy.New,
    discard_new_per_subject: true,
  } satisfies Partial<StreamUpdateConfig>;
  const existing = await manager.streams.info(resultsStream).catch((error: unknown) => {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound) return undefined;
    throw error;
  });
  if (existing === undefined) {
    await manager.streams.add({
      ...wanted,
      name: resultsStream,
      // A message goes when its ingest acknowledged it.
      retention: RetentionPolicy.Workqueue,
      storage: StorageType.File,
      num_replicas: 1,
    });
    return;
  }
  const present: Record<string, unknown> = { ...existing.config };
  const isSame = Object.entries(wanted).every(([key, value]) => JSON.stringify(present[key]) === JSON.stringify(value));
  if (!isSame) await manager.streams.update(resultsStream, wanted);
}
