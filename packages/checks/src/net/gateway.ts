import { readFile } from 'node:fs/promises';
import { knock } from './knock.ts';

/** What the routes of a machine say about its way out. */
export type DefaultRoute =
  /** Through a neighbour that can be asked. */
  | { readonly type: 'gateway'; readonly address: string }
  /** Through a device without a neighbour (a tunnel, a dial-up link): nobody there can be asked. */
  | { readonly type: 'device' }
  | { readonly type: 'none' };

/** The IPv4 default route in the text of /proc/net/route; a gateway before a device. */
export function defaultRoute(routes: string): DefaultRoute {
  let found: DefaultRoute = { type: 'none' };
  for (const line of routes.split('\n').slice(1)) {
    const [, destination, gateway, flags, , , , mask] = line.trim().split(/\s+/);
    const bits = Number.parseInt(flags ?? '0', 16);
    if (destination !== '00000000' || mask !== '00000000' || gateway === undefined || (bits & 1) === 0) continue;
    const bytes = Buffer.from(gateway, 'hex').reverse();
    if ((bits & 2) !== 0 && bytes.length === 4) return { type: 'gateway', address: bytes.join('.') };
    found = { type: 'device' };
  }
  return found;
}

/** Whether the text of /proc/net/ipv6_route has a default route that leads somewhere. */
export function hasIpv6DefaultRoute(routes: string): boolean {
  return routes.split('\n').some((line) => {
    const [destination, prefix, , , , , , , flags, device] = line.trim().split(/\s+/);
    const bits = Number.parseInt(flags ?? '0', 16);
    // RTF_UP without RTF_REJECT; the kernel keeps a rejecting default route on the loopback device.
    return /^0{32}$/.test(destination ?? '') && prefix === '00' && (bits & 0x201) === 1 && device !== 'lo';
  });
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
 * the address could be resolved on the link. False without any default route. Undefined where the system does not tell: not Linux, a way
 * out through a device without neighbours, or through IPv6 alone.
 */
export async function gatewayAnswers(timeoutMs: number): Promise<boolean | undefined> {
  const routes = await readFile('/proc/net/route', 'latin1').catch(() => undefined);
  if (routes === undefined) return undefined;
  const route = defaultRoute(routes);
  if (route.type === 'device') return undefined;
  if (route.type === 'none') {
    const others = await readFile('/proc/net/ipv6_route', 'latin1').catch(() => '');
    return hasIpv6DefaultRoute(others) ? undefined : false;
  }
  const knocked = await knock(route.address, 53, timeoutMs);
  if (knocked !== 'silent') return knocked === 'answered';
  const table = await readFile('/proc/net/arp', 'latin1').catch(() => '');
  return isNeighbourAlive(table, route.address);
}
