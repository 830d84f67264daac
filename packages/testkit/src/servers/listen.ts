import type { AddressInfo, Server, Socket } from 'node:net';

/** Listens and gives the port; rejects when it is taken. */
export function listenOnLoopback(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.removeListener('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** Keeps the connections of a server, so that it can be closed at once. Gives the function that ends them all. */
export function trackSockets(server: Server): () => void {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    // A client that goes away is not the fixture's concern.
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  });
  return () => {
    for (const socket of sockets) socket.destroy();
  };
}
