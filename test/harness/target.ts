import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a target does to one vantage point. */
export type Behaviour = 'answer' | 'refuse' | 'fail' | 'hang';

/** A real HTTP server that behaves towards each client address as told. */
export type Target = {
  readonly url: string;
  /** By client address, for example 127.0.0.2. */
  readonly towards: (address: string, behaviour: Behaviour) => void;
  readonly everybody: (behaviour: Behaviour) => void;
  /** When each address asked, milliseconds since the epoch. */
  readonly asked: (address: string) => readonly number[];
  /** Ends the server: nobody listens at its address until `reopen`. */
  readonly shut: () => Promise<void>;
  readonly reopen: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export async function startTarget(): Promise<Target> {
  const behaviours = new Map<string, Behaviour>();
  let fallback: Behaviour = 'answer';
  const asked = new Map<string, number[]>();
  const server = createServer((request, response) => {
    const address = request.socket.remoteAddress ?? '';
    asked.set(address, [...(asked.get(address) ?? []), Date.now()]);
    const behaviour = behaviours.get(address) ?? fallback;
    if (behaviour === 'answer') response.end('hello\n');
    else if (behaviour === 'fail') response.writeHead(503).end('out of order\n');
    else if (behaviour === 'refuse') request.socket.resetAndDestroy();
  });
  server.keepAliveTimeout = 1;
  const listen = (at: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(at, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  const end = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}/`,
    towards: (address, behaviour) => behaviours.set(address, behaviour),
    everybody: (behaviour) => {
      behaviours.clear();
      fallback = behaviour;
    },
    asked: (address) => asked.get(address) ?? [],
    shut: end,
    reopen: () => listen(port),
    close: end,
  };
}
