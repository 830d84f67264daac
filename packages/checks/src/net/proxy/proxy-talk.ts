import type { Socket } from 'node:net';
import type { CheckContext } from '../../check.ts';
import type { ErrorCode } from '../../outcome.ts';
import { failed, type Failure, timedOut } from '../failure.ts';
import { Ended, type Reader } from '../talk.ts';

/** More than any proxy has to say before it leads on. */
const maxBytes = 64 * 1024;

/**
 * The few words with a proxy before it leads on. Unlike `Talk` it takes from the socket only what it is asked for and gives the rest back, so
 * that whoever gets the socket finds it as if it had just connected, with what the target has said already.
 */
export class ProxyTalk {
  readonly #socket: Socket;
  readonly #context: CheckContext;
  /** `address:port` of the proxy, for sentences. */
  readonly where: string;
  /** The proxy has been asked for the target, so what is late may be the target. */
  hasAsked = false;
  #held: Buffer = Buffer.alloc(0);

  constructor(socket: Socket, where: string, context: CheckContext) {
    this.#socket = socket;
    this.where = where;
    this.#context = context;
  }

  say(bytes: Uint8Array | string): void {
    if (!this.#socket.destroyed) this.#socket.write(bytes);
  }

  /** The next message; `waitingFor` names it in the sentence of a failure. Throws `Ended` when it does not come. */
  async hear<Value>(waitingFor: string, read: Reader<Value>): Promise<Value> {
    for (;;) {
      const taken = this.#held.length > 0 ? read(this.#held) : undefined;
      if (taken !== undefined && 'failure' in taken) throw new Ended(taken.failure);
      if (taken !== undefined && 'value' in taken) {
        this.#held = this.#held.subarray(taken.used);
        return taken.value;
      }
      if (this.#held.length > maxBytes) this.breach(`It sent more than ${maxBytes} bytes; ${waitingFor} was due.`);
      this.#held = Buffer.concat([this.#held, await this.#more(waitingFor)]);
    }
  }

  fail(code: ErrorCode, message: string): never {
    throw new Ended(failed(code, message));
  }

  /** Ends it because the proxy does not keep to its protocol. `what` is a whole sentence about it. */
  breach(what: string): never {
    throw new Ended(failed('proxy_error', `${this.where} does not speak as a proxy of this kind does. ${what}`));
  }

  /** Gives the socket back. */
  release(): Socket {
    if (this.#held.length > 0) this.#socket.unshift(this.#held);
    return this.#socket;
  }

  #more(waitingFor: string): Promise<Buffer> {
    const { signal } = this.#context;
    const socket = this.#socket;
    const { where } = this;
    const ready = socket.read() as Buffer | null;
    if (ready !== null) return Promise.resolve(ready);
    return new Promise((resolve, reject) => {
      const settle = (result: Buffer | Failure): void => {
        socket.off('readable', readable).off('end', ended).off('close', ended).off('error', broken);
        signal.removeEventListener('abort', abort);
        if (Buffer.isBuffer(result)) resolve(result);
        else reject(new Ended(result));
      };
      const readable = (): void => {
        const piece = socket.read() as Buffer | null;
        if (piece !== null) settle(piece);
      };
      const ended = (): void =>
        settle(failed('connect_reset', `${where} closed the connection without ${waitingFor}.`));
      const broken = (error: NodeJS.ErrnoException): void =>
        settle(failed('connect_reset', `The connection to ${where} broke (${error.code ?? 'unknown error'}).`));
      const abort = (): void => settle(timedOut('connect_timeout', `${where} did not send ${waitingFor} in time.`));
      if (signal.aborted) return abort();
      if (socket.destroyed || socket.readableEnded) return ended();
      signal.addEventListener('abort', abort);
      socket.on('readable', readable).on('end', ended).on('close', ended).on('error', broken);
    });
  }
}
