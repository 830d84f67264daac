import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { packets, packetType } from './packets.ts';

const headBytes = 8;

/**
 * Stands between TLS and the connection: during the handshake TDS wraps the records of TLS in packets of its own (MS-TDS 3.2.5.2), and
 * none afterwards. What comes says itself which it is by its first byte; `unwrap` ends the wrapping of what is sent.
 */
export class WrappedHandshake extends Duplex {
  readonly #socket: Socket;
  #wrapping = true;
  /** What comes is wrapped too, until the first bytes that are not. */
  #unwrapping = true;
  #waiting: Buffer = Buffer.alloc(0);

  constructor(socket: Socket) {
    super();
    this.#socket = socket;
    socket.on('data', this.#take);
    socket.on('error', this.#broken);
    socket.on('close', this.#ended);
    socket.on('end', this.#ended);
  }

  /** As TLS wants it: it uses nothing of a socket that a stream has not. */
  asSocket(): Socket {
    return this as unknown as Socket;
  }

  unwrap(): void {
    this.#wrapping = false;
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(piece: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#socket.write(this.#wrapping ? packets(packetType.prelogin, piece) : piece, done);
  }

  /** What TLS writes together is one message: the other side answers each message by one. */
  override _writev(pieces: readonly { readonly chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this._write(Buffer.concat(pieces.map(({ chunk }) => chunk)), '', done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  readonly #take = (piece: Buffer): void => {
    if (!this.#unwrapping) return this.#give(piece);
    let rest = this.#waiting.length === 0 ? piece : Buffer.concat([this.#waiting, piece]);
    while (isPacket(rest)) {
      const length = rest.length < headBytes ? Number.POSITIVE_INFINITY : Math.max(headBytes, rest.readUInt16BE(2));
      if (rest.length < length) break;
      this.#give(rest.subarray(headBytes, length));
      rest = rest.subarray(length);
    }
    // A packet that is not whole yet has at most 64 KiB; everything else is TLS, or for TLS to refuse.
    if (isPacket(rest)) this.#waiting = Buffer.from(rest);
    else {
      this.#waiting = Buffer.alloc(0);
      this.#unwrapping = rest.length === 0;
      this.#give(rest);
    }
  };

  #give(bytes: Buffer): void {
    if (bytes.length > 0 && !this.push(bytes)) this.#socket.pause();
  }

  readonly #broken = (error: Error): void => {
    this.destroy(error);
  };

  readonly #ended = (): void => {
    this.push(null);
  };
}

/** Whether a packet of TDS begins here. Records of TLS begin with 20 to 23. */
function isPacket(bytes: Buffer): boolean {
  return bytes[0] === packetType.prelogin || bytes[0] === packetType.answer;
}
