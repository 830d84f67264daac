import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { CertifiedKey } from '../certificates.ts';
import type { TestContext } from '../test-context.ts';
import { listenOnLoopback, trackSockets } from './listen.ts';

/** What the target does with each request from now on. */
export type HttpBehaviour =
  | {
      readonly kind: 'answer';
      readonly status?: number;
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly delayMs?: number;
    }
  /** Takes the request and never answers. */
  | { readonly kind: 'hang' }
  /** Ends the connection with RST, or with FIN before any answer. */
  | { readonly kind: 'reset' }
  | { readonly kind: 'close' }
  /** Answers with bytes that are no HTTP. */
  | { readonly kind: 'garbage' }
  /** Promises a long body, sends a part of it and then nothing. */
  | { readonly kind: 'stall'; readonly sentBytes?: number }
  | { readonly kind: 'handler'; readonly handle: RequestListener };

export type SeenRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly remoteAddress: string;
};

export type HttpTarget = {
  readonly url: string;
  readonly port: number;
  readonly requests: SeenRequest[];
  behave(behaviour: HttpBehaviour): void;
  /** Stops listening: connections are refused until `open`. */
  close(): Promise<void>;
  open(): Promise<void>;
};

/** An HTTP or HTTPS server on loopback whose behaviour can be switched, ended with the test. It answers 200 `ok` at first. */
export async function httpTarget(
  t: TestContext,
  options: { readonly host?: string; readonly tls?: CertifiedKey; readonly behaviour?: HttpBehaviour } = {},
): Promise<HttpTarget> {
  const host = options.host ?? '127.0.0.1';
  const requests: SeenRequest[] = [];
  const timers = new Set<NodeJS.Timeout>();
  let behaviour: HttpBehaviour = options.behaviour ?? { kind: 'answer' };
  const listener: RequestListener = (request, response) => {
    requests.push({
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      remoteAddress: request.socket.remoteAddress ?? '',
    });
    request.resume();
    respond(behaviour, request, response, timers);
  };
  const server: Server =
    options.tls === undefined
      ? createServer(listener)
      : createTlsServer({ cert: options.tls.certificatePem, key: options.tls.keyPem }, listener);
  const endSockets = trackSockets(server);
  const port = await listenOnLoopback(server, 0, host);
  const close = () =>
    new Promise<void>((resolve) => {
      for (const timer of timers) clearTimeout(timer);
      server.close(() => resolve());
      endSockets();
    });
  t.teardown(close);
  return {
    url: `${options.tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    requests,
    behave: (next) => {
      behaviour = next;
    },
    close,
    open: () => listenOnLoopback(server, port, host).then(() => undefined),
  };
}

function respond(
  behaviour: HttpBehaviour,
  request: IncomingMessage,
  response: ServerResponse,
  timers: Set<NodeJS.Timeout>,
): void {
  switch (behaviour.kind) {
    case 'answer': {
      const { status = 200, body = 'ok', headers = {}, delayMs = 0 } = behaviour;
      const answer = () => response.writeHead(status, { 'content-type': 'text/plain', ...headers }).end(body);
      if (delayMs === 0) answer();
      else timers.add(setTimeout(answer, delayMs));
      return;
    }
    case 'hang':
      return;
    case 'reset':
      request.socket.resetAndDestroy();
      return;
    case 'close':
      request.socket.destroy();
      return;
    case 'garbage':
      request.socket.end('\u0000\u0001 this is no HTTP\r\n\r\n');
      return;
    case 'stall':
      response.writeHead(200, { 'content-length': '1000000' }).write('x'.repeat(behaviour.sentBytes ?? 10));
      return;
    case 'handler':
      behaviour.handle(request, response);
      return;
  }
}
