import type { Socket } from 'node:net';
import type { CheckContext } from '../check.ts';
import type { ErrorCode } from '../outcome.ts';
import { type Endpoint, named } from './dial.ts';
import { type Failure, failed, timedOut } from './failure.ts';
import { clientRefused, refusesClient } from './tls.ts';

/** Ends a conversation with its verdict, from any depth of it. Never leaves the check: `hold` turns it into the outcome. */
export class Ended extends Error {
  override readonly name = 'Ended';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Ends the conversation with a failure of the target. */
export function stop(...parts: Parameters<typeof failed>): never {
  throw new Ended(failed(...parts));
}

/**
 * What a reader takes from the front of what has come: a value and the bytes it stands in, or a failure. While the message is not whole:
 * how many bytes in all are needed before it can be, with a byte that may end it sooner; or undefined, to be asked again at every piece.
 */
export type Taken<Value> =
  | { readonly value: Value; readonly used: number }
  | { readonly failure: Failure }
  | { readonly need: number; readonly orByte?: number }
  | undefined;
export type Reader<Value> = (received: Buffer) => Taken<Value>;

/** The codes of what breaks a conversation, which differ between the families of types. */
export type TalkCodes = {
  /** The other side does not keep to the protocol. */
  readonly breach: ErrorCode;
  /** It closed the connection in an orderly way before its time; absent: `connect_reset`. */
  readonly closed?: ErrorCode;
};

/** Most bytes that are read in one conversation, unless the type says otherwise. */
const defaultLimit = 1024 * 1024;
/** Most messages: each may cost an answer and a turn of the loop, however small it is. */
const maxMessages = 10_000;

/**
 * The reading half of a conversation over one connected socket: one message after the other is taken from what comes, within a limit of bytes
 * and until the check ends. One `hear` at a time. The socket stays the caller's to destroy; `release` gives it back for a TLS handshake.
 *
 * What came is kept in one buffer that grows by doubling, and a reader that says what it needs is not asked before: reading costs time in
 * proportion to the bytes, however small the pieces are in which they come.
 */
export class Talk {
  readonly #socket: Socket;
  readonly #endpoint: Endpoint;
  readonly #context: CheckContext;
  readonly #codes: TalkCodes;
  readonly #limit: number;
  #store: Buffer = Buffer.alloc(0);
  /** The store was made here and has room behind `#to`. */
  #isOwn = false;
  #from = 0;
  #to = 0;
  #total = 0;
  #messages = 0;
  #need = 0;
  #orByte: number | undefined;
  #isListening = false;
  #isLent = false;
  /** The connection ended in an orderly way, before anything else ended the reading. */
  #hasEnded = false;
  #over: ((waitingFor: string) => Failure) | undefined;
  #wake: (() => void) | undefined;
  /** When the first byte came, on the context's clock. */
  firstAt: number | undefined;

  constructor(socket: Socket, endpoint: Endpoint, context: CheckContext, codes: TalkCodes, limit = defaultLimit) {
    this.#socket = socket;
    this.#endpoint = endpoint;
    this.#context = context;
    this.#codes = codes;
    this.#limit = limit;
    if (socket.destroyed) this.#ended();
    socket.on('error', this.#broken).on('end', this.#ended).on('close', this.#ended);
  }

  say(bytes: Uint8Array | string): void {
    this.#listen();
    if (!this.#socket.destroyed) this.#socket.write(bytes);
  }

  /**
   * The next message. `read` is given everything that has not been taken. `waitingFor` names the message in the sentence of a failure.
   * Throws `Ended` when it does not come or the reader fails.
   */
  async hear<Value>(waitingFor: string, read: Reader<Value>): Promise<Value> {
    this.#listen();
    this.#need = 1;
    this.#orByte = undefined;
    let isDue = this.left > 0;
    for (;;) {
      const taken = isDue ? read(this.#store.subarray(this.#from, this.#to)) : undefined;
      if (taken !== undefined) {
        if ('failure' in taken) throw new Ended(taken.failure);
        if ('value' in taken) {
          this.#from += taken.used;
          this.#messages += 1;
          if (this.#messages > maxMessages) throw new Ended(this.#tooMany(waitingFor));
          return taken.value;
        }
      }
      if (isDue) {
        // Who needs no more than there is has to be asked again all the same when more comes.
        this.#need = Math.max(taken?.need ?? 0, this.left + 1);
        this.#orByte = taken?.orByte;
      }
      if (this.#over !== undefined) throw new Ended(this.#over(waitingFor));
      isDue = await this.#more(waitingFor);
    }
  }

  /** Everything up to the orderly end of the connection, which is how some protocols end an answer. Throws `Ended` as `hear` does, and when nothing came. */
  async rest(waitingFor: string): Promise<Buffer> {
    this.#listen();
    this.#need = Number.POSITIVE_INFINITY;
    this.#orByte = undefined;
    while (this.#over === undefined) await this.#more(waitingFor);
    if (!this.#hasEnded || this.left === 0) throw new Ended(this.#over(waitingFor));
    const rest = this.#store.subarray(this.#from, this.#to);
    this.#from = this.#to;
    return rest;
  }

  /**
   * Lends the connection to a library, which reads and writes as it likes. Ends as `use` does, or throws `Ended` for a connection that broke,
   * said too much or ran out of time; `waitingFor` then says what was due. The caller stops the library in either case.
   */
  async lend<Value>(waitingFor: () => string, use: (socket: Socket) => Promise<Value>): Promise<Value> {
    const { signal } = this.#context;
    this.#isLent = true;
    this.#listen();
    if (this.#over !== undefined) throw new Ended(this.#over(waitingFor()));
    let abort = (): void => undefined;
    const broken = new Promise<never>((_resolve, reject) => {
      const refuse = (failure: Failure) => reject(new Ended(failure));
      abort = () => refuse(this.#late(waitingFor()));
      if (signal.aborted) return abort();
      signal.addEventListener('abort', abort);
      // The library may still have to read what came before the end, and knows better what its own failure means.
      this.#wake = () => {
        if (this.#over !== undefined)
          setImmediate(() => refuse(this.#over?.(waitingFor()) ?? this.#late(waitingFor())));
      };
    });
    try {
      return await Promise.race([use(this.#socket), broken]);
    } finally {
      this.#wake = undefined;
      signal.removeEventListener('abort', abort);
    }
  }

  /** Bytes that came and were not taken. */
  get left(): number {
    return this.#to - this.#from;
  }

  /** Stops listening; what was not taken is lost. */
  release(): Socket {
    const socket = this.#socket;
    socket.off('data', this.#take).off('end', this.#ended).off('close', this.#ended).off('error', this.#broken);
    socket.pause();
    return socket;
  }

  /** From here on what comes is read: a socket that nobody listens to does not flow. */
  #listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    this.#socket.on('data', this.#take);
  }

  /** Waits until the reader is to be asked again, or for the end of the connection, which it is told by false. */
  #more(waitingFor: string): Promise<boolean> {
    const { signal } = this.#context;
    return new Promise((resolve, reject) => {
      const settle = () => {
        this.#wake = undefined;
        signal.removeEventListener('abort', abort);
      };
      const abort = () => {
        settle();
        reject(new Ended(this.#late(waitingFor)));
      };
      if (signal.aborted) return abort();
      // By a name of its own: V8 makes a function that is written into a property in the old part of the heap, with all that it sees.
      const wake = () => {
        const isDue = this.left >= this.#need;
        if (!isDue && this.#over === undefined) return;
        settle();
        resolve(isDue);
      };
      this.#wake = wake;
      signal.addEventListener('abort', abort);
      this.#socket.resume();
    });
  }

  readonly #take = (piece: Buffer): void => {
    this.firstAt ??= this.#context.clock();
    this.#total += piece.length;
    if (this.#total > this.#limit) {
      this.#socket.pause();
      this.#over ??= (waitingFor) =>
        failed(
          this.#codes.breach,
          `${named(this.#endpoint)} sent more than ${this.#limit} bytes; ${waitingFor} was due.`,
        );
    } else if (!this.#isLent) this.#keep(piece);
    this.#wake?.();
  };

  #keep(piece: Buffer): void {
    if (this.#orByte !== undefined && piece.includes(this.#orByte)) this.#need = 0;
    const size = this.left + piece.length;
    if (size === piece.length) {
      // What comes in one piece is not copied.
      this.#store = piece;
      this.#isOwn = false;
      this.#from = 0;
      this.#to = size;
      return;
    }
    if (!this.#isOwn || this.#to + piece.length > this.#store.length) {
      // Values that were taken keep the old store.
      const grown = Buffer.allocUnsafeSlow(2 * size);
      this.#store.copy(grown, 0, this.#from, this.#to);
      this.#to -= this.#from;
      this.#from = 0;
      this.#store = grown;
      this.#isOwn = true;
    }
    piece.copy(this.#store, this.#to);
    this.#to += piece.length;
  }

  #tooMany(waitingFor: string): Failure {
    const what = `${named(this.#endpoint)} sent more than ${maxMessages} messages; ${waitingFor} was due.`;
    return failed(this.#codes.breach, what);
  }

  #late(waitingFor: string): Failure {
    return timedOut('response_timeout', `${named(this.#endpoint)} did not send ${waitingFor} in time.`);
  }

  readonly #broken = (error: NodeJS.ErrnoException): void => {
    const where = named(this.#endpoint);
    this.#over ??= () =>
      refusesClient(error)
        ? clientRefused(error)
        : failed('connect_reset', `The connection to ${where} broke (${error.code ?? 'unknown error'}).`);
    this.#wake?.();
  };

  readonly #ended = (): void => {
    const where = named(this.#endpoint);
    this.#hasEnded ||= this.#over === undefined;
    const over = (waitingFor: string): Failure =>
      failed(
        this.#codes.closed ?? 'connect_reset',
        `${where} closed the connection without ${this.firstAt === undefined ? 'an answer' : waitingFor}.`,
      );
    this.#over ??= over;
    this.#wake?.();
  };
}
