import { networkInterfaces } from 'node:os';
import type { ProbeCapability } from './check.ts';
import { createPinger } from './icmp/pinger.ts';
import { planPings } from './icmp/plan.ts';

/** What this machine can do, by trying: a ping of its own loopback address, and an IPv6 address beyond loopback and link. */
export async function detectCapabilities(): Promise<ProbeCapability[]> {
  const found: ProbeCapability[] = [];
  const order = { ...planPings(1, 1000), packetBytes: 56, sourceAddress: undefined };
  const pinged = await createPinger({ windowMs: 0 }).ping('127.0.0.1', order, AbortSignal.timeout(3000));
  if (pinged.ok && pinged.roundTripsUs[0] !== undefined) found.push('icmp');
  const addresses = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).filter((each) => !each.internal));
  if (addresses.some((each) => each.family === 'IPv6' && !each.address.startsWith('fe80:'))) found.push('ipv6');
  return found;
}
