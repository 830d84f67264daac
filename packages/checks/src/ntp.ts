import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { lazily } from './lazily.ts';
import { addressFields } from './net/connection-settings.ts';
import { conversation } from './net/conversation.ts';
import { micros } from './net/dial.ts';
import { type Failure, failed, timedOut } from './net/failure.ts';
import type { Session } from './net/session.ts';
import { Ended } from './net/talk.ts';
import { fromNtpTime, type NtpReply, ntpRequest, readNtpReply, referenceName } from './ntp/packet.ts';
import type { Evidence } from './outcome.ts';

/** Settings of `ntp`. */
const ntpSettings = lazily(() =>
  z.strictObject({
    /** Distance between the server's time and the probe's from which on the check fails, milliseconds; 0 switches it off. */
    fail_offset_ms: z.number().min(0).max(86_400_000).default(1000),
    /** Distance from which on it warns, milliseconds; 0 switches it off. */
    warn_offset_ms: z.number().min(0).max(86_400_000).default(0),
    /** The farthest from a reference clock that is good enough (1: has one itself). */
    max_stratum: z.int().min(1).max(15).default(15),
    /** Round trips per check; the one with the shortest delay counts, as its offset is the most exact. */
    samples: z.int().min(1).max(4).default(1),
    ...addressFields(),
  }),
);
export type NtpSettings = z.infer<ReturnType<typeof ntpSettings>>;

/** A time server (RFC 5905, the client of RFC 4330): it answers, is synchronised, and its time agrees with the probe's. */
export const ntp = conversation({
  type: 'ntp',
  summary: 'A time server: offset, stratum, synchronisation',
  reference: {
    targets: ['time.example.com', 'time.example.com:123'],
    phases: ['dns', 'first_byte'],
    details: {
      offset_ms: 'Its clock minus that of the probe, milliseconds.',
      delay_ms: 'Round trip, milliseconds.',
      stratum: 'Distance from the reference clock.',
      leap: 'Announced leap second; 3 is not synchronised.',
      version: 'Version of the protocol.',
      reference: 'Where its time comes from.',
      root_delay_ms: 'Its own round trip to the reference clock, milliseconds.',
      root_dispersion_ms: 'Its own greatest error, milliseconds.',
      precision_exponent: 'Precision of its clock, as a power of two seconds.',
    },
  },
  settings: ntpSettings,
  // Public servers answer frequent questions with a kiss-o'-death.
  cheap: false,
  peer: 'a time server',
  codes: 'response_mismatch',
  target: { plain: { ntp: 123, udp: 123 } },
  talk: async (session, settings) => {
    const best = await bestSample(session, settings.samples);
    for (const [name, value] of Object.entries(detailsOf(best))) session.note(name, value);
    session.context.trace?.('ntp', `stratum ${best.reply.stratum}, offset ${best.offsetMs.toFixed(3)} ms`);
    session.demand(judge(best, session.where, settings));
  },
});

/** One round trip; `offsetMs` is how far the server's time is ahead of the probe's, `delayMs` the time on the network. */
type Sample = { readonly reply: NtpReply; readonly offsetMs: number; readonly delayMs: number };

/** The sample with the shortest delay of so many; the time to the first answer is that of the check. */
async function bestSample(session: Session, samples: number): Promise<Sample> {
  let best = await sample(session, false);
  for (let taken = 1; taken < samples && !isKiss(best.reply); taken += 1) {
    try {
      const next = await sample(session, true);
      if (next.delayMs < best.delayMs) best = next;
      if (isKiss(next.reply)) break;
    } catch (error) {
      // A server may limit how often it answers; the samples that came before count.
      if (error instanceof Ended) break;
      throw error;
    }
  }
  return best;
}

/**
 * One question. The transmit timestamp is random and only has to come back, which keeps the probe's clock to itself and makes a
 * forged answer unlikely (draft-ietf-ntp-data-minimization). The times of the probe are the wall clock at the sending, moved on by
 * the monotonic clock, so that a clock that is set meanwhile changes nothing.
 */
async function sample(session: Session, isExtra: boolean): Promise<Sample> {
  const { context } = session;
  await session.locate();
  const wallClock = context.wallClock ?? Date.now;
  const sent = new Map<string, { readonly wallMs: number; readonly at: number }>();
  const { reply, question, receivedAt } = await session.ask({
    isExtra,
    message: () => {
      const nonce = randomBytes(8);
      sent.set(nonce.toString('hex'), { wallMs: wallClock(), at: context.clock() });
      return ntpRequest(nonce);
    },
    accept: (bytes, receivedAt) => {
      const reply = readNtpReply(bytes);
      const question = reply && sent.get(reply.origin.toString('hex'));
      return reply === undefined || question === undefined ? undefined : { reply, question, receivedAt };
    },
    silent: timedOut('response_timeout', `The time server ${session.where} did not answer in time.`),
  });
  const elapsedMs = Math.max(0, receivedAt - question.at);
  const received = fromNtpTime(reply.receivedAt, question.wallMs);
  const transmitted = fromNtpTime(reply.transmittedAt, question.wallMs);
  const offsetMs = (received - question.wallMs + (transmitted - (question.wallMs + elapsedMs))) / 2;
  const delayMs = Math.max(0, elapsedMs - (transmitted - received));
  return { reply, offsetMs, delayMs };
}

/** Stratum 0 is a kiss-o'-death: the reference says what the server wants (RFC 5905, 7.4). */
function isKiss(reply: NtpReply): boolean {
  return reply.stratum === 0;
}

function judge({ reply, offsetMs }: Sample, where: string, settings: NtpSettings): Failure | undefined {
  const kiss = referenceName(reply);
  if (isKiss(reply) && kiss !== '') {
    const meaning = kissMeanings[kiss] ?? 'it does not serve this client';
    return failed('ntp_kiss', `${where} answered with the kiss-o'-death ${kiss}: ${meaning}.`);
  }
  // chronyd has stratum 0 and no code of a kiss as long as it has no time.
  if (reply.leap === 3 || reply.stratum > 15 || isKiss(reply))
    return failed('ntp_unsynchronised', `${where} says that its own clock is not synchronised.`);
  if (reply.stratum > settings.max_stratum)
    return failed('ntp_stratum', `${where} has stratum ${reply.stratum}; at most ${settings.max_stratum} is wanted.`);
  const distance = Math.abs(offsetMs);
  const message = `The time of ${where} is ${micros(distance * 1000)} ${offsetMs < 0 ? 'behind' : 'ahead of'} the probe's.`;
  if (settings.fail_offset_ms > 0 && distance > settings.fail_offset_ms) return failed('ntp_offset', message);
  if (settings.warn_offset_ms > 0 && distance > settings.warn_offset_ms)
    return { outcome: 'warn', source: 'target', code: 'ntp_offset', message };
  return undefined;
}

/** The codes of RFC 5905, 7.4 that a server may send to a client. */
const kissMeanings: Readonly<Record<string, string>> = {
  DENY: 'access is denied',
  RSTR: 'access is restricted',
  RATE: 'it is asked too often',
  INIT: 'it has not synchronised for the first time yet',
  STEP: 'its clock was stepped and is not synchronised again yet',
};

function detailsOf({ reply, offsetMs, delayMs }: Sample): NonNullable<Evidence['details']> {
  return {
    offset_ms: round(offsetMs),
    delay_ms: round(delayMs),
    stratum: reply.stratum,
    leap: reply.leap,
    version: reply.version,
    reference: referenceName(reply),
    root_delay_ms: round(reply.rootDelayMs),
    root_dispersion_ms: round(reply.rootDispersionMs),
    precision_exponent: reply.precision,
  };
}

/** To a microsecond. */
function round(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}
