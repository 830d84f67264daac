import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import net, { type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Issued } from './certificates.ts';
import { listen, listenRaw, type Peer } from './context.ts';

/** A proxy inside this process that connects wherever it is asked to, with names in its own table. */
export type ProxyPeer = Peer & {
  /** `host:port` of what it was asked for, in order. */
  readonly asked: readonly string[];
};

export type ProxyPeerOptions = {
  /** `user:password` that it wants. */
  readonly login?: string;
  /** Addresses of names; every other host is what it says. */
  readonly names?: Readonly<Record<string, string>>;
  /** Makes it speak TLS itself. */
  readonly certificate?: Issued;
  /** It answers every CONNECT with this status. */
  readonly status?: number;
};

/** A proxy of HTTP that knows CONNECT only. */
export async function startHttpProxy(options: ProxyPeerOptions = {}): Promise<ProxyPeer> {
  const asked: string[] = [];
  const { certificate } = options;
  const server =
    certificate === undefined ? createServer() : createSecureServer({ key: certificate.key, cert: certificate.cert });
  const wanted = options.login && `Basic ${Buffer.from(options.login).toString('base64')}`;
  server.on('request', (_request, response) => response.writeHead(405).end());
  server.on('connect', (request: IncomingMessage, client: Duplex) => {
    client.on('error', () => undefined);
    const say = (line: string) => client.end(`HTTP/1.1 ${line}\r\nContent-Length: 0\r\n\r\n`);
    if (wanted !== undefined && request.headers['proxy-authorization'] !== wanted) return say('407 Log in first');
    asked.push(request.url ?? '');
    if (options.status !== undefined) return say(`${options.status} As told`);
    const { hostname, port } = new URL(`http://${request.url}`);
    const bare = hostname.replace(/^\[|\]$/g, '');
    const onward = net.connect(Number(port || 80), options.names?.[bare] ?? bare);
    onward.on('connect', () => {
      client.write('HTTP/1.1 200 Connected\r\n\r\n');
      join(client, onward);
    });
    onward.on('error', () => say('502 No connection'));
  });
  return { ...(await listen(server)), asked };
}

/** A SOCKS5 proxy that connects by address and by name. */
export async function startSocksProxy(options: ProxyPeerOptions = {}): Promise<ProxyPeer> {
  const asked: string[] = [];
  const peer = await listenRaw((client) => {
    void serve(client, options, asked).catch(() => client.destroy());
  });
  return { ...peer, asked };
}

async function serve(client: Socket, { login, names, status }: ProxyPeerOptions, asked: string[]): Promise<void> {
  const next = reader(client);
  const [, methods = 0] = await next(2);
  const offered = await next(methods);
  const method = login === undefined ? 0 : 2;
  if (!offered.includes(method)) return void client.end(Buffer.from([5, 0xff]));
  client.write(Buffer.from([5, method]));
  if (login !== undefined) {
    const [, nameLength = 0] = await next(2);
    const name = await next(nameLength);
    const [secretLength = 0] = await next(1);
    const secret = await next(secretLength);
    const isRight = `${name.toString()}:${secret.toString()}` === login;
    client.write(Buffer.from([1, isRight ? 0 : 1]));
    if (!isRight) return void client.end();
  }
  const [, , , kind] = await next(4);
  const host =
    kind === 1
      ? (await next(4)).join('.')
      : (await next(kind === 3 ? ((await next(1))[0] ?? 0) : 16)).toString(kind === 3 ? 'latin1' : 'hex');
  const port = (await next(2)).readUInt16BE();
  asked.push(`${host}:${port}`);
  const reply = (code: number) => client.write(Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0]));
  if (status !== undefined) return void reply(status);
  const onward = net.connect(port, names?.[host] ?? host);
  onward.on('connect', () => {
    reply(0);
    join(client, onward);
  });
  onward.on('error', () => reply(5));
}

function join(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.pipe(to);
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
  }
}

/** Takes so many bytes from the front of what comes. */
function reader(socket: Socket): (count: number) => Promise<Buffer> {
  return async (count) => {
    if (count === 0) return Buffer.alloc(0);
    for (;;) {
      const piece = socket.read(count) as Buffer | null;
      if (piece !== null) return piece;
      await new Promise<void>((resolve, reject) => {
        socket.once('readable', resolve).once('close', () => reject(new Error('It was closed.')));
      });
    }
  };
}
