import { z } from 'zod';
import { lazily } from './lazily.ts';
import type { CheckContext, CheckType, Target } from './check.ts';
import { planPings, pingStatistics, type PingStatistics } from './icmp/plan.ts';
import { createPinger, type Pinged } from './icmp/pinger.ts';
import { localAddressFor, locate, micros } from './net/dial.ts';
import { type Failure, failed, probeFault, timedOut } from './net/failure.ts';
import { type HostPort, parseHostPort } from './net/host.ts';
import type { CheckOutcome, Evidence, Phases } from './outcome.ts';

/** Settings of `icmp` and `ping`. Loss is in percent of the packets sent. */
const icmpSettings = lazily(() =>
  z
    .strictObject({
      /** Packets per check. */
      count: z.int().min(1).max(10).default(4),
      /** Bytes of payload per packet. */
      packet_size: z.int().min(16).max(1400).default(56),
      /** Loss from which on the check warns. */
      warn_loss_percent: z.number().min(1).max(100).default(50),
      /** Loss from which on the check fails. */
      fail_loss_percent: z.number().min(1).max(100).default(100),
      /** Mean difference between neighbouring round trips from which on the check warns, milliseconds; 0 switches it off. */
      warn_jitter_ms: z.number().min(0).max(60_000).default(0),
      /** The same from which on it fails; 0 switches it off. */
      fail_jitter_ms: z.number().min(0).max(60_000).default(0),
      ip_version: z.union([z.literal(4), z.literal(6)]).optional(),
    })
    .refine((all) => all.warn_loss_percent <= all.fail_loss_percent, {
      message: 'A check warns at a loss no higher than that at which it fails.',
      path: ['warn_loss_percent'],
    }),
);
export type IcmpSettings = z.infer<ReturnType<typeof icmpSettings>>;

/** A host answers ICMP echo requests. Its response time is the average round trip. */
export const icmp = pingCheck('icmp');
/** The same under the name that people use. */
export const ping = pingCheck('ping');

function pingCheck<Name extends 'icmp' | 'ping'>(type: Name) {
  return {
    type,
    summary: 'A host answers pings: loss, round trips, jitter',
    reference: {
      targets: ['host.example.com', '192.0.2.1', 'icmp://host.example.com'],
      settings: { count: 4 },
      phases: ['dns'],
      details: { loss_percent: 'Packets lost, in percent.', rtt_average_ms: 'Mean round trip, milliseconds.' },
    },
    settings: icmpSettings,
    secretFields: [],
    requires: ['icmp'],
    cheap: true,
    validateTarget: (target) => {
      const parsed = readTarget(target);
      return typeof parsed === 'string' ? parsed : undefined;
    },
    run,
  } satisfies CheckType<Name, ReturnType<typeof icmpSettings>>;
}

/** One for the process, so that all checks share its processes. */
const pinger = createPinger();

function readTarget(target: Target): HostPort | string {
  const parsed = parseHostPort(target.url, { schemes: { icmp: 0, ping: 0 }, defaultPort: 0 });
  return typeof parsed === 'string' || parsed.port === 0 ? parsed : 'A ping has no port.';
}

async function run(target: Target, settings: IcmpSettings, context: CheckContext): Promise<CheckOutcome> {
  const parsed = readTarget(target);
  if (typeof parsed === 'string') throw new Error(`The target was not validated: ${parsed}`);
  const start = context.clock();
  const elapsedUs = () => Math.round((context.clock() - start) * 1000);
  const located = await locate(parsed.host, 0, context, { family: settings.ip_version });
  const phases: Phases = { dns: located.dnsUs };
  const conclude = (failure: Failure, evidence: Evidence): CheckOutcome => ({
    ...failure,
    total: elapsedUs(),
    phases,
    evidence,
  });
  if (!located.ok) return conclude(located.failure, located.endpoint ? { address: located.endpoint.address } : {});

  const { address } = located.endpoint;
  const order = {
    ...planPings(settings.count, context.timeoutMs, located.dnsUs / 1000),
    packetBytes: settings.packet_size,
    sourceAddress: localAddressFor(located.endpoint, context),
  };
  const pinged = await pinger.ping(address, order, context.signal);
  if (!pinged.ok)
    return conclude(failureOf(pinged, address), { address, packets_sent: settings.count, packets_received: 0 });

  const statistics = pingStatistics(pinged.roundTripsUs);
  const evidence = evidenceOf(address, statistics);
  const failure = judge(statistics, pinged.unreachable, address, settings);
  context.trace?.(
    'ping',
    `${statistics.received} of ${statistics.sent} packets, ${statistics.averageUs} µs on average`,
  );
  if (statistics.received === 0 && failure !== undefined) return conclude(failure, evidence);
  const total = statistics.averageUs;
  return failure === undefined ? { outcome: 'ok', total, phases, evidence } : { ...failure, total, phases, evidence };
}

/** What is wrong with round trips, gravest first; undefined when nothing is. */
export function judge(
  found: PingStatistics,
  unreachable: string | undefined,
  address: string,
  settings: IcmpSettings,
): Failure | undefined {
  if (found.received === 0) {
    if (unreachable !== undefined && ownFault.test(unreachable)) return notSent(unreachable, address);
    if (unreachable !== undefined)
      return failed('connect_unreachable', `${address} cannot be reached (${unreachable}).`);
    return timedOut('ping_no_reply', `${address} answered none of ${found.sent} pings.`);
  }
  const message = `${address} answered ${found.received} of ${found.sent} pings.`;
  if (found.lossPercent >= settings.fail_loss_percent) return failed('ping_loss', message);
  if (found.lossPercent >= settings.warn_loss_percent)
    return { outcome: 'warn', source: 'target', code: 'ping_loss', message };
  const restless = `The round trips to ${address} vary by ${micros(found.jitterUs)}.`;
  const above = (limitMs: number) => limitMs > 0 && found.jitterUs >= limitMs * 1000;
  if (above(settings.fail_jitter_ms)) return failed('ping_jitter', restless);
  if (above(settings.warn_jitter_ms))
    return { outcome: 'warn', source: 'target', code: 'ping_jitter', message: restless };
  return undefined;
}

/** What the system of this machine says when it does not send a packet. That it knows no way is the target's matter for IPv4 only, as for connections. */
const ownFault =
  /^(?:Operation not permitted|Permission denied|No buffer space available|Cannot assign requested address|Invalid argument|Message too long|Address family not supported|Network is (?:unreachable|down))/i;

function notSent(reason: string, address: string): Failure | undefined {
  if (/^Network is unreachable|^Address family/i.test(reason) && address.includes(':'))
    return probeFault('address_family_missing', `This probe has no IPv6 route to ${address}.`);
  if (/^Network/i.test(reason)) return failed('connect_unreachable', `${address} cannot be reached (${reason}).`);
  return probeFault('probe_internal', `The system of this probe did not send pings to ${address} (${reason}).`);
}

function failureOf(pinged: Extract<Pinged, { ok: false }>, address: string): Failure {
  switch (pinged.reason) {
    case 'no_tool':
      return probeFault('probe_capability', `This probe cannot ping: ${pinged.detail}. Install the package fping.`);
    case 'tool_failed':
      return probeFault('probe_capability', `This probe cannot ping: ${pinged.detail}.`);
    case 'aborted':
      return timedOut('ping_no_reply', `${address} answered no ping in time.`);
  }
}

function evidenceOf(address: string, found: PingStatistics): Evidence {
  return {
    address,
    packets_sent: found.sent,
    packets_received: found.received,
    ...(found.received > 0 && {
      rtt_min_ms: found.minUs / 1_000,
      rtt_max_ms: found.maxUs / 1_000,
      jitter_ms: found.jitterUs / 1_000,
    }),
    details: { loss_percent: Math.round(found.lossPercent * 100) / 100, rtt_average_ms: found.averageUs / 1_000 },
  };
}
