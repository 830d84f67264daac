import type { Taken } from '../net/talk.ts';

/** A frame of AMQP 0-9-1 (section 4.2.3). Methods are known by `class * 1000 + method`. */
export type Frame =
  | { readonly kind: 'method'; readonly channel: number; readonly method: number; readonly fields: FieldReader }
  | { readonly kind: 'header'; readonly channel: number; readonly bodySize: number }
  | { readonly kind: 'body'; readonly channel: number; readonly bytes: Buffer }
  | { readonly kind: 'heartbeat' };

/** Methods that the check sends or understands. */
export const methods = {
  start: 10_010,
  startOk: 10_011,
  tune: 10_030,
  tuneOk: 10_031,
  open: 10_040,
  openOk: 10_041,
  close: 10_050,
  channelOpen: 20_010,
  channelOpenOk: 20_011,
  channelClose: 20_040,
  queueDeclare: 50_010,
  queueDeclareOk: 50_011,
  publish: 60_040,
  get: 60_070,
  getOk: 60_071,
  getEmpty: 60_072,
} as const;

/** `AMQP 0 0 9 1`, what a client begins with and what a server of another version answers with. */
export const protocolHeader = Buffer.from('AMQP\0\0\x09\x01', 'latin1');

const maxFrame = 256 * 1024;
const frameEnd = 0xce;

/** Takes the first frame; `broken` when these bytes cannot begin one. */
export function parseFrame(bytes: Buffer): Taken<Frame> | 'broken' {
  const type = bytes[0];
  if (type !== 1 && type !== 2 && type !== 3 && type !== 8) return 'broken';
  if (bytes.length < 7) return { need: 7 };
  const channel = bytes.readUInt16BE(1);
  const size = bytes.readUInt32BE(3);
  if (size > maxFrame) return 'broken';
  if (bytes.length < size + 8) return { need: size + 8 };
  if (bytes[size + 7] !== frameEnd) return 'broken';
  const frame = readPayload(type, channel, bytes.subarray(7, size + 7));
  return frame === undefined ? 'broken' : { value: frame, used: size + 8 };
}

function readPayload(type: 1 | 2 | 3 | 8, channel: number, payload: Buffer): Frame | undefined {
  switch (type) {
    case 1:
      if (payload.length < 4) return undefined;
      return {
        kind: 'method',
        channel,
        method: payload.readUInt16BE(0) * 1000 + payload.readUInt16BE(2),
        fields: new FieldReader(payload.subarray(4)),
      };
    case 2:
      return payload.length < 14
        ? undefined
        : { kind: 'header', channel, bodySize: Number(payload.readBigUInt64BE(4)) };
    case 3:
      return { kind: 'body', channel, bytes: payload };
    case 8:
      return { kind: 'heartbeat' };
  }
}

/** Reads the arguments of a method in their order. What is not there reads as 0 or empty text: the peer's fault shows elsewhere. */
export class FieldReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  octet(): number {
    return this.#number(1);
  }

  short(): number {
    return this.#number(2);
  }

  long(): number {
    return this.#number(4);
  }

  shortText(): string {
    return this.#take(this.octet()).toString('utf8');
  }

  longText(): string {
    return this.#take(this.long()).toString('utf8');
  }

  /** The texts on the first level of a table (section 4.2.5.5); other values are passed over as far as their length is known. */
  table(): ReadonlyMap<string, string> {
    const inner = new FieldReader(this.#take(this.long()));
    const texts = new Map<string, string>();
    while (inner.#at < inner.#bytes.length) {
      const name = inner.shortText();
      const kind = String.fromCharCode(inner.octet());
      if (kind === 'S') texts.set(name, inner.longText());
      else if (kind === 'F') inner.#take(inner.long());
      else if (kind === 't') inner.octet();
      else if (kind === 'I') inner.long();
      else break;
    }
    return texts;
  }

  #number(size: number): number {
    const taken = this.#take(size);
    return taken.length === size ? taken.readUIntBE(0, size) : 0;
  }

  #take(size: number): Buffer {
    const taken = this.#bytes.subarray(this.#at, this.#at + size);
    this.#at += size;
    return taken;
  }
}

export const octet = (value: number): Buffer => Buffer.from([value]);

export function short(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

export function long(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** At most 255 bytes; the settings see to that. */
export function shortText(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8').subarray(0, 255);
  return Buffer.concat([octet(bytes.length), bytes]);
}

export function longText(text: string | Buffer): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([long(bytes.length), bytes]);
}

/** A table of texts and of capabilities that are all true. */
export function table(texts: Readonly<Record<string, string>>, capabilities: readonly string[] = []): Buffer {
  const flags = capabilities.flatMap((name) => [shortText(name), Buffer.from('t\x01', 'latin1')]);
  const entries = Object.entries(texts).flatMap(([name, value]) => [
    shortText(name),
    Buffer.from('S'),
    longText(value),
  ]);
  const nested =
    flags.length === 0 ? [] : [shortText('capabilities'), Buffer.from('F'), longText(Buffer.concat(flags))];
  return longText(Buffer.concat([...entries, ...nested]));
}

export function methodFrame(channel: number, method: number, ...fields: readonly Buffer[]): Buffer {
  return frame(1, channel, [short(Math.floor(method / 1000)), short(method % 1000), ...fields]);
}

/** The header and body of a message without properties. */
export function contentFrames(channel: number, body: Buffer): Buffer {
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(body.length));
  return Buffer.concat([frame(2, channel, [short(60), short(0), size, short(0)]), frame(3, channel, [body])]);
}

function frame(type: number, channel: number, parts: readonly Buffer[]): Buffer {
  const payload = Buffer.concat(parts);
  return Buffer.concat([octet(type), short(channel), long(payload.length), payload, octet(frameEnd)]);
}
