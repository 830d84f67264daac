import net, { type OnReadOpts, type Socket } from 'node:net';
import type { CheckContext } from '../check.ts';
import {
  connectFailure,
  connectTimeout,
  type Endpoint,
  localAddressFor,
  micros,
  named,
  type Tunnel,
} from '../net/dial.ts';
import { type Failure, failed, timedOut } from '../net/failure.ts';
import { clientRefused, refusesClient } from '../net/tls.ts';
import type { WireRequest } from './request.ts';
import { addPhase, type Progress } from './outcome.ts';
import type { ResponseParser } from './response-parser.ts';

/**
 * One read buffer for all sockets: the kernel's bytes are parsed before the event loop can touch another socket, and the parser
 * copies what it keeps.
 */
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024);

/** What is sent, and where it is noted what was seen. */
type Sent = Pick<WireRequest, 'head' | 'body'>;
type Noted = Pick<Progress, 'phases'> & {
  head?: Progress['head'];
  parser?: Progress['parser'];
  readonly obtained?: Progress['obtained'];
};

/**
 * Sends a request over a fresh connection and reads until the response is complete, broken or the connection is over. One object and
 * one promise for both, connecting included: what a check costs is mostly how much is made and scheduled for it.
 */
export class Exchange {
  /** To be handed to the socket when it is made. */
  readonly onread: OnReadOpts;
  readonly #request: Sent;
  readonly #parser: ResponseParser;
  readonly #context: CheckContext;
  readonly #progress: Noted;
  #endpoint: Endpoint | undefined;
  #socket: Socket | undefined;
  #startAt = 0;
  #asked = false;
  #sentAt = 0;
  /** 0 while no byte has come. */
  #firstAt = 0;
  #resolve: ((failure: Failure | undefined) => void) | undefined;
  readonly #abort = (): void => {
    if (!this.#asked && this.#endpoint !== undefined) this.#notConnected(connectTimeout(this.#endpoint));
    else this.#settle(tooLate(this.#parser, this.#firstAt !== 0));
  };

  /** Times, the head and the parser go into `progress` when it ends; no connection phase when the connection was there already. */
  constructor(request: Sent, parser: ResponseParser, context: CheckContext, progress: Noted) {
    this.#request = request;
    this.#parser = parser;
    this.#context = context;
    this.#progress = progress;
    this.onread = { buffer: readBuffer, callback: (count) => this.#read(readBuffer, count) };
  }

  /** Connects to a judged address and asks. Gives the failure, undefined when the response is whole. Never rejects; no socket is left. */
  open(endpoint: Endpoint): Promise<Failure | undefined> {
    const { signal, clock } = this.#context;
    if (endpoint.tunnel !== undefined) return this.#openThrough(endpoint.tunnel);
    this.#endpoint = endpoint;
    this.#startAt = clock();
    return new Promise((resolve) => {
      this.#resolve = resolve;
      if (signal.aborted) return this.#abort();
      const socket = net.connect({
        host: endpoint.address,
        port: endpoint.port,
        // One write needs no hurry; a body goes in a second one.
        noDelay: this.#request.body !== undefined,
        localAddress: localAddressFor(endpoint, this.#context),
        onread: this.onread,
      });
      this.#listenTo(socket);
      socket.on('connect', () => this.#connected());
    });
  }

  /** Asks over a socket that is connected and was made with `onread`. The same otherwise. */
  over(socket: Socket): Promise<Failure | undefined> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#listenTo(socket);
      this.#ask();
      if (this.#parser.finished) this.#settle(problemOf(this.#parser));
      else if (this.#context.signal.aborted) this.#abort();
    });
  }

  async #openThrough(tunnel: Tunnel): Promise<Failure | undefined> {
    const dialed = await tunnel.open(this.#context);
    addPhase(this.#progress, 'connect', dialed.connectUs);
    return dialed.ok ? this.overTunnel(dialed.socket) : dialed.failure;
  }

  /** Asks over a socket that leads through a tunnel: what the proxy said was read from it before, so it was not made with `onread`. */
  overTunnel(socket: Socket): Promise<Failure | undefined> {
    socket.on('data', (piece: Buffer) => this.#read(piece, piece.length));
    return this.over(socket);
  }

  #read(bytes: Buffer, count: number): boolean {
    const parser = this.#parser;
    if (this.#firstAt === 0) this.#firstAt = this.#context.clock();
    parser.push(bytes, count);
    if (parser.finished && this.#asked) this.#settle(problemOf(parser));
    return true;
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
    const connectUs = this.#sinceUs(this.#startAt);
    addPhase(this.#progress, 'connect', connectUs);
    if (trace !== undefined && this.#endpoint !== undefined)
      trace('connect', `${named(this.#endpoint)} connected (${micros(connectUs)})`);
    this.#ask();
  }

  #ask(): void {
    const socket = this.#socket;
    const request = this.#request;
    if (socket === undefined) return;
    this.#asked = true;
    this.#context.trace?.('request', request.head.slice(0, request.head.indexOf(' HTTP/')));
    this.#sentAt = this.#context.clock();
    socket.write(request.head, 'latin1');
    if (request.body !== undefined) socket.write(request.body);
  }

  #ended(): void {
    const parser = this.#parser;
    if (this.#resolve === undefined) return;
    if (parser.finished || parser.end()) this.#settle(problemOf(parser));
    else this.#settle(closedEarly(parser, this.#firstAt !== 0));
  }

  #failed(error: NodeJS.ErrnoException): void {
    const parser = this.#parser;
    if (this.#resolve === undefined) return;
    if (!this.#asked && this.#endpoint !== undefined) this.#notConnected(connectFailure(error, this.#endpoint));
    else if (parser.finished) this.#settle(problemOf(parser));
    else if (this.#firstAt === 0 && (error.code === 'ECONNRESET' || error.code === 'EPIPE')) {
      this.#settle(failed('connect_reset', 'The server reset the connection instead of answering.'));
    } else if (parser.head === undefined && refusesClient(error)) {
      this.#settle(clientRefused(error));
    } else {
      const code = error.code ?? 'unknown error';
      this.#settle(failed('http_closed', `The connection broke before the answer was complete (${code}).`));
    }
  }

  #notConnected(failure: Failure): void {
    addPhase(this.#progress, 'connect', this.#sinceUs(this.#startAt));
    this.#context.trace?.('connect', failure.message);
    this.#settle(failure);
  }

  #settle(failure: Failure | undefined): void {
    const resolve = this.#resolve;
    if (resolve === undefined) return;
    this.#resolve = undefined;
    this.#context.signal.removeEventListener('abort', this.#abort);
    this.#note();
    this.#socket?.destroy();
    resolve(failure);
  }

  #note(): void {
    const progress = this.#progress;
    const { head, bodyBytes } = this.#parser;
    progress.head = head;
    progress.parser = this.#parser;
    if (this.#firstAt !== 0) {
      addPhase(progress, 'first_byte', Math.max(0, Math.round((this.#firstAt - this.#sentAt) * 1000)));
      addPhase(progress, 'transfer', this.#sinceUs(Math.max(this.#firstAt, this.#sentAt)));
    }
    if (head !== undefined) this.#context.trace?.('answer', `${head.status}, ${bodyBytes} bytes of body`);
  }

  #sinceUs(startAt: number): number {
    return Math.round((this.#context.clock() - startAt) * 1000);
  }
}

export function problemOf(parser: ResponseParser): Failure | undefined {
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

export function closedEarly(parser: ResponseParser, answered: boolean): Failure {
  if (!answered) return failed('http_closed', 'The server closed the connection without answering.');
  const where =
    parser.head === undefined ? 'in the middle of the headers' : `after ${parser.bodyBytes} bytes of the body`;
  return failed('http_closed', `The server closed the connection ${where}.`);
}

export function tooLate(parser: ResponseParser, answered: boolean): Failure {
  if (!answered) return timedOut('http_timeout', 'The server accepted the request but did not answer in time.');
  const where = parser.head === undefined ? 'the headers' : `the body (${parser.bodyBytes} bytes came)`;
  return timedOut('http_timeout', `The server did not finish ${where} in time.`);
}
