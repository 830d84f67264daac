import { createServer, type AddressInfo } from 'node:net';

/** A TCP port of loopback that is free now. For programs that cannot be told to take any; others listen on port 0. */
export function freePort(host = '127.0.0.1'): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, host, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
