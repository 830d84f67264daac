import { createSocket } from 'node:dgram';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Root name servers: addresses of the Internet that every default route leads to. Nothing is sent to them. */
const outside = { 4: '198.41.0.4', 6: '2001:503:ba3e::2:30' } as const;

/**
 * The addresses that connections to the Internet leave this machine from, one of each family that has a route: the kernel's own choice. Without any route
 * those of its networks, and loopback where there is nothing else.
 * @param chosen the address that the operator lets checks leave from, which stands for its family
 */
export async function sourceAddresses(chosen?: string): Promise<readonly string[]> {
  const routed = await Promise.all(
    ([4, 6] as const).map(async (family) =>
      chosen !== undefined && isIP(chosen) === family ? chosen : routedFrom(family),
    ),
  );
  const found = routed.filter((address) => address !== undefined);
  if (found.length > 0) return found;
  const ofNetworks = Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .filter(({ internal, address }) => !internal && !/^fe[89ab]/i.test(address))
    .map(({ address }) => address);
  return ofNetworks.length > 0 ? ofNetworks : ['127.0.0.1'];
}

/** To connect a datagram socket asks the kernel for the route and the source, and sends nothing. */
function routedFrom(family: 4 | 6): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket(family === 4 ? 'udp4' : 'udp6');
    const finish = (address: string | undefined): void => {
      socket.close();
      resolve(address);
    };
    socket.once('error', () => finish(undefined));
    // Where there is no route, or the family is switched off, the listener is called with an error and the socket has the unspecified address.
    const connected = (error?: Error): void => finish(error === undefined ? socket.address().address : undefined);
    socket.connect(53, outside[family], connected);
  });
}
