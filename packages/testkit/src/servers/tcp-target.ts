import { createServer, type Socket } from 'node:net';
import type { TestContext } from '../test-context.ts';
import { listenOnLoopback, trackSockets } from './listen.ts';

/** What the target does with each connection from now on. `greet` sends a banner, `echo` sends back what comes. */
export type TcpBehaviour =
  | { readonly kind: 'greet'; readonly banner: string }
  | { readonly kind: 'echo' }
  | { readonly kind: 'silent' }
  | { readonly kind: 'close' }
  | { readonly kind: 'reset' };

export type TcpTarget = {
  readonly host: string;
  readonly port: number;
  connections(): number;
  behave(behaviour: TcpBehaviour): void;
  close(): Promise<void>;
  open(): Promise<void>;
};

/** A TCP server on loopback whose behaviour can be switched, ended with the test. It is silent at first. */
export async function tcpTarget(
  t: TestContext,
  options: { readonly host?: string; readonly behaviour?: TcpBehaviour } = {},
): Promise<TcpTarget> {
  const host = options.host ?? '127.0.0.1';
  let behaviour: TcpBehaviour = options.behaviour ?? { kind: 'silent' };
  let count = 0;
  const server = createServer((socket) => {
    count++;
    welcome(behaviour, socket);
  });
  const endSockets = trackSockets(server);
  const port = await listenOnLoopback(server, 0, host);
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      endSockets();
    });
  t.teardown(close);
  return {
    host,
    port,
    connections: () => count,
    behave: (next) => {
      behaviour = next;
    },
    close,
    open: () => listenOnLoopback(server, port, host).then(() => undefined),
  };
}

function welcome(behaviour: TcpBehaviour, socket: Socket): void {
  switch (behaviour.kind) {
    case 'greet':
      socket.write(behaviour.banner);
      return;
    case 'echo':
      socket.pipe(socket);
      return;
    case 'silent':
      socket.resume();
      return;
    case 'close':
      socket.end();
      return;
    case 'reset':
      socket.resetAndDestroy();
      return;
  }
}
