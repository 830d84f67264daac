import { createSocket } from 'node:dgram';
import { findProgram } from '@parallax/settings/programs';
import { createPinger } from './icmp/pinger.ts';
import { planPings } from './icmp/plan.ts';
import { findPingTool } from './icmp/tool.ts';
import { trace, traceMethods } from './traceroute/tracer.ts';

/** A ping of loopback with the program that checks use. */
export type PingTrial = {
  /** The program, as a path; absent where there is none. */
  readonly path?: string;
  readonly name?: 'fping' | 'ping';
  readonly works: boolean;
  /** Why it does not; empty when it does. */
  readonly reason: string;
};

/** Whether this process may ping, by trying it. Takes some milliseconds, at most three seconds. */
export async function tryPing(): Promise<PingTrial> {
  const tool = findPingTool();
  if (tool === undefined) return { works: false, reason: 'neither fping nor ping is installed' };
  const found = { path: tool.path, name: tool.name };
  const order = { ...planPings(1, 1000), packetBytes: 56, sourceAddress: undefined };
  const pinged = await createPinger({ tool, windowMs: 0 }).ping('127.0.0.1', order, AbortSignal.timeout(3000));
  if (!pinged.ok) return { ...found, works: false, reason: pinged.detail };
  const works = pinged.roundTripsUs[0] !== undefined;
  return { ...found, works, reason: works ? '' : 'it got no answer from this machine itself' };
}

/** The program traceroute, and the kinds of packets that this process may send with it. */
export type TracerouteTrial = {
  readonly path: string | undefined;
  readonly methods: readonly (typeof traceMethods)[number][];
};

/** What can be traced from here, by trying it on loopback. Takes some milliseconds, at most two seconds. */
export async function tryTraceroute(path = findProgram('traceroute')): Promise<TracerouteTrial> {
  if (path === undefined) return { path, methods: [] };
  const order = { port: undefined, maxHops: 1, packetsPerHop: 1, budgetMs: 1500, sourceAddress: undefined };
  const tried = await Promise.all(
    traceMethods.map(async (method) => {
      const { hops } = await trace(path, '127.0.0.1', { ...order, method }, AbortSignal.timeout(2000));
      return hops.length > 0 ? [method] : [];
    }),
  );
  return { path, methods: tried.flat() };
}

/** Whether this machine has a route to the Internet in a family; no packet is sent. */
export function hasRoute(family: 4 | 6): Promise<boolean> {
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4');
  return new Promise((resolve) => {
    socket.once('connect', () => {
      socket.close();
      resolve(true);
    });
    socket.once('error', () => {
      socket.removeAllListeners('connect').close();
      resolve(false);
    });
    // Addresses for documentation (RFC 5737, RFC 3849): only the default route leads there.
    socket.connect(9, family === 6 ? '2001:db8::1' : '192.0.2.1');
  });
}
