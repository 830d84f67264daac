import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

// The receivers in a process of their own: below `/quick` they answer at once, at `/slow` late, and at `/dead` never.

/** What quick receivers got since the last report: the first number of their paths, and the time since each event in ms. */
export type Report = { readonly workspaces: readonly number[]; readonly latenciesMs: readonly number[] };

const slowMs = 3_000;
const hung = new Set<Socket>();
let workspaces: number[] = [];
let latenciesMs: number[] = [];

const server = createServer({ keepAliveTimeout: 30_000 }, (request, response) => {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    const [, kind, workspace] = (request.url ?? '').split('/');
    if (kind === 'dead') {
      hung.add(request.socket);
      request.socket.once('close', () => hung.delete(request.socket));
    } else if (kind === 'slow') {
      setTimeout(() => response.end('ok'), slowMs).unref();
    } else {
      const [, timestamp = ''] = /"timestamp":"([^"]+)"/.exec(Buffer.concat(pieces).toString('latin1')) ?? [];
      workspaces.push(Number(workspace));
      latenciesMs.push(Date.now() - Date.parse(timestamp));
      response.end('ok');
    }
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));

process.on('message', (message: 'count' | 'report' | 'release') => {
  if (message === 'count') process.send?.({ count: latenciesMs.length });
  else if (message === 'release') {
    // Whoever waits for the dead one learns of its death.
    for (const socket of hung) socket.destroy();
    process.send?.({});
  } else {
    process.send?.({ workspaces, latenciesMs } satisfies Report);
    workspaces = [];
    latenciesMs = [];
  }
});
process.once('disconnect', () => process.exit(0));
