import net, { type OnReadOpts, type Socket } from 'node:net';
import type { CheckContext } from '../check.ts';
import { connectFailure, connectTimeout, type Endpoint, localAddressFor, micros, named } from '../net/dial.ts';
import { type Failure, failed, timedOut } from '../net/failure.ts';
import type { WireRequest } from './request.ts';
import type { ResponseParser } from './response-parser.ts';

/**
 * One read buffer for all sockets: the kernel's bytes are parsed before the event loop can touch another socket, and the parser
 * copies what it keeps.
 */
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024);

/** Times are whole microseconds; `connectUs` is absent when the connection was there already, `transferUs` while no byte has come. */
export type Exchanged = {
  readonly failure: Failure | undefined;
  readonly connectUs: number | undefined;
  readonly firstByteUs: number | undefined;
  readonly transferUs: number | undefined;
};

/**
 * Sends a request over a fresh connection and reads until the response is complete, broken or the connection is over. One object and
 * one promise for both, connecting included: what a check costs is mostly how much is made and scheduled for it.
 */
export class Exchange {
  /** To be handed to the socket when it is made. */
  readonly onread: OnReadOpts;
  readonly #parser: ResponseParser;
  readonly #context: CheckContext;
  #endpoint: Endpoint | undefined;
  #socket: Socket | undefined;
  #request: WireRequest | undefined;
  #startAt = 0;
  #connectUs: number | undefined;
  #asked = false;
  #sentAt = 0;
  #firstAt: number | undefined;
  #resolve: ((exchanged: Exchanged) => void) | undefined;
  readonly #abort = (): void => {
    if (!this.#asked && this.#endpoint !== undefined) this.#notConnected(connectTimeout(this.#endpoint));
    else this.#settle(tooLate(this.#parser, this.#firstAt !== undefined));
  };

  constructor(parser: ResponseParser, context: CheckContext) {
    this.#parser = parser;
    this.#context = context;
    this.onread = {
      buffer: readBuffer,
      callback: (count) => {
        this.#firstAt ??= context.clock();
        parser.push(readBuffer, count);
        if (parser.finished && this.#asked) this.#settle(problemOf(parser));
        return true;
      },
    };
  }

  /** Connects to a judged address and asks. Never rejects; no socket is left. */
  open(endpoint: Endpoint, request: WireRequest): Promise<Exchanged> {
    const { signal, clock } = this.#context;
    this.#endpoint = endpoint;
    this.#request = request;
    this.#startAt = clock();
    return new Promise((resolve) => {
      this.#resolve = resolve;
      if (signal.aborted) return this.#abort();
      const socket = net.connect({
        host: endpoint.address,
        port: endpoint.port,
        // One write needs no hurry; a body goes in a second one.
        noDelay: request.body !== undefined,
        localAddress: localAddressFor(endpoint, this.#context),
        onread: this.onread,
      });
      this.#listenTo(socket);
      socket.on('connect', () => this.#connected());
    });
  }

  /** Asks over a socket that is connected and was made with `onread`. Never rejects; no socket is left. */
  over(socket: Socket, request: WireRequest): Promise<Exchanged> {
    this.#request = request;
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#listenTo(socket);
      this.#ask();
      if (this.#parser.finished) this.#settle(problemOf(this.#parser));
      else if (this.#context.signal.aborted) this.#abort();
    });
  }

  #listenTo(socket: Socket): void {
    const ended = (): void => this.#ended();
    this.#socket = socket;
    this.#context.signal.addEventListener('abort', this.#abort);
    socket.on('error', (error: NodeJS.ErrnoException) => this.#failed(error));
    socket.on('end', ended);
    socket.on('close', ended);
  }

  #connected(): void {
    const { trace } = this.#context;
    this.#connectUs = this.#sinceUs(this.#startAt);
    if (trace !== undefined && this.#endpoint !== undefined)
      trace('connect', `${named(this.#endpoint)} connected (${micros(this.#connectUs)})`);
    this.#ask();
  }

  #ask(): void {
    const socket = this.#socket;
    const request = this.#request;
    if (socket === undefined || request === undefined) return;
    this.#asked = true;
    this.#sentAt = this.#context.clock();
    socket.write(request.head, 'latin1');
    if (request.body !== undefined) socket.write(request.body);
  }

  #ended(): void {
    const parser = this.#parser;
    if (this.#resolve === undefined) return;
    if (parser.finished || parser.end()) this.#settle(problemOf(parser));
    else this.#settle(closedEarly(parser, this.#firstAt !== undefined));
  }

  #failed(error: NodeJS.ErrnoException): void {
    const parser = this.#parser;
    if (this.#resolve === undefined) return;
    if (!this.#asked && this.#endpoint !== undefined) this.#notConnected(connectFailure(error, this.#endpoint));
    else if (parser.finished) this.#settle(problemOf(parser));
    else if (this.#firstAt === undefined && (error.code === 'ECONNRESET' || error.code === 'EPIPE')) {
      this.#settle(failed('connect_reset', 'The server reset the connection instead of answering.'));
    } else {
      const code = error.code ?? 'unknown error';
      this.#settle(failed('http_closed', `The connection broke before the answer was complete (${code}).`));
    }
  }

  #notConnected(failure: Failure): void {
    this.#connectUs = this.#sinceUs(this.#startAt);
    this.#context.trace?.('connect', failure.message);
    this.#settle(failure);
  }

  #settle(failure: Failure | undefined): void {
    const resolve = this.#resolve;
    if (resolve === undefined) return;
    this.#resolve = undefined;
    this.#context.signal.removeEventListener('abort', this.#abort);
    const sentAt = this.#sentAt;
    const firstAt = this.#firstAt;
    const transferUs = firstAt === undefined ? undefined : this.#sinceUs(Math.max(firstAt, sentAt));
    this.#socket?.destroy();
    resolve({
      failure,
      connectUs: this.#connectUs,
      firstByteUs: firstAt === undefined ? undefined : Math.max(0, Math.round((firstAt - sentAt) * 1000)),
      transferUs,
    });
  }

  #sinceUs(startAt: number): number {
    return Math.round((this.#context.clock() - startAt) * 1000);
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
