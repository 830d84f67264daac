import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net, { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { listen, type Peer } from './context.ts';

/** What a hostile peer does: with a connection, with a datagram, and as a browser that a check starts (lines of a shell). */
type Hostile = {
  readonly stream: (socket: Socket) => void;
  readonly datagram?: Buffer;
  readonly browser: string;
};

const garbage = Buffer.from('\x16\x03\x7fgarbage\xff\xfe\r\n\r\n', 'latin1');
const endless = Buffer.from(`X-A: ${'b'.repeat(8000)}\r\n`);
const silence = 'exec sleep 60';

/** The peers that every check type has to survive, by what they do. */
export const hostilePeers = {
  'closes at once': { stream: (socket) => socket.destroy(), browser: 'exit 0' },
  'ends at once': { stream: (socket) => socket.resume().end(), browser: 'exit 1' },
  'never answers': { stream: (socket) => socket.resume(), browser: silence },
  'answers garbage': {
    stream: (socket) => socket.resume().write(garbage),
    datagram: garbage,
    browser: `printf 'garbage\\0{}\\0' >&4; ${silence}`,
  },
  'sends one byte at a time': {
    stream: (socket) => trickle(socket, 'HTTP/1.1 200 OK\r\nServer: slow'),
    datagram: Buffer.from('H'),
    browser: 'while printf x >&4; do sleep 0.02; done',
  },
  'streams without end': {
    stream: (socket) => flood(socket, Buffer.alloc(65536, 'x')),
    datagram: Buffer.alloc(1400, 'x'),
    browser: 'exec cat /dev/zero >&4',
  },
  'speaks another protocol': {
    stream: (socket) => socket.resume().write('SSH-2.0-OpenSSH_9.2\r\n'),
    datagram: Buffer.from('SSH-2.0-OpenSSH_9.2\r\n'),
    browser: `printf 'SSH-2.0-OpenSSH_9.2\\r\\n' >&4; ${silence}`,
  },
  resets: { stream: (socket) => socket.resetAndDestroy(), browser: 'kill -KILL $$' },
  'closes in the handshake': {
    stream: (socket) => socket.once('data', () => socket.destroy()),
    browser: 'read -r line <&3; exit 0',
  },
  'resets in the handshake': {
    stream: (socket) => socket.once('data', () => socket.resetAndDestroy()),
    browser: 'read -r line <&3; kill -KILL $$',
  },
  'sends a header without end': {
    stream: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      flood(socket, endless);
    },
    datagram: endless,
    browser: `printf '{"id":1,"result":{"a":"' >&4; exec yes >&4`,
  },
  'sends binary zeros': {
    stream: (socket) => socket.resume().write(Buffer.alloc(10_000)),
    datagram: Buffer.alloc(100),
    browser: `head -c 10000 /dev/zero >&4; ${silence}`,
  },
} as const satisfies Readonly<Record<string, Hostile>>;
export type HostilePeer = keyof typeof hostilePeers;
export const hostilePeerNames = Object.keys(hostilePeers) as readonly HostilePeer[];

function trickle(socket: Socket, text: string): void {
  let at = 0;
  const timer = setInterval(() => socket.write(text[at++ % text.length] ?? ''), 20);
  socket.resume().on('close', () => clearInterval(timer));
}

function flood(socket: Socket, piece: Buffer): void {
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.resume().on('drain', more);
  more();
}

/** A port of loopback that is the same for TCP and UDP. `datagram` is what every datagram is answered with; absent: nothing. */
export async function openPeer(
  stream: (socket: Socket) => void,
  datagram?: (query: Buffer) => Buffer | undefined,
): Promise<Peer> {
  for (;;) {
    const tcp = await listen(createServer(stream));
    const udp = createSocket('udp4');
    // Somebody else may have this number for UDP.
    const isBound = await new Promise<boolean>((resolve) => {
      udp.once('error', () => resolve(false)).bind(tcp.port, '127.0.0.1', () => resolve(true));
    });
    if (!isBound) {
      udp.close();
      await tcp.stop();
      continue;
    }
    udp.on('error', () => undefined);
    udp.on('message', (query, from) => {
      const answer = datagram?.(query);
      if (answer !== undefined) udp.send(answer, from.port, from.address);
    });
    const stop = async () => {
      await Promise.all([tcp.stop(), new Promise<void>((resolve) => void udp.close(() => resolve()))]);
    };
    return { ...tcp, stop };
  }
}

/** A hostile peer at a port for TCP and UDP. */
export function openHostile(what: HostilePeer): Promise<Peer> {
  const { stream, datagram }: Hostile = hostilePeers[what];
  return openPeer(stream, () => datagram);
}

/** Programs that stand in for a browser, by what they do; gone with the test. */
export function hostileBrowsers(t: Test): Readonly<Record<HostilePeer, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'parallax-hostile-'));
  // Browsers are started under another account.
  chmodSync(folder, 0o755);
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const made = hostilePeerNames.map((what, index) => {
    const path = join(folder, `browser-${index}`);
    writeFileSync(path, `#!/bin/sh\n${hostilePeers[what].browser}\n`, { mode: 0o755 });
    return [what, path] as const;
  });
  return Object.fromEntries(made) as Record<HostilePeer, string>;
}

const stoppedListener = `
  const listen = () => {
    const server = require('node:net').createServer(() => undefined);
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      const { port } = server.address();
      const udp = require('node:dgram').createSocket('udp4');
      udp.once('error', () => (server.close(), listen()));
      udp.bind(port, '127.0.0.1', () => process.stdout.write(port + '\\n'));
    });
  };
  listen();
`;

/**
 * A port whose queue of connections is full and is never emptied, so that connecting to it takes for ever; datagrams are not answered. Ends
 * with the test.
 */
export async function openFullPort(t: Test): Promise<number> {
  const { NODE_OPTIONS: _ours, ...env } = process.env;
  const child = spawn(process.execPath, ['-e', stoppedListener], { stdio: ['ignore', 'pipe', 'inherit'], env });
  const waiting: Socket[] = [];
  t.teardown(async () => {
    for (const socket of waiting) socket.destroy();
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  const [piece] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(piece.toString('latin1'));
  child.kill('SIGSTOP');
  // The first few still find room; the first that waits says that there is no more.
  for (;;) {
    const socket = net.connect({ port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    waiting.push(socket);
    const isConnected = await Promise.race([
      once(socket, 'connect').then(() => true),
      new Promise<boolean>((resolve) => setTimeout(resolve, 150, false)),
    ]);
    if (!isConnected) return port;
  }
}
