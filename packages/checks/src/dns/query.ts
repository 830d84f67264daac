import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
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
import { dial, type Endpoint, localAddressFor, named } from '../net/dial.ts';
import { type Failure, failed, timedOut } from '../net/failure.ts';
import type { DnsRecordType } from './records.ts';

export type Question = { readonly name: string; readonly type: DnsRecordType };
export type Replied =
  | { readonly ok: true; readonly packet: DecodedPacket; readonly overTcp: boolean }
  | { readonly ok: false; readonly failure: Failure };

/** Largest answer over UDP that is asked for; what does not fit comes over TCP (DNS flag day 2020). */
const udpPayload = 1232;

/** Asks one server over UDP, again after a third of the time in case a packet was lost, and over TCP when the answer did not fit. */
export async function askServer(server: Endpoint, question: Question, context: CheckContext): Promise<Replied> {
  const query = questionPacket(question);
  const reply = await askByUdp(server, query, question, context);
  if (!reply.ok || !reply.packet.flag_tc) return reply;
  context.trace?.('dns', 'the answer was cut; asking again over TCP');
  return askByTcp(server, query, question, context);
}

function questionPacket(question: Question): Packet {
  return {
    type: 'query',
    id: randomInt(0x1_0000),
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

function askByUdp(server: Endpoint, query: Packet, question: Question, context: CheckContext): Promise<Replied> {
  return new Promise((resolve) => {
    const socket = createSocket(server.address.includes(':') ? 'udp6' : 'udp4');
    let garbage = false;
    let settled = false;
    const settle = (replied: Replied) => {
      if (settled) return;
      settled = true;
      clearInterval(again);
      context.signal.removeEventListener('abort', abort);
      socket.close();
      resolve(replied);
    };
    const refuse = (failure: Failure) => settle({ ok: false, failure });
    const abort = () =>
      refuse(
        garbage
          ? failed('dns_wrong_answer', `${named(server)} answered with something that is not DNS.`)
          : timedOut('dns_timeout', `No answer of the name server ${named(server)} in time.`),
      );
    const message = encode(query);
    const send = () => socket.send(message, () => undefined);
    const again = setInterval(send, Math.max(300, context.timeoutMs / 3));
    socket.on('error', (error: NodeJS.ErrnoException) => refuse(socketFailure(error, server)));
    socket.on('message', (bytes) => {
      const packet = readReply(bytes, query, question);
      if (packet === undefined) garbage = true;
      else settle({ ok: true, packet, overTcp: false });
    });
    if (context.signal.aborted) return abort();
    context.signal.addEventListener('abort', abort);
    const connect = () =>
      socket.connect(server.port, server.address, (error?: Error) =>
        error === undefined ? send() : refuse(socketFailure(error, server)),
      );
    const local = localAddressFor(server, context);
    if (local === undefined) connect();
    else socket.bind({ address: local, port: 0 }, connect);
  });
}

/** Connected UDP reports a closed port of the other side as a refused connection. */
function socketFailure(error: NodeJS.ErrnoException, server: Endpoint): Failure {
  if (error.code === 'ECONNREFUSED') return failed('connect_refused', `${named(server)} does not listen for DNS.`);
  return failed(
    'connect_failed',
    `The name server ${named(server)} cannot be reached (${error.code ?? 'unknown error'}).`,
  );
}

async function askByTcp(server: Endpoint, query: Packet, question: Question, context: CheckContext): Promise<Replied> {
  const dialed = await dial(server, context);
  if (!dialed.ok) return { ok: false, failure: dialed.failure };
  const { socket } = dialed;
  const replied = await new Promise<Replied>((resolve) => {
    let received = Buffer.alloc(0);
    const refuse = (failure: Failure) => resolve({ ok: false, failure });
    const ended = () => refuse(failed('dns_wrong_answer', `${named(server)} closed the connection without an answer.`));
    const abort = () =>
      refuse(timedOut('dns_timeout', `No answer of the name server ${named(server)} over TCP in time.`));
    if (context.signal.aborted) return abort();
    context.signal.addEventListener('abort', abort, { once: true });
    socket.on('error', ended);
    socket.on('close', ended);
    socket.on('data', (piece: Buffer) => {
      // The length in front has 16 bits, so what is kept is bounded by it and one piece.
      received = Buffer.concat([received, piece]);
      if (received.length < 2 || received.length < received.readUInt16BE(0) + 2) return;
      const packet = readReply(received.subarray(2, received.readUInt16BE(0) + 2), query, question);
      if (packet === undefined)
        refuse(failed('dns_wrong_answer', `${named(server)} answered with something that is not DNS.`));
      else resolve({ ok: true, packet, overTcp: true });
    });
    socket.write(streamEncode(query));
  });
  socket.destroy();
  return replied;
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
