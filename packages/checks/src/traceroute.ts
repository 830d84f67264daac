import { findProgram } from '@parallax/settings/programs';
import { z } from 'zod';
import type { Target } from './check.ts';
import { lazily } from './lazily.ts';
import { addressFields } from './net/connection-settings.ts';
import { type Address, conversation } from './net/conversation.ts';
import { localAddressFor } from './net/dial.ts';
import { type Failure, failed, probeFault, timedOut } from './net/failure.ts';
import { parseHostPort } from './net/host.ts';
import type { Session } from './net/session.ts';
import { averageUs, describeHop, type Hop, lossPercent } from './traceroute/output.ts';
import { trace, traceMethods } from './traceroute/tracer.ts';

/** Settings of `traceroute`. */
const tracerouteSettings = lazily(() =>
  z.strictObject({
    /** Kind of the packets. `icmp` and `tcp` get further past firewalls, but the probe has to be allowed to send them. */
    method: z.enum(traceMethods).default('udp'),
    /** Port of the packets for `udp` and `tcp`; absent: 33434 and up for `udp`, 80 for `tcp`. */
    port: z.int().min(1).max(65_535).optional(),
    /** How far the path is followed. */
    max_hops: z.int().min(1).max(64).default(30),
    /** Packets that are sent to each hop. */
    packets_per_hop: z.int().min(1).max(5).default(3),
    /** Whether the target itself has to answer. Without it a path that ends at a firewall is good. */
    require_reached: z.boolean().default(true),
    /** A path with more hops than these fails; 0 switches it off. */
    fail_hops: z.int().min(0).max(64).default(0),
    /** The same for a warning. */
    warn_hops: z.int().min(0).max(64).default(0),
    ...addressFields(),
  }),
);
export type TracerouteSettings = z.infer<ReturnType<typeof tracerouteSettings>>;

/** The path to a host: its hops, with the time and loss of each. */
export const traceroute = tracerouteBy(() => findProgram('traceroute'));

/** Kept back of the check's time for the start of the program and the verdict. */
const overheadMs = 400;

/** The check with the program at the path that `find` gives; undefined where there is none. */
export function tracerouteBy(find: () => string | undefined) {
  return conversation({
    type: 'traceroute',
    summary: 'The path to a host: hops, time and loss of each',
    reference: {
      targets: ['server.example.com', '192.0.2.1'],
      phases: ['dns'],
      details: {
        hops: 'Hops of the path.',
        reached: 'Whether the target answered.',
        silent_hops: 'Hops that did not answer.',
        loss_percent: 'Packets to the target lost, in percent.',
        rtt_average_ms: 'Mean round trip to the target, milliseconds.',
      },
    },
    settings: tracerouteSettings,
    requires: ['traceroute'],
    cheap: false,
    peer: 'a host',
    codes: 'path_incomplete',
    target: readTarget,
    talk: (session, settings) => followPath(session, settings, find()),
  });
}

/** The port counts for the policy where packets are sent to one. */
function readTarget(target: Target, { method, port }: TracerouteSettings): Address | string {
  const parsed = parseHostPort(target.url, { schemes: { traceroute: 0 }, defaultPort: 0 });
  if (typeof parsed === 'string') return parsed;
  if (parsed.port !== 0) return 'A path leads to a host; the port is a setting.';
  const sentTo = { icmp: 0, tcp: port ?? 80, udp: port ?? 0 }[method];
  return { host: parsed.host, port: sentTo, tls: 'none' };
}

async function followPath(session: Session, settings: TracerouteSettings, path: string | undefined): Promise<void> {
  const { context } = session;
  const endpoint = await session.locate();
  const { address } = endpoint;
  const unable = (why: string) => probeFault('probe_capability', `This probe cannot trace paths: ${why}.`);
  if (path === undefined) return session.demand(unable('install the package traceroute'));
  const order = {
    method: settings.method,
    port: settings.port,
    maxHops: settings.max_hops,
    packetsPerHop: settings.packets_per_hop,
    budgetMs: session.remainingMs - overheadMs,
    sourceAddress: localAddressFor(endpoint, context),
  };
  const traced = await trace(path, address, order, context.signal);
  if (traced.problem !== undefined && traced.hops.length === 0) session.demand(unable(traced.problem));
  // What lies between is often private to the network of the probe: such addresses are counted, not told.
  const shown = (hop: string) => (context.addresses.judge(hop, 0) === undefined || hop === address ? hop : 'private');
  for (const hop of traced.hops) context.trace?.('traceroute', describeHop(hop, shown));
  session.evidence = { answers: traced.hops.map((each) => describeHop(each, shown)) };
  notePath(session, traced.hops, address);
  session.demand(judgePath(traced.hops, address, settings, traced.cutShort));
}

/** What is wrong with a path, gravest first; undefined when nothing is. */
export function judgePath(
  hops: readonly Hop[],
  address: string,
  settings: TracerouteSettings,
  cutShort: boolean,
): Failure | undefined {
  const count = hops.length;
  const end = reachedAt(hops, address);
  if (end === undefined && settings.require_reached) {
    const answered = hops.findLast((each) => each.addresses.length > 0);
    const far = answered === undefined ? 'no hop answered' : `hop ${answered.hop} was the last that answered`;
    const refusal = hops.flatMap((each) => each.refusals)[0];
    const message = `The path to ${address} does not get there: ${far}${refusal === undefined ? '' : ` (${refusal})`}.`;
    return cutShort ? timedOut('path_incomplete', message) : failed('path_incomplete', message);
  }
  const length = end?.hop ?? count;
  const tooLong = `The path to ${address} has ${length} hops.`;
  if (settings.fail_hops > 0 && length > settings.fail_hops) return failed('path_too_long', tooLong);
  if (settings.warn_hops > 0 && length > settings.warn_hops)
    return { outcome: 'warn', source: 'target', code: 'path_too_long', message: tooLong };
  return undefined;
}

/** The hop at which the target itself answered. */
function reachedAt(hops: readonly Hop[], address: string): Hop | undefined {
  return hops.find((each) => each.addresses.includes(address));
}

function notePath(session: Session, hops: readonly Hop[], address: string): void {
  const end = reachedAt(hops, address);
  const average = end && averageUs(end);
  session.note('hops', end?.hop ?? hops.length);
  session.note('reached', end !== undefined);
  session.note('silent_hops', hops.filter((each) => each.addresses.length === 0).length);
  if (end !== undefined) session.note('loss_percent', lossPercent(end));
  if (average !== undefined) session.note('rtt_average_ms', average / 1_000);
}
