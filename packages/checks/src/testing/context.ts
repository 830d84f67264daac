import net from 'node:net';
import type { CheckContext } from '../check.ts';
import { createAddressPolicy } from '../net/address-policy.ts';
import { createResolver } from '../net/resolve.ts';

/** A context for tests: loopback may be reached, names come from the hosts file. */
export function testContext(overrides: Partial<CheckContext> = {}): CheckContext {
  return {
    signal: new AbortController().signal,
    timeoutMs: 5000,
    clock: () => performance.now(),
    addresses: createAddressPolicy({ allowedPrivate: ['127.0.0.0/8', '::1'] }),
    resolver: createResolver({ servers: ['127.0.0.1:9'] }),
    userAgent: 'Parallax-test/1',
    ...overrides,
  };
}

/** A listening server with its port; every connection is ended when it stops. */
export type Peer = {
  readonly port: number;
  readonly connections: ReadonlySet<net.Socket>;
  readonly stop: () => Promise<void>;
};

type Listening = Pick<net.Server, 'listen' | 'close' | 'address' | 'on' | 'once'>;

/** Lets a server listen on loopback at a free port. */
export async function listen(server: Listening, host = '127.0.0.1'): Promise<Peer> {
  const connections = new Set<net.Socket>();
  server.on('connection', (socket: net.Socket) => {
    connections.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => connections.delete(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, host, () => resolve());
  });
  const stop = async () => {
    for (const socket of connections) socket.destroy();
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
  };
  return { port: (server.address() as net.AddressInfo).port, connections, stop };
}

/** A raw TCP peer that does whatever the handler does with each connection. */
export function listenRaw(handler: (socket: net.Socket) => void): Promise<Peer> {
  return listen(net.createServer(handler));
}

/** Waits until a condition holds; fails after ten seconds. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const end = performance.now() + 10_000;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`It did not come to pass that ${what}.`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
