import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** What a load has measured. */
export type Load = {
  readonly answered: number;
  readonly refused: number;
  readonly seconds: number;
  readonly latenciesMs: number[];
};

type Connection = { readonly socket: Socket; sentMs: number; isBusy: boolean };

/**
 * Sends pings over connections that are kept, one at a time on each: as fast as they are answered, or at a rate, where a latency counts from when the
 * ping was due whether or not a connection was free for it. Written on sockets, so that the client takes little of the processor.
 */
export async function sendPings(
  port: number,
  paths: readonly string[],
  options: { readonly connections: number; readonly seconds: number; readonly perSecond?: number },
): Promise<Load> {
  const free: Connection[] = [];
  const latenciesMs: number[] = [];
  const due: number[] = [];
  let sent = 0;
  let refused = 0;
  let isOver = false;
  const beganMs = performance.now();
  const send = (connection: Connection, dueMs: number): void => {
    const path = paths[sent % paths.length] ?? '';
    sent += 1;
    connection.isBusy = true;
    connection.sentMs = dueMs;
    connection.socket.write(`GET ${path} HTTP/1.1\r\nhost: bench\r\n\r\n`);
  };
  const next = (connection: Connection): void => {
    if (options.perSecond === undefined) {
      if (!isOver) send(connection, performance.now());
      return;
    }
    const dueMs = due.shift();
    if (dueMs === undefined) free.push(connection);
    else send(connection, dueMs);
  };
  const connections = await Promise.all(Array.from({ length: options.connections }, () => open(port)));
  const all = connections.map((socket): Connection => ({ socket, sentMs: 0, isBusy: false }));
  for (const connection of all) {
    connection.socket.setNoDelay(true);
    connection.socket.on('data', (chunk: Buffer) => {
      // Answers are small and come whole; a second part of one has no status line.
      const text = chunk.toString('latin1', 0, 12);
      if (!text.startsWith('HTTP/1.1 ')) return;
      latenciesMs.push(performance.now() - connection.sentMs);
      if (!text.endsWith('200')) refused += 1;
      connection.isBusy = false;
      next(connection);
    });
    next(connection);
  }
  const untilMs = beganMs + options.seconds * 1_000;
  let offered = 0;
  while (performance.now() < untilMs) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (options.perSecond === undefined) continue;
    const wanted = Math.floor(((performance.now() - beganMs) / 1_000) * options.perSecond);
    for (; offered < wanted; offered += 1) {
      const dueMs = beganMs + (offered * 1_000) / options.perSecond;
      const connection = free.pop();
      if (connection === undefined) due.push(dueMs);
      else send(connection, dueMs);
    }
  }
  isOver = true;
  const seconds = (performance.now() - beganMs) / 1_000;
  while (all.some(({ isBusy }) => isBusy)) await new Promise((resolve) => setTimeout(resolve, 5));
  for (const { socket } of all) socket.destroy();
  return { answered: latenciesMs.length - refused, refused, seconds, latenciesMs };
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.on('error', reject);
  });
}
