import { createHash, randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import type { CheckContext } from '../check.ts';
import { headerOf } from '../http/body.ts';
import { closedEarly, problemOf, tooLate } from '../http/exchange.ts';
import { evidenceBytes } from '../http/outcome.ts';
import { ownFields } from '../http/request.ts';
import { defaultLimits, type ResponseHead, ResponseParser } from '../http/response-parser.ts';
import { type Failure, failed, timedOut } from '../net/failure.ts';
import { bytesOf } from '../net/payload.ts';
import { clientRefused, refusesClient } from '../net/tls.ts';
import { messageJudge } from './expectation.ts';
import { encodeFrame, FrameReader, opcodes, type Received } from './frames.ts';
import type { WsSettings } from './settings.ts';

/** How long the server may take to close in good order after the verdict. */
const farewellMs = 200;
const maxPongs = 100;
/** Appended to the key of the request, so that only a server that knows the protocol answers rightly (RFC 6455, 1.3). */
const acceptSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** What came of a conversation. Times are those of the context's clock. */
export type Conversed = {
  readonly failure: Failure | undefined;
  readonly parser: ResponseParser;
  readonly sentAt: number;
  readonly firstAt: number | undefined;
  readonly endedAt: number;
  /** The beginning of what messages held, one after the other. */
  readonly shown: Buffer;
  readonly messages: number;
  readonly subprotocol: string | undefined;
  readonly closeCode: number | undefined;
};

/** Asks for the upgrade (RFC 6455, 4), sends, waits for what is expected, closes. Never rejects; no socket is left. */
export function converse(socket: Socket, url: URL, settings: WsSettings, context: CheckContext): Promise<Conversed> {
  return new Promise((resolve) => new Conversation(socket, settings, context, resolve).begin(url));
}

class Conversation {
  readonly #socket: Socket;
  readonly #settings: WsSettings;
  readonly #context: CheckContext;
  readonly #resolve: (conversed: Conversed) => void;
  readonly #parser: ResponseParser;
  readonly #frames = new FrameReader((received) => this.#received(received));
  readonly #judge: (payload: Buffer) => boolean | Failure;
  readonly #key = randomBytes(16).toString('base64');
  readonly #shown: Buffer[] = [];
  #shownBytes = 0;
  #messages = 0;
  #pongs = 0;
  #state: 'asking' | 'open' | 'over' = 'asking';
  #sentAt = 0;
  #firstAt: number | undefined;
  #subprotocol: string | undefined;
  #closeCode: number | undefined;
  #farewell: (() => void) | undefined;
  readonly #abort = (): void => {
    if (this.#farewell !== undefined) return this.#farewell();
    if (this.#state === 'asking') return this.#settle(tooLate(this.#parser, this.#firstAt !== undefined));
    const what = this.#messages === 0 ? 'No message came' : `None of ${this.#messages} messages held what is expected`;
    return this.#settle(timedOut(this.#messages === 0 ? 'response_timeout' : 'response_mismatch', `${what} in time.`));
  };

  constructor(socket: Socket, settings: WsSettings, context: CheckContext, resolve: (conversed: Conversed) => void) {
    this.#socket = socket;
    this.#settings = settings;
    this.#context = context;
    this.#resolve = resolve;
    this.#judge = messageJudge(settings);
    this.#parser = new ResponseParser('GET', defaultLimits, () => (this.#parser.keepBytes = evidenceBytes), true);
  }

  begin(url: URL): void {
    const { signal, clock } = this.#context;
    const socket = this.#socket;
    const ended = (): void => this.#ended();
    signal.addEventListener('abort', this.#abort);
    socket.on('data', (piece: Buffer) => this.#data(piece));
    socket.on('error', (error: NodeJS.ErrnoException) => this.#broken(error));
    socket.on('end', ended);
    socket.on('close', ended);
    if (signal.aborted) return this.#abort();
    this.#context.trace?.('request', `GET ${url.pathname}${url.search}, asking for WebSocket`);
    this.#sentAt = clock();
    socket.write(this.#request(url), 'latin1');
  }

  #request(url: URL): string {
    const { names, set } = ownFields({ url, trusted: true }, this.#settings, this.#context.userAgent);
    set('Connection', 'Upgrade');
    set('Upgrade', 'websocket');
    set('Sec-WebSocket-Version', '13');
    set('Sec-WebSocket-Key', this.#key);
    if (this.#settings.subprotocols.length > 0) set('Sec-WebSocket-Protocol', this.#settings.subprotocols.join(', '));
    const lines = [...names.values()].map(([name, value]) => `${name}: ${value}\r\n`);
    return `GET ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join('')}\r\n`;
  }

  #data(piece: Buffer): void {
    this.#firstAt ??= this.#context.clock();
    if (this.#state === 'over') return;
    if (this.#state === 'open') return this.#take(piece);
    const parser = this.#parser;
    parser.push(piece);
    if (!parser.finished) return;
    if (parser.head !== undefined) this.#context.trace?.('answer', String(parser.head.status));
    const failure = problemOf(parser) ?? this.#upgradeProblem(parser.head);
    if (failure !== undefined) return this.#settle(failure);
    this.#state = 'open';
    this.#context.trace?.(
      'upgrade',
      `the server speaks WebSocket${this.#subprotocol === undefined ? '' : ` (${this.#subprotocol})`}`,
    );
    this.#opened(piece.subarray(piece.length - parser.unread));
  }

  #opened(rest: Buffer): void {
    const { send, expect, payload_format: format } = this.#settings;
    if (send !== undefined) {
      const opcode = format === 'hex' ? opcodes.binary : opcodes.text;
      const frame = encodeFrame(opcode, bytesOf(send, format), randomBytes(4));
      this.#context.trace?.('send', `${frame.length} bytes in one message`);
      // An error comes by its own event.
      this.#socket.write(frame, (error) => {
        if (expect === undefined && (error === undefined || error === null)) this.#settle(undefined);
      });
    } else if (expect === undefined) return this.#settle(undefined);
    if (rest.length > 0) this.#take(rest);
  }

  /** What is wrong with the answer to the upgrade (RFC 6455, 4.1). */
  #upgradeProblem(head: ResponseHead | undefined): Failure | undefined {
    if (head === undefined) return failed('http_protocol', 'The server did not answer with HTTP.');
    if (head.status !== 101) {
      const said = `${head.status} ${head.statusText}`.trim().slice(0, 200);
      return failed('ws_upgrade', `The server answered ${said} instead of changing to WebSocket.`);
    }
    const accept = createHash('sha1').update(`${this.#key}${acceptSuffix}`).digest('base64');
    const wrong =
      !hasToken(head, 'upgrade', 'websocket') ||
      !hasToken(head, 'connection', 'upgrade') ||
      headerOf(head, 'sec-websocket-accept') !== accept;
    if (wrong)
      return failed('ws_protocol', 'The server agreed to the upgrade, but its answer is not that of WebSocket.');
    if (headerOf(head, 'sec-websocket-extensions') !== undefined)
      return failed('ws_protocol', 'The server switched on an extension that nobody asked for.');
    const { subprotocols } = this.#settings;
    this.#subprotocol = headerOf(head, 'sec-websocket-protocol');
    const chosen = this.#subprotocol;
    if (chosen === undefined ? subprotocols.length === 0 : subprotocols.includes(chosen)) return undefined;
    const what = chosen === undefined ? 'no subprotocol' : `the subprotocol "${chosen.slice(0, 100)}"`;
    const offered = subprotocols.length === 0 ? 'none was offered' : `offered were ${subprotocols.join(', ')}`;
    return failed('ws_subprotocol', `The server chose ${what}; ${offered}.`.slice(0, 500));
  }

  #take(bytes: Buffer): void {
    this.#frames.push(bytes);
    const { problem } = this.#frames;
    if (problem !== undefined && this.#state === 'open')
      this.#settle(failed('ws_protocol', `The server broke the rules of WebSocket: ${problem}.`));
  }

  #received(received: Received): void {
    if (this.#state !== 'open') return;
    if (received.kind === 'close') {
      this.#closeCode = received.code;
      const why = received.reason === '' ? '' : ` (${received.reason.slice(0, 123)})`;
      this.#settle(
        failed('ws_closed', `The server closed with code ${received.code ?? 1005}${why} before the answer came.`),
      );
    } else if (received.kind === 'ping') this.#pong(received.payload);
    else if (received.kind !== 'pong') this.#message(received.payload);
  }

  #pong(payload: Buffer): void {
    this.#pongs += 1;
    if (this.#pongs > maxPongs)
      return this.#settle(failed('ws_protocol', `The server sent more than ${maxPongs} pings.`));
    this.#socket.write(encodeFrame(opcodes.pong, payload, randomBytes(4)));
  }

  #message(payload: Buffer): void {
    this.#messages += 1;
    if (this.#messages <= 20) this.#context.trace?.('receive', `a message of ${payload.length} bytes`);
    const room = evidenceBytes - this.#shownBytes;
    if (room > 0) this.#shown.push(payload.subarray(0, room));
    this.#shownBytes += Math.min(room, payload.length);
    if (this.#settings.expect === undefined) return;
    const verdict = this.#judge(payload);
    if (verdict === true) this.#settle(undefined);
    else if (verdict !== false) this.#settle(verdict);
  }

  #ended(): void {
    if (this.#farewell !== undefined) return this.#farewell();
    if (this.#state === 'over') return;
    const parser = this.#parser;
    if (this.#state === 'open')
      return this.#settle(failed('ws_closed', 'The server ended the connection before the answer came.'));
    if (parser.end()) this.#settle(problemOf(parser) ?? this.#upgradeProblem(parser.head));
    else this.#settle(closedEarly(parser, this.#firstAt !== undefined));
  }

  #broken(error: NodeJS.ErrnoException): void {
    if (this.#farewell !== undefined) return this.#farewell();
    if (this.#state === 'over') return;
    const code = error.code ?? 'unknown error';
    if (this.#state === 'open')
      this.#settle(failed('ws_closed', `The connection broke before the answer came (${code}).`));
    else if (refusesClient(error)) this.#settle(clientRefused(error));
    else if (this.#firstAt !== undefined)
      this.#settle(failed('http_closed', `The connection broke before the answer was complete (${code}).`));
    else this.#settle(failed('connect_reset', 'The server reset the connection instead of answering.'));
  }

  /** The verdict is there. A connection that was open is closed in good order, for which the server gets a moment. */
  #settle(failure: Failure | undefined): void {
    if (this.#state === 'over') return;
    const { signal, clock } = this.#context;
    const wasOpen = this.#state === 'open';
    const endedAt = clock();
    this.#state = 'over';
    this.#frames.stop();
    const done = (): void => {
      clearTimeout(timer);
      this.#farewell = undefined;
      signal.removeEventListener('abort', this.#abort);
      this.#socket.destroy();
      this.#resolve({
        failure,
        parser: this.#parser,
        sentAt: this.#sentAt,
        firstAt: this.#firstAt,
        endedAt,
        shown: Buffer.concat(this.#shown),
        messages: this.#messages,
        subprotocol: this.#subprotocol,
        closeCode: this.#closeCode,
      });
    };
    let timer: NodeJS.Timeout | undefined;
    if (!wasOpen || signal.aborted || this.#socket.destroyed || this.#socket.readableEnded) return done();
    this.#farewell = done;
    timer = setTimeout(done, farewellMs);
    const code = Buffer.alloc(2);
    code.writeUInt16BE(failure?.code === 'ws_protocol' ? 1002 : 1000);
    this.#socket.write(encodeFrame(opcodes.close, code, randomBytes(4)));
  }
}

/** Whether one of the fields of that name has the token in its list; a proxy in front may add fields and entries of its own. */
function hasToken({ headers }: ResponseHead, field: string, token: string): boolean {
  const values = headers.flatMap(([name, value]) => (name === field ? value.toLowerCase().split(',') : []));
  return values.some((each) => each.trim() === token);
}
