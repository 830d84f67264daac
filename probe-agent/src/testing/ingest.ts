import { AckPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { verifyEd25519 } from '@parallax/pki';
import { decodeBatch, decodeSigned, signedContent } from '@parallax/wire';
import type { LostRange, ResultRecord } from '@parallax/wire';

/** What a test's ingest has taken, by `epoch/shard`: results by sequence number, lost ranges, and the cursor. */
export type TakenStream = {
  cursor: number;
  readonly results: Map<number, ResultRecord>;
  readonly lost: LostRange[];
  duplicates: number;
};

/** An ingest in memory that behaves as the real one to a probe: verifies, trims by cursor, refuses gaps. */
export class TestIngest {
  readonly streams = new Map<string, TakenStream>();
  readonly refused: string[] = [];
  batches = 0;
  readonly #publicKey: Uint8Array;

  constructor(publicKey: Uint8Array) {
    this.#publicKey = publicKey;
  }

  /** Takes one message; gives the position that is committed now, or the one that is missing. */
  take(payload: Uint8Array): { committed: Position } | { missing: Position } | undefined {
    const signed = decodeSigned(payload);
    if ('refused' in signed) return this.#refuse(signed.refused);
    if (!verifyEd25519(this.#publicKey, signedContent(signed.batch), signed.signature))
      return this.#refuse('signature');
    const decoded = decodeBatch(signed.batch);
    if ('refused' in decoded) return this.#refuse(decoded.refused);
    this.batches += 1;
    const epoch = Number(decoded.header.epoch);
    const { shard } = decoded.header;
    const key = `${epoch}/${shard}`;
    const stream = this.streams.get(key) ?? {
      cursor: 0,
      results: new Map<number, ResultRecord>(),
      lost: [],
      duplicates: 0,
    };
    this.streams.set(key, stream);
    const first = Number(decoded.header.firstSeq);
    if (first > stream.cursor + 1) return { missing: { epoch, shard, seq: stream.cursor + 1 } };
    if (decoded.lost !== undefined) {
      if (Number(decoded.lost.toSeq) > stream.cursor) stream.lost.push(decoded.lost);
      stream.cursor = Math.max(stream.cursor, Number(decoded.lost.toSeq));
    }
    decoded.results.forEach((result, index) => {
      const seq = first + index;
      if (seq <= stream.cursor) stream.duplicates += 1;
      else {
        stream.results.set(seq, result);
        stream.cursor = seq;
      }
    });
    return { committed: { epoch, shard, seq: stream.cursor } };
  }

  /** All results, in order of streams and numbers. */
  get all(): ResultRecord[] {
    return [...this.streams.values()].flatMap((stream) => [...stream.results.values()]);
  }

  #refuse(reason: string): undefined {
    this.refused.push(reason);
    return undefined;
  }
}

export type Position = { readonly epoch: number; readonly shard: number; readonly seq: number };

/** Makes the stream of results as the control plane does. */
export async function createResultStream(connection: NatsConnection, subjects: readonly string[]): Promise<void> {
  const manager = await jetstreamManager(connection);
  await manager.streams.add({
    name: 'RESULTS',
    subjects: [...subjects],
    retention: 'workqueue',
    max_msgs_per_subject: 1_000,
    discard: 'new',
    discard_new_per_subject: true,
  });
  await manager.consumers.add('RESULTS', {
    durable_name: 'ingest',
    ack_policy: AckPolicy.Explicit,
    ack_wait: 30_000_000_000,
  });
}

/** Feeds the messages of the stream to `onMessage` until the connection ends. */
export async function consume(connection: NatsConnection, onMessage: (message: JsMsg) => void): Promise<void> {
  const consumer = await jetstream(connection).consumers.get('RESULTS', 'ingest');
  const messages = await consumer.consume({ max_messages: 500 });
  void (async () => {
    for await (const message of messages) onMessage(message);
  })().catch(() => {});
}
