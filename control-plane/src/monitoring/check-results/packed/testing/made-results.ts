import { packFlags } from '@parallax/wire';
import type { ResultRow } from '../columns.ts';

/*
 * For tests and benches: results as probes measure them over a WAN. Every number has its own noise: log-normal above a level that
 * belongs to the target, as round trips, servers and event loops have it. Spreads are those of the medians beside them.
 */

/** Protocols that differ in their phases. */
export const madeProtocols = ['https', 'http', 'tcp', 'dns', 'icmp'] as const;
export type MadeProtocol = (typeof madeProtocols)[number];

export type MadeTarget = {
  readonly protocol: MadeProtocol;
  readonly intervalS: number;
  /** Where in the interval the checks begin. */
  readonly phaseUs: number;
  readonly roundTripUs: number;
  readonly serverUs: number;
};

/** Numbers from 0 to 1 of a seed, always the same ones. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    // Mulberry32, public domain.
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function logNormal(random: () => number, median: number, spread: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return median * Math.exp(spread * normal);
}

/** A target of that protocol, some 10 to 100 ms away. */
export function madeTarget(random: () => number, protocol: MadeProtocol, intervalS = 60): MadeTarget {
  return {
    protocol,
    intervalS,
    phaseUs: Math.floor(random() * intervalS * 1e6),
    roundTripUs: logNormal(random, 30_000, 0.7),
    serverUs: logNormal(random, 25_000, 0.6),
  };
}

export type MadeOptions = {
  /** Resolution of the receipt; 1,000 by default. */
  readonly receiptUs?: number;
  /** Share of checks that fail; 0.01 by default. */
  readonly failures?: number;
};

/** Results of one probe in [fromUs, toUs), on schedule, without gaps. */
export function* madeResults(
  random: () => number,
  target: MadeTarget,
  fromUs: number,
  toUs: number,
  { receiptUs = 1_000, failures = 0.01 }: MadeOptions = {},
): Generator<ResultRow> {
  const stepUs = target.intervalS * 1_000_000;
  const firstUs = Math.ceil((fromUs - target.phaseUs) / stepUs) * stepUs + target.phaseUs;
  for (let slotUs = firstUs; slotUs + 20_000 < toUs; slotUs += stepUs) {
    yield madeResult(
      random,
      target,
      Math.round(slotUs + Math.min(20_000, logNormal(random, 350, 0.6))),
      receiptUs,
      failures,
    );
  }
}

function madeResult(
  random: () => number,
  { protocol, intervalS, roundTripUs, serverUs }: MadeTarget,
  eUs: number,
  receiptUs: number,
  failures: number,
): ResultRow {
  const roundTrip = () => Math.round(roundTripUs + logNormal(random, 250, 0.9));
  const dnsUs = Math.round(logNormal(random, 700, 0.35));
  const refused = random() < failures;
  const timedOut = refused && random() < 0.3;
  const connectUs = protocol === 'icmp' || protocol === 'dns' || timedOut ? null : roundTrip();
  const tlsUs = protocol === 'https' && !refused ? Math.round(roundTrip() + logNormal(random, 2_500, 0.1)) : null;
  const hasAnswer = (protocol === 'https' || protocol === 'http') && !refused;
  const firstByteUs = hasAnswer ? Math.round(roundTrip() + logNormal(random, serverUs, 0.12)) : null;
  const transferUs = hasAnswer ? Math.round(logNormal(random, 300, 0.6)) : null;
  const sumUs = dnsUs + (connectUs ?? 0) + (tlsUs ?? 0) + (firstByteUs ?? 0) + (transferUs ?? 0);
  const ownUs = protocol === 'icmp' || protocol === 'dns' ? roundTrip() : logNormal(random, 170, 0.3);
  const totalUs = timedOut ? 10_000_000 + Math.round(logNormal(random, 500, 0.5)) : sumUs + Math.round(ownUs);
  // A batch is sent every 250 ms, and takes its way.
  const receivedUs = eUs + totalUs + random() * 250_000 + roundTripUs / 2 + logNormal(random, 3_000, 0.5);
  return {
    eUs,
    receivedUs: Math.ceil(receivedUs / receiptUs) * receiptUs,
    probeRevision: 1,
    flags: packFlags('scheduled', timedOut ? 'timeout' : refused ? 'fail' : 'ok', refused ? 'target' : undefined),
    freshS: Math.ceil(2.5 * intervalS) + 10,
    totalUs,
    dnsUs,
    connectUs,
    tlsUs,
    firstByteUs,
    transferUs,
    error: timedOut ? 12 : refused ? 11 : 0,
  };
}
