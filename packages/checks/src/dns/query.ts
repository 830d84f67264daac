import { randomInt } from 'node:crypto';
import type { Socket } from 'node:net';
import {
  AUTHENTIC_DATA,
  decode,
  type DecodedPacket,
  encode,
  type Packet,
  RECURSION_DESIRED,
  streamEncode,
} from 'dns-packet';
import type { CheckContext } from '../check.ts';
import { dial, type Endpoint, named } from '../net/dial.ts';
import { type Failure, failed, timedOut } from '../net/failure.ts';
import { openTls } from '../net/tls.ts';
import { askByUdp } from '../net/udp.ts';
import type { Phases } from '../outcome.ts';
import { postQuestion } from './over-https.ts';
import type { DnsRecordType } from './records.ts';

export type Question = { readonly name: string; readonly type: DnsRecordType };

/** UDP and TCP (RFC 1035, RFC 7766), TLS (RFC 7858), HTTPS (RFC 8484). */
export const transports = ['udp', 'tcp', 'tls', 'https'] as const;
export type Transport = (typeof transports)[number];

/** How a name server is spoken to. */
export type Way = {
  readonly transport: Transport;
  /** The name that its certificate has to be for, and that is asked for. */
  readonly host: string;
  readonly verify: boolean;
  readonly caCertificates?: string | undefined;
  /** Path of the questions over HTTPS. */
  readonly path: string;
};

export type Replied = {
  readonly phases: Pick<Phases, 'connect' | 'tls'>;
} & (
  | { readonly ok: true; readonly packet: DecodedPacket; readonly over: Transport }
  | { readonly ok: false; readonly failure: Failure }
);

/** Largest answer over UDP that is asked for; what does not fit comes over TCP (DNS flag day 2020). */
const udpPayload = 1232;
const plain: Way = { transport: 'udp', host: '', verify: false, path: '' };

/**
 * Asks one judged server: over UDP (again after a third of the time in case a packet was lost, and over TCP when the answer did not
 * fit), or the way that is said.
 */
export async function askServer(
  server: Endpoint,
  question: Question,
  context: CheckContext,
  way: Way = plain,
): Promise<Replied> {
  // Caches in front of servers over HTTPS work better without a number (RFC 8484, 4.1); the connection itself tells answers apart.
  const query = questionPacket(question, way.transport === 'https' ? 0 : randomInt(0x1_0000));
  const replied = await askBy(server, query, question, context, way);
  if (!replied.ok || !knowsNoEdns(replied.packet)) return replied;
  context.trace?.('dns', 'the server does not know EDNS; asking again without');
  return askBy(server, { ...query, additionals: [] }, question, context, way);
}

/** A server from before EDNS refuses a question that has it, and says so by an answer without (RFC 6891, 7). */
function knowsNoEdns({ flags = 0, additionals = [] }: DecodedPacket): boolean {
  const rcode = flags & 0x0f;
  return (rcode === 1 || rcode === 4) && additionals.every(({ type }) => type !== 'OPT');
}

async function askBy(
  server: Endpoint,
  query: Packet,
  question: Question,
  context: CheckContext,
  way: Way,
): Promise<Replied> {
  switch (way.transport) {
    case 'udp': {
      const reply = await askOverUdp(server, query, question, context);
      if (!reply.ok || !reply.packet.flag_tc) return reply;
      context.trace?.('dns', 'the answer was cut; asking again over TCP');
      return askOverTcp(server, query, question, context);
    }
    case 'tcp':
      return askOverTcp(server, query, question, context);
    case 'tls':
    case 'https':
      return askOverTls(server, query, question, way, context);
  }
}

function questionPacket(question: Question, id: number): Packet {
  return {
    type: 'query',
    id,
    flags: RECURSION_DESIRED | AUTHENTIC_DATA,
    questions: [{ ...question, class: 'IN' }],
    additionals: [
      {
        type: 'OPT',
        name: '.',
        udpPayloadSize: udpPayload,
        extendedRcode: 0,
        ednsVersion: 0,
        flags: 0,
        flag_do: false,
        options: [],
      },
    ],
  };
}

async function askOverUdp(
  server: Endpoint,
  query: Packet,
  question: Question,
  context: CheckContext,
): Promise<Replied> {
  const answered = await askByUdp(
    server,
    {
      message: encode(query),
      accept: (bytes) => readReply(bytes, query, question) ?? cutReply(bytes, query),
      silent: timedOut('dns_timeout', `No answer of the name server ${named(server)} in time.`),
      garbled: notDns(server),
    },
    context,
  );
  return answered.ok
    ? { ok: true, packet: answered.answer, over: 'udp', phases: {} }
    : { ok: false, failure: answered.failure, phases: {} };
}

async function askOverTcp(
  server: Endpoint,
  query: Packet,
  question: Question,
  context: CheckContext,
): Promise<Replied> {
  const dialed = await dial(server, context);
  const phases = { connect: dialed.connectUs };
  if (!dialed.ok) return { ok: false, failure: dialed.failure, phases };
  const answered = await askOnStream(dialed.socket, server, query, question, context);
  dialed.socket.destroy();
  return answered.ok ? { ...answered, over: 'tcp', phases } : { ...answered, phases };
}

async function askOverTls(
  server: Endpoint,
  query: Packet,
  question: Question,
  way: Way,
  context: CheckContext,
): Promise<Replied> {
  const opened = await openTls(
    server,
    {
      host: way.host,
      verify: way.verify,
      context: { caCertificates: way.caCertificates },
      alpn: way.transport === 'tls' ? ['dot'] : ['h2', 'http/1.1'],
    },
    context,
  );
  const phases = {
    ...(opened.connectUs !== undefined && { connect: opened.connectUs }),
    ...(opened.tlsUs !== undefined && { tls: opened.tlsUs }),
  };
  if (!opened.ok) return { ok: false, failure: opened.failure, phases };
  try {
    if (way.transport === 'tls') {
      const answered = await askOnStream(opened.socket, server, query, question, context);
      return answered.ok ? { ...answered, over: 'tls', phases } : { ...answered, phases };
    }
    const posted = await postQuestion(opened.socket, server, encode(query), way, context);
    if (!posted.ok) return { ...posted, phases };
    const packet = readReply(posted.body, query, question);
    return packet === undefined
      ? { ok: false, failure: notDns(server), phases }
      : { ok: true, packet, over: 'https', phases };
  } finally {
    opened.socket.destroy();
  }
}

type Answered =
  | { readonly ok: true; readonly packet: DecodedPacket }
  | { readonly ok: false; readonly failure: Failure };

/** One question and its answer, each behind its length. The caller destroys the socket. */
function askOnStream(
  socket: Socket,
  server: Endpoint,
  query: Packet,
  question: Question,
  context: CheckContext,
): Promise<Answered> {
  return new Promise((resolve) => {
    let received = Buffer.alloc(0);
    const settle = (answered: Answered) => {
      context.signal.removeEventListener('abort', abort);
      socket.removeAllListeners('data');
      resolve(answered);
    };
    const refuse = (failure: Failure) => settle({ ok: false, failure });
    const ended = () => refuse(failed('dns_wrong_answer', `${named(server)} closed the connection without an answer.`));
    const abort = () => refuse(timedOut('dns_timeout', `No answer of the name server ${named(server)} in time.`));
    if (context.signal.aborted) return abort();
    context.signal.addEventListener('abort', abort);
    socket.on('error', ended);
    socket.on('end', ended);
    socket.on('close', ended);
    socket.on('data', (piece: Buffer) => {
      // The length in front has 16 bits, so what is kept is bounded by it and one piece.
      received = Buffer.concat([received, piece]);
      if (received.length < 2 || received.length < received.readUInt16BE(0) + 2) return;
      const packet = readReply(received.subarray(2, received.readUInt16BE(0) + 2), query, question);
      if (packet === undefined) refuse(notDns(server));
      else settle({ ok: true, packet });
    });
    socket.write(streamEncode(query));
  });
}

function notDns(server: Endpoint): Failure {
  return failed('dns_wrong_answer', `${named(server)} answered with something that is not DNS.`);
}

/** A reply to this very question, or undefined for anything else: garbage, a foreign id, another name. */
function readReply(bytes: Buffer, query: Packet, question: Question): DecodedPacket | undefined {
  try {
    const packet = decode(bytes);
    const asked = packet.questions?.[0];
    if (packet.type !== 'response' || packet.id !== query.id) return undefined;
    if (
      asked !== undefined &&
      (asked.name.toLowerCase() !== question.name.toLowerCase() || asked.type !== question.type)
    )
      return undefined;
    return packet;
  } catch {
    return undefined;
  }
}

/** A reply that was cut in the middle of a record: what counts is that it says so, and its number. */
function cutReply(bytes: Buffer, query: Packet): DecodedPacket | undefined {
  if (bytes.length < 12 || bytes.readUInt16BE(0) !== query.id || (bytes.readUInt16BE(2) & 0x8200) !== 0x8200)
    return undefined;
  const head = Buffer.alloc(12);
  bytes.copy(head, 0, 0, 4);
  return decode(head);
}
