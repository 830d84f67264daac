import type { OnReadOpts, Socket } from 'node:net';
import type { CheckContext } from '../check.ts';
import { type Failure, failed, timedOut } from '../net/failure.ts';
import type { WireRequest } from './request.ts';
import type { ResponseParser } from './response-parser.ts';

/**
 * One read buffer for all sockets: the kernel's bytes are parsed before the event loop can touch another socket, and the parser
 * copies what it keeps.
 */
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024);

/** Times are whole microseconds from the request; `transferUs` is absent while no byte has come. */
export type Exchanged = {
  readonly failure: Failure | undefined;
  readonly firstByteUs: number | undefined;
  readonly transferUs: number | undefined;
};

/** Sends a request over a fresh connection and reads until the response is complete, broken or the connection is over. */
export class Exchange {
  /** To be handed to the socket when it is made. */
  readonly onread: OnReadOpts;
  readonly #parser: ResponseParser;
  readonly #context: CheckContext;
  #firstAt: number | undefined;
  #wake: (() => void) | undefined;

  constructor(parser: ResponseParser, context: CheckContext) {
    this.#parser = parser;
    this.#context = context;
    this.onread = {
      buffer: readBuffer,
      callback: (count) => {
        this.#firstAt ??= context.clock();
        parser.push(readBuffer, count);
        if (parser.finished) this.#wake?.();
        return true;
      },
    };
  }

  /** Never rejects. Leaves the socket to the caller. */
  async run(socket: Socket, request: WireRequest): Promise<Exchanged> {
    const { clock } = this.#context;
    const sentAt = clock();
    socket.write(request.head, 'latin1');
    if (request.body !== undefined) socket.write(request.body);
    const failure = await this.#answer(socket);
    const endAt = clock();
    const firstAt = this.#firstAt;
    return {
      failure,
      firstByteUs: firstAt === undefined ? undefined : Math.max(0, Math.round((firstAt - sentAt) * 1000)),
      transferUs: firstAt === undefined ? undefined : Math.round((endAt - Math.max(firstAt, sentAt)) * 1000),
    };
  }

  #answer(socket: Socket): Promise<Failure | undefined> {
    const { signal } = this.#context;
    const parser = this.#parser;
    return new Promise((resolve) => {
      const settle = (failure: Failure | undefined) => {
        this.#wake = undefined;
        signal.removeEventListener('abort', abort);
        resolve(failure);
      };
      const ended = () => {
        if (parser.finished || parser.end()) return settle(problemOf(parser));
        settle(closedEarly(parser, this.#firstAt !== undefined));
      };
      const abort = () => settle(tooLate(parser, this.#firstAt !== undefined));
      this.#wake = () => settle(problemOf(parser));
      if (parser.finished) return this.#wake();
      if (signal.aborted) return abort();
      signal.addEventListener('abort', abort);
      socket.once('end', ended);
      socket.once('close', ended);
      socket.on('error', (error: NodeJS.ErrnoException) => {
        if (parser.finished) return settle(problemOf(parser));
        if (this.#firstAt === undefined && (error.code === 'ECONNRESET' || error.code === 'EPIPE')) {
          return settle(failed('connect_reset', 'The server reset the connection instead of answering.'));
        }
        settle(
          failed(
            'http_closed',
            `The connection broke before the answer was complete (${error.code ?? 'unknown error'}).`,
          ),
        );
      });
    });
  }
}

function problemOf(parser: ResponseParser): Failure | undefined {
  switch (parser.problem) {
    case undefined:
      return undefined;
    case 'not_http':
      return failed('http_protocol', 'The server did not answer with HTTP.');
    case 'headers_too_large':
      return failed('http_headers_too_large', 'The headers of the answer are larger than 64 KiB.');
    case 'malformed':
      return failed('http_protocol', 'The answer breaks the rules of HTTP/1.1 in its status line or headers.');
    case 'bad_chunk':
      return failed('http_protocol', 'The answer breaks the rules of chunked transfer.');
  }
}

function closedEarly(parser: ResponseParser, answered: boolean): Failure {
  if (!answered) return failed('http_closed', 'The server closed the connection without answering.');
  const where =
    parser.head === undefined ? 'in the middle of the headers' : `after ${parser.bodyBytes} bytes of the body`;
  return failed('http_closed', `The server closed the connection ${where}.`);
}

function tooLate(parser: ResponseParser, answered: boolean): Failure {
  if (!answered) return timedOut('http_timeout', 'The server accepted the request but did not answer in time.');
  const where = parser.head === undefined ? 'the headers' : `the body (${parser.bodyBytes} bytes came)`;
  return timedOut('http_timeout', `The server did not finish ${where} in time.`);
}
