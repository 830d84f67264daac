import { readFile } from 'node:fs/promises';
import net from 'node:net';

/** Address of the default gateway in the text of /proc/net/route; undefined when there is no default route. */
export function defaultGateway(routes: string): string | undefined {
  for (const line of routes.split('\n').slice(1)) {
    const [, destination, gateway, flags] = line.trim().split(/\s+/);
    const isUpGateway = (Number.parseInt(flags ?? '0', 16) & 3) === 3;
    if (destination !== '00000000' || gateway === undefined || !isUpGateway) continue;
    const bytes = Buffer.from(gateway, 'hex').reverse();
    if (bytes.length === 4) return bytes.join('.');
  }
  return undefined;
}

/** Whether the neighbour table (/proc/net/arp) has a live entry of an address; undefined when it has none at all. */
export function isNeighbourAlive(table: string, address: string): boolean | undefined {
  for (const line of table.split('\n').slice(1)) {
    const [ip, , flags, hardware] = line.trim().split(/\s+/);
    if (ip === address) return (Number.parseInt(flags ?? '0', 16) & 2) !== 0 && hardware !== '00:00:00:00:00:00';
  }
  return undefined;
}

/**
 * Whether the default gateway answers: a connection is tried, whose outcome does not matter, and the neighbour table then says whether
 * the address could be resolved on the link. Undefined where the system does not tell (not Linux).
 */
export async function gatewayAnswers(timeoutMs: number): Promise<boolean | undefined> {
  const routes = await readFile('/proc/net/route', 'latin1').catch(() => undefined);
  if (routes === undefined) return undefined;
  const gateway = defaultGateway(routes);
  if (gateway === undefined) return false;
  const isAnswered = await knock(gateway, timeoutMs);
  if (isAnswered) return true;
  const table = await readFile('/proc/net/arp', 'latin1').catch(() => '');
  return isNeighbourAlive(table, gateway) ?? false;
}

/** True when the address accepts or refuses a connection: somebody is there. */
function knock(address: string, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect({ host: address, port: 53 });
    const done = (isThere: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(isThere);
    };
    const timer = setTimeout(() => done(false), timeoutMs);
    socket.once('connect', () => done(true));
    socket.once('error', (error: NodeJS.ErrnoException) =>
      done(error.code === 'ECONNREFUSED' || error.code === 'ECONNRESET'),
    );
  });
}
