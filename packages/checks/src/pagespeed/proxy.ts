import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, request as forward, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { CheckContext } from '../check.ts';
import { dial, locate } from '../net/dial.ts';
import type { Failure } from '../net/failure.ts';
import { parseHostPort } from '../net/host.ts';

/** What the browser may take in one run, over all connections. */
const maxBytes = 128 * 1024 * 1024;
const maxConnections = 400;

/** What a browser says to be let through. */
export type ProxyLogin = { readonly port: number; readonly username: string; readonly password: string };

/** How long a connection took to come about, whole microseconds. */
type ConnectTimes = { readonly dnsUs: number; readonly connectUs: number };

const username = 'browser';
const notLoggedIn = { 'proxy-authenticate': 'Basic realm="Parallax"', 'content-length': '0', connection: 'close' };

/** Opens a proxy for one run of a browser, on a port that the system chooses. */
export async function openProxy(context: CheckContext): Promise<GuardedProxy> {
  const proxy = new GuardedProxy(context);
  await proxy.listen();
  return proxy;
}

/** The browser's only way out: a proxy on loopback that resolves, judges and dials for it as every check does. */
export class GuardedProxy {
  readonly #context: CheckContext;
  readonly #server: Server;
  readonly #password = randomBytes(24).toString('base64url');
  readonly #wanted = Buffer.from(`Basic ${Buffer.from(`${username}:${this.#password}`).toString('base64')}`);
  readonly #sockets = new Set<Socket>();
  readonly #failures = new Map<string, Failure>();
  readonly #times = new Map<string, ConnectTimes>();
  #port = 0;
  #denied = 0;
  #connections = 0;
  #received = 0;

  constructor(context: CheckContext) {
    this.#context = context;
    this.#server = createServer((request, response) => {
      this.#pass(request, response).catch(() => request.socket.destroy());
    });
    this.#server.on('connect', (request, socket: Socket) => {
      this.#tunnel(request, socket).catch(() => socket.destroy());
    });
    this.#server.on('connection', (socket: Socket) => this.#keep(socket));
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(0, '127.0.0.1', resolve);
    });
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Everybody on this machine reaches the port, so the proxy serves only who knows a password that it made for this run. */
  get login(): ProxyLogin {
    return { port: this.#port, username, password: this.#password };
  }

  /** Connections that the address policy did not allow. */
  denied(): number {
    return this.#denied;
  }

  /** Why the last connection to `host:port` did not come about; undefined when it did. */
  failureOf(host: string, port: number): Failure | undefined {
    return this.#failures.get(keyOf(host, port));
  }

  /** The times of the first connection to `host:port`. */
  timesOf(host: string, port: number): ConnectTimes | undefined {
    return this.#times.get(keyOf(host, port));
  }

  /** Ends every connection; nothing is left when it returns but the listener's last tick. */
  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  /** What comes with CONNECT: the bytes of both sides, unread. */
  async #tunnel(request: IncomingMessage, client: Socket): Promise<void> {
    if (!this.#isLoggedIn(request)) {
      const fields = Object.entries(notLoggedIn).map(([name, value]) => `${name}: ${value}\r\n`);
      client.end(`HTTP/1.1 407 Proxy Authentication Required\r\n${fields.join('')}\r\n`);
      return;
    }
    const to = parseHostPort(request.url ?? '', { schemes: {}, defaultPort: undefined });
    const upstream = typeof to === 'string' ? undefined : await this.#connect(to.host, to.port);
    if (upstream === undefined) {
      client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
      return;
    }
    if (client.destroyed) {
      upstream.destroy();
      return;
    }
    client.write('HTTP/1.1 200 OK\r\n\r\n');
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    upstream.pipe(client);
    client.pipe(upstream);
  }

  /** A request in plain HTTP. */
  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!this.#isLoggedIn(request)) {
      response.writeHead(407, notLoggedIn).end();
      return;
    }
    const url = URL.parse(request.url ?? '');
    if (url?.host === `127.0.0.1:${this.#port}`) {
      // Nothing lies here: the browser comes to say its password.
      response.writeHead(204, { connection: 'close' }).end();
      return;
    }
    const upstream = url?.protocol === 'http:' ? await this.#connect(url.hostname, Number(url.port || 80)) : undefined;
    if (url === null || upstream === undefined || response.destroyed) {
      // No answer of ours may look like one of the target's.
      upstream?.destroy();
      request.socket.destroy();
      return;
    }
    forwardOver(upstream, url, request, response);
  }

  #isLoggedIn({ headers }: IncomingMessage): boolean {
    const given = Buffer.from(headers['proxy-authorization'] ?? '');
    return given.length === this.#wanted.length && timingSafeEqual(given, this.#wanted);
  }

  /** A connected socket to a judged address, or undefined. */
  async #connect(host: string, port: number): Promise<Socket | undefined> {
    this.#connections += 1;
    if (this.#connections > maxConnections || !this.#server.listening) return undefined;
    const key = keyOf(host, port);
    const located = await locate(host.replace(/^\[|\]$/g, ''), port, this.#context);
    if (!located.ok) {
      if (located.failure.code === 'address_denied') this.#denied += 1;
      this.#failures.set(key, located.failure);
      return undefined;
    }
    const dialed = await dial(located.endpoint, this.#context);
    if (!dialed.ok) {
      this.#failures.set(key, dialed.failure);
      return undefined;
    }
    this.#failures.delete(key);
    if (!this.#times.has(key)) this.#times.set(key, { dnsUs: located.dnsUs, connectUs: dialed.connectUs });
    const { socket } = dialed;
    this.#keep(socket);
    if (!this.#server.listening) socket.destroy();
    socket.on('data', (piece: Buffer) => {
      this.#received += piece.length;
      if (this.#received > maxBytes) this.close();
    });
    return socket;
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#sockets.delete(socket));
  }
}

/** Sends a request to its target and the target's answer back, without what belongs to one connection alone. */
function forwardOver(upstream: Socket, url: URL, request: IncomingMessage, response: ServerResponse): void {
  const headers = Object.fromEntries(
    Object.entries(request.headers).filter(([name]) => !/^(?:proxy-.*|connection|host)$/.test(name)),
  );
  const outgoing = forward(
    {
      createConnection: () => upstream,
      method: request.method,
      path: `${url.pathname}${url.search}`,
      headers: { host: url.host, ...headers, connection: 'close' },
      setHost: false,
    },
    (incoming) => {
      const {
        connection: _connection,
        'keep-alive': _keepAlive,
        'transfer-encoding': _coding,
        trailer: _trailer,
        ...rest
      } = incoming.headers;
      incoming.on('error', () => response.destroy());
      try {
        response.writeHead(incoming.statusCode ?? 502, rest);
      } catch {
        // A status such as 001 is no HTTP, and Node does not write it.
        request.socket.destroy();
        return;
      }
      incoming.pipe(response);
    },
  );
  outgoing.on('error', () => request.socket.destroy());
  // A change to another protocol, which nobody asked for, is no error to Node.
  upstream.on('close', () => {
    if (!response.headersSent) request.socket.destroy();
  });
  response.on('error', () => upstream.destroy());
  response.on('close', () => upstream.destroy());
  request.pipe(outgoing);
}

function keyOf(host: string, port: number): string {
  return `${host.replace(/^\[|\]$/g, '').toLowerCase()} ${port}`;
}
