import type { Session } from '../net/session.ts';

/** Requests that the check sends (kafka.apache.org/protocol, "API keys"). */
export const apis = { metadata: 3, saslHandshake: 17, apiVersions: 18, saslAuthenticate: 36 } as const;
export type Api = keyof typeof apis;

/** The largest answer that is read. */
const maxResponse = 1024 * 1024;

/**
 * Sends a request with header version 1 and reads its answer with header version 0. `read` takes the body; reading beyond its end is the
 * peer's breach of the protocol.
 */
export async function ask<Value>(
  session: Session,
  request: {
    readonly api: Api;
    readonly version: number;
    readonly clientId: string;
    readonly body: readonly Buffer[];
  },
  read: (body: KafkaReader) => Value,
): Promise<Value> {
  // One request at a time and each of another kind or stage, so the number of the API is number enough.
  const correlation = apis[request.api];
  const payload = Buffer.concat([
    int16(apis[request.api]),
    int16(request.version),
    int32(correlation),
    text(request.clientId),
    ...request.body,
  ]);
  session.say(Buffer.concat([int32(payload.length), payload]));
  const answer = await session.hear(`an answer to the request "${request.api}"`, (bytes) => {
    if (bytes.length < 4) return { need: 4 };
    const size = bytes.readInt32BE(0);
    if (size < 4 || size > maxResponse) session.breach('It answered with an impossible length.');
    if (bytes.length >= 8 && bytes.readInt32BE(4) !== correlation)
      session.breach('It answered another question than the one that was asked.');
    return bytes.length < size + 4 ? { need: size + 4 } : { value: bytes.subarray(8, size + 4), used: size + 4 };
  });
  try {
    return read(new KafkaReader(answer));
  } catch (error) {
    if (error instanceof RangeError) session.breach('Its answer is cut short.');
    throw error;
  }
}

/** Reads the primitive types of the protocol in their order; throws a `RangeError` beyond the end. */
export class KafkaReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  bool(): boolean {
    return this.#bytes.readInt8(this.#step(1)) !== 0;
  }

  int16(): number {
    return this.#bytes.readInt16BE(this.#step(2));
  }

  int32(): number {
    return this.#bytes.readInt32BE(this.#step(4));
  }

  /** A text with a length of 16 bits; null reads as undefined. */
  text(): string | undefined {
    const length = this.int16();
    return length < 0 ? undefined : this.#take(length).toString('utf8');
  }

  /** Bytes with a length of 32 bits; null reads as empty. */
  bytes(): Buffer {
    return this.#take(Math.max(0, this.int32()));
  }

  /** An array; null reads as empty. */
  list<Item>(item: (reader: KafkaReader) => Item): Item[] {
    const count = this.int32();
    const items: Item[] = [];
    // Every item has at least one byte, so a lie about the count ends at the end of the bytes.
    for (let index = 0; index < count; index += 1) items.push(item(this));
    return items;
  }

  #take(length: number): Buffer {
    const at = this.#step(length);
    return this.#bytes.subarray(at, at + length);
  }

  #step(length: number): number {
    const at = this.#at;
    if (at + length > this.#bytes.length) throw new RangeError('The answer is too short.');
    this.#at = at + length;
    return at;
  }
}

export function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

export function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'utf8');
  return Buffer.concat([int16(bytes.length), bytes]);
}

export function bytes(value: Buffer | string): Buffer {
  const content = Buffer.from(value);
  return Buffer.concat([int32(content.length), content]);
}
