import { isUtf8 } from 'node:buffer';

/** Kinds of frames (RFC 6455, 11.8). */
export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** Writes one final frame as a client has to: masked with four random bytes (RFC 6455, 5.3). At most 64 KiB of payload. */
export function encodeFrame(opcode: number, payload: Buffer, mask: Buffer): Buffer {
  const isLong = payload.length > 125;
  const head = Buffer.alloc(isLong ? 8 : 6);
  head[0] = 0x80 | opcode;
  head[1] = 0x80 | (isLong ? 126 : payload.length);
  if (isLong) head.writeUInt16BE(payload.length, 2);
  mask.copy(head, head.length - 4, 0, 4);
  const masked = Buffer.from(payload);
  for (let at = 0; at < masked.length; at += 1) masked[at] = (masked[at] ?? 0) ^ (mask[at % 4] ?? 0);
  return Buffer.concat([head, masked]);
}

/** What a server sent: a whole message, or a control frame. */
export type Received =
  | { readonly kind: 'text' | 'binary' | 'ping' | 'pong'; readonly payload: Buffer }
  | { readonly kind: 'close'; readonly code: number | undefined; readonly reason: string };

const maxMessageBytes = 1024 * 1024;
/** Each fragment is a piece of memory of its own. */
const maxFragments = 1000;
const maxHead = 10;

/**
 * Takes the frames of a server apart and puts messages together (RFC 6455, 5). Strict: a mask, a reserved bit, a length not in its
 * shortest form, broken UTF-8 or fragments out of order end it. Each byte is copied once, however small the pieces are.
 */
export class FrameReader {
  /** Why nothing more can be read: a sentence without its full stop. */
  problem: string | undefined;
  readonly #take: (received: Received) => void;
  readonly #head = Buffer.alloc(maxHead);
  #headBytes = 0;
  #headNeeded = 2;
  #payload: Buffer | undefined;
  #payloadBytes = 0;
  /** Kind and parts of a message whose last fragment has not come. */
  #message: { readonly kind: 'text' | 'binary'; readonly parts: Buffer[]; bytes: number } | undefined;
  #stopped = false;

  /** @param take called for each message and control frame, in their order */
  constructor(take: (received: Received) => void) {
    this.#take = take;
  }

  /** Nothing more is wanted; what comes is passed over. */
  stop(): void {
    this.#stopped = true;
  }

  push(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length && this.problem === undefined && !this.#stopped) {
      if (this.#payload === undefined) {
        const taken = bytes.copy(this.#head, this.#headBytes, at, at + this.#headNeeded - this.#headBytes);
        at += taken;
        this.#headBytes += taken;
        if (this.#headBytes === this.#headNeeded) this.#readHead();
      } else {
        const taken = bytes.copy(this.#payload, this.#payloadBytes, at);
        at += taken;
        this.#payloadBytes += taken;
      }
      if (this.#payload !== undefined && this.#payloadBytes === this.#payload.length) this.#frameDone(this.#payload);
    }
  }

  #readHead(): void {
    const first = this.#head[0] ?? 0;
    const second = this.#head[1] ?? 0;
    const opcode = first & 0x0f;
    const short = second & 0x7f;
    if ((first & 0x70) !== 0) return this.#fail('it set a reserved bit although no extension was agreed on');
    if ((second & 0x80) !== 0) return this.#fail('it masked a frame');
    if ((opcode > opcodes.binary && opcode < opcodes.close) || opcode > opcodes.pong)
      return this.#fail(`it sent a frame of the unknown kind ${opcode}`);
    if (opcode >= opcodes.close && (short > 125 || (first & 0x80) === 0))
      return this.#fail('it sent a control frame that is too long or in fragments');
    this.#headNeeded = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (this.#headBytes < this.#headNeeded) return;
    const length =
      short < 126 ? short : short === 126 ? this.#head.readUInt16BE(2) : Number(this.#head.readBigUInt64BE(2));
    if ((short === 126 && length < 126) || (short === 127 && length < 65_536))
      return this.#fail('it wrote a length in a longer form than needed');
    if (opcode < opcodes.close && !this.#fits(opcode, length)) return;
    this.#payload = Buffer.allocUnsafe(length);
    this.#payloadBytes = 0;
  }

  /** Whether a frame of data may come here: in the right order, and with room left for it. */
  #fits(opcode: number, length: number): boolean {
    if ((opcode === opcodes.continuation) !== (this.#message !== undefined)) {
      this.#fail('it sent the fragments of a message out of order');
      return false;
    }
    if ((this.#message?.bytes ?? 0) + length > maxMessageBytes) {
      this.#fail('it sent a message of more than 1 MiB');
      return false;
    }
    return true;
  }

  #frameDone(payload: Buffer): void {
    const first = this.#head[0] ?? 0;
    const opcode = first & 0x0f;
    this.#payload = undefined;
    this.#headBytes = 0;
    this.#headNeeded = 2;
    if (opcode === opcodes.close) return this.#close(payload);
    if (opcode >= opcodes.ping) return this.#take({ kind: opcode === opcodes.ping ? 'ping' : 'pong', payload });
    const message = this.#message ?? { kind: opcode === opcodes.text ? 'text' : 'binary', parts: [], bytes: 0 };
    message.bytes += payload.length;
    // An empty fragment adds nothing; kept, a stream of them would grow without end.
    if (payload.length > 0) message.parts.push(payload);
    if (message.parts.length > maxFragments)
      return this.#fail(`it sent a message in more than ${maxFragments} fragments`);
    this.#message = message;
    if ((first & 0x80) === 0) return;
    this.#message = undefined;
    const whole = message.parts.length === 1 ? (message.parts[0] ?? payload) : Buffer.concat(message.parts);
    if (message.kind === 'text' && !isUtf8(whole)) return this.#fail('it sent text that is not UTF-8');
    this.#take({ kind: message.kind, payload: whole });
  }

  #close(payload: Buffer): void {
    this.#stopped = true;
    if (payload.length === 1 || !isUtf8(payload.subarray(2)))
      return this.#fail('it closed with a frame that is broken');
    const code = payload.length === 0 ? undefined : payload.readUInt16BE(0);
    this.#take({ kind: 'close', code, reason: payload.toString('utf8', 2) });
  }

  #fail(problem: string): void {
    this.problem = problem;
  }
}
