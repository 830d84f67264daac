import { z } from 'zod';
import type { CheckContext, CheckType, Target } from './check.ts';
import { planPings, pingStatistics, type PingStatistics } from './icmp/plan.ts';
import { createPinger, type Pinged } from './icmp/pinger.ts';
import { localAddressFor, locate } from './net/dial.ts';
import { type Failure, failed, probeFault, timedOut } from './net/failure.ts';
import { type HostPort, parseHostPort } from './net/host.ts';
import type { CheckOutcome, Evidence, Phases } from './outcome.ts';

/** Settings of `icmp` and `ping`. Loss is in percent of the packets sent. */
const icmpSettings = z
  .strictObject({
    /** Packets per check. */
    count: z.int().min(1).max(10).default(4),
    /** Bytes of payload per packet. */
    packet_size: z.int().min(16).max(1400).default(56),
    /** Loss from which on the check warns. */
    warn_loss_percent: z.number().min(1).max(100).default(50),
    /** Loss from which on the check fails. */
    fail_loss_percent: z.number().min(1).max(100).default(100),
    ip_version: z.union([z.literal(4), z.literal(6)]).optional(),
  })
  .refine((all) => all.warn_loss_percent <= all.fail_loss_percent, {
    message: 'A check warns at a loss no higher than that at which it fails.',
    path: ['warn_loss_percent'],
  });
export type IcmpSettings = z.infer<typeof icmpSettings>;

/** A host answers ICMP echo requests. Its response time is the average round trip. */
export const icmp = pingCheck('icmp');
/** The same under the name that people use. */
export const ping = pingCheck('ping');

function pingCheck<Name extends 'icmp' | 'ping'>(type: Name) {
  return {
    type,
    summary: 'A host answers pings: loss, round trips, jitter',
    settings: icmpSettings,
    secretFields: [],
    requires: ['icmp'],
    cheap: true,
    validateTarget: (target) => {
      const parsed = readTarget(target);
      return typeof parsed === 'string' ? parsed : undefined;
    },
    run,
  } satisfies CheckType<Name, typeof icmpSettings>;
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
    ...planPings(settings.count, context.timeoutMs - located.dnsUs / 1000),
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

function judge(
  found: PingStatistics,
  unreachable: string | undefined,
  address: string,
  settings: IcmpSettings,
): Failure | undefined {
  if (found.received === 0) {
    if (unreachable !== undefined)
      return failed('connect_unreachable', `${address} cannot be reached (${unreachable}).`);
    return timedOut('ping_no_reply', `${address} answered none of ${found.sent} pings.`);
  }
  const message = `${address} answered ${found.received} of ${found.sent} pings.`;
  if (found.lossPercent >= settings.fail_loss_percent) return failed('ping_loss', message);
  if (found.lossPercent >= settings.warn_loss_percent)
    return { outcome: 'warn', source: 'target', code: 'ping_loss', message };
  return undefined;
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
    ...(found.received > 0 && { rtt_min_us: found.minUs, rtt_max_us: found.maxUs, jitter_us: found.jitterUs }),
  };
}
