import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** What a load has measured. */
export type Load = {
  readonly answered: number;
  readonly refused: number;
  readonly seconds: number;
  readonly latenciesMs: number[];
};

type Connection = { readonly socket: Socket; sentMs: number; isBusy: boolean; isOpen: boolean; read: string };

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
  let lost = 0;
  let isOver = false;
  const beganMs = performance.now();
  const send = (connection: Connection, dueMs: number): void => {
    if (!connection.isOpen) {
      lost += 1;
      return;
    }
    const path = paths[sent % paths.length] ?? '';
    sent += 1;
    connection.isBusy = true;
    connection.sentMs = dueMs;
    connection.socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
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
  const all = connections.map((socket): Connection => ({ socket, sentMs: 0, isBusy: false, isOpen: true, read: '' }));
  for (const connection of all) {
    connection.socket.setNoDelay(true);
    // A ping whose connection ended was not taken; without this its answer would be waited for until the end of time.
    connection.socket.on('close', () => {
      if (connection.isBusy) lost += 1;
      connection.isBusy = false;
      connection.isOpen = false;
    });
    connection.socket.on('data', (chunk: Buffer) => {
      connection.read += chunk.toString('latin1');
      const head = connection.read.indexOf('\r\n\r\n');
      if (head === -1) return;
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(connection.read)?.[1] ?? 0);
      if (connection.read.length < head + 4 + length) return;
      const isTaken = connection.read.startsWith('HTTP/1.1 200');
      connection.read = connection.read.slice(head + 4 + length);
      latenciesMs.push(performance.now() - connection.sentMs);
      if (!isTaken) refused += 1;
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
  lost += due.length;
  for (const { socket } of all) socket.destroy();
  return { answered: latenciesMs.length - refused, refused: refused + lost, seconds, latenciesMs };
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.on('error', reject);
  });
}
