import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, request as forward, type ServerResponse } from 'node:http';
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

/** The browser's only way out: a proxy on loopback that resolves, judges and dials for it as every check does. */
export type GuardedProxy = {
  /** Everybody on this machine reaches the port, so the proxy serves only who knows a password that it made for this run. */
  readonly login: ProxyLogin;
  /** Connections that the address policy did not allow. */
  readonly denied: () => number;
  /** Why the last connection to `host:port` did not come about; undefined when it did. */
  readonly failureOf: (host: string, port: number) => Failure | undefined;
  /** The times of the first connection to `host:port`, whole microseconds. */
  readonly timesOf: (host: string, port: number) => { readonly dnsUs: number; readonly connectUs: number } | undefined;
  /** Ends every connection; nothing is left when it returns but the listener's last tick. */
  readonly close: () => void;
};

const username = 'browser';
const notLoggedIn = { 'proxy-authenticate': 'Basic realm="Parallax"', 'content-length': '0', connection: 'close' };

export async function openProxy(context: CheckContext): Promise<GuardedProxy> {
  const password = randomBytes(24).toString('base64url');
  const wanted = Buffer.from(`Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`);
  const sockets = new Set<Socket>();
  const failures = new Map<string, Failure>();
  const times = new Map<string, { readonly dnsUs: number; readonly connectUs: number }>();
  let denied = 0;
  let connections = 0;
  let received = 0;

  function keep(socket: Socket): void {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  }

  function close(): void {
    server.close();
    for (const socket of sockets) socket.destroy();
  }

  /** A connected socket to a judged address, or undefined. */
  async function connect(host: string, port: number): Promise<Socket | undefined> {
    connections += 1;
    if (connections > maxConnections || !server.listening) return undefined;
    const key = keyOf(host, port);
    const located = await locate(host.replace(/^\[|\]$/g, ''), port, context);
    if (!located.ok) {
      if (located.failure.code === 'address_denied') denied += 1;
      failures.set(key, located.failure);
      return undefined;
    }
    const dialed = await dial(located.endpoint, context);
    if (!dialed.ok) {
      failures.set(key, dialed.failure);
      return undefined;
    }
    failures.delete(key);
    if (!times.has(key)) times.set(key, { dnsUs: located.dnsUs, connectUs: dialed.connectUs });
    const { socket } = dialed;
    keep(socket);
    if (!server.listening) socket.destroy();
    socket.on('data', (piece: Buffer) => {
      received += piece.length;
      if (received > maxBytes) close();
    });
    return socket;
  }

  function isLoggedIn({ headers }: IncomingMessage): boolean {
    const given = Buffer.from(headers['proxy-authorization'] ?? '');
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  }

  async function tunnel(request: IncomingMessage, client: Socket): Promise<void> {
    if (!isLoggedIn(request)) {
      const fields = Object.entries(notLoggedIn).map(([name, value]) => `${name}: ${value}\r\n`);
      client.end(`HTTP/1.1 407 Proxy Authentication Required\r\n${fields.join('')}\r\n`);
      return;
    }
    const to = parseHostPort(request.url ?? '', { schemes: {}, defaultPort: undefined });
    const upstream = typeof to === 'string' ? undefined : await connect(to.host, to.port);
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

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isLoggedIn(request)) {
      response.writeHead(407, notLoggedIn).end();
      return;
    }
    const url = URL.parse(request.url ?? '');
    if (url?.host === `127.0.0.1:${port}`) {
      // Nothing lies here: the browser comes to say its password.
      response.writeHead(204, { connection: 'close' }).end();
      return;
    }
    const upstream = url?.protocol === 'http:' ? await connect(url.hostname, Number(url.port || 80)) : undefined;
    if (url === null || upstream === undefined || response.destroyed) {
      // No answer of ours may look like one of the target's.
      upstream?.destroy();
      request.socket.destroy();
      return;
    }
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

  const server = createServer((request, response) => {
    pass(request, response).catch(() => request.socket.destroy());
  });
  server.on('connect', (request, socket: Socket) => {
    tunnel(request, socket).catch(() => socket.destroy());
  });
  server.on('connection', keep);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    login: { port, username, password },
    denied: () => denied,
    failureOf: (host, port) => failures.get(keyOf(host, port)),
    timesOf: (host, port) => times.get(keyOf(host, port)),
    close,
  };
}

function keyOf(host: string, port: number): string {
  return `${host.replace(/^\[|\]$/g, '').toLowerCase()} ${port}`;
}
