import { createSocket, type RemoteInfo } from 'node:dgram';
import { createServer, type Socket } from 'node:net';
import * as dnsPacket from 'dns-packet';
import type { TestContext } from '../test-context.ts';
import { listenOnLoopback, trackSockets } from './listen.ts';

/** What is said to every question from now on; `records` answers by name and type, an unknown name with NXDOMAIN. */
export type DnsBehaviour =
  | { readonly kind: 'records'; readonly records: readonly dnsPacket.Answer[] }
  | { readonly kind: 'code'; readonly code: 'SERVFAIL' | 'REFUSED' | 'NXDOMAIN' | 'NOTIMP' }
  | { readonly kind: 'silent' }
  | { readonly kind: 'garbage' }
  /** Over UDP only an answer with the truncation bit; the whole one over TCP. */
  | { readonly kind: 'truncated'; readonly records: readonly dnsPacket.Answer[] };

export type DnsTarget = {
  readonly host: string;
  /** The same for UDP and TCP. */
  readonly port: number;
  readonly questions: { readonly name: string; readonly type: string; readonly transport: 'udp' | 'tcp' }[];
  behave(behaviour: DnsBehaviour): void;
};

const codes = { SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 } as const;

/** A DNS server on loopback, UDP and TCP on one port, ended with the test. It knows no name at first. */
export async function dnsTarget(t: TestContext, options: { readonly host?: string } = {}): Promise<DnsTarget> {
  const host = options.host ?? '127.0.0.1';
  const questions: DnsTarget['questions'] = [];
  let behaviour: DnsBehaviour = { kind: 'records', records: [] };
  const answer = (query: Buffer, transport: 'udp' | 'tcp'): Buffer | undefined => {
    const packet = dnsPacket.decode(query);
    for (const { name, type } of packet.questions ?? []) questions.push({ name, type, transport });
    return answerTo(packet, behaviour, transport);
  };

  const tcp = createServer((socket) => serveTcp(socket, (query) => answer(query, 'tcp')));
  const endSockets = trackSockets(tcp);
  const udp = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  udp.on('message', (query: Buffer, from: RemoteInfo) => {
    const reply = answer(query, 'udp');
    if (reply !== undefined) udp.send(reply, from.port, from.address);
  });
  const port = await listenOnLoopback(tcp, 0, host);
  await new Promise<void>((resolve, reject) => {
    udp.once('error', reject);
    udp.bind(port, host, resolve);
  });
  t.teardown(async () => {
    const closed = Promise.all([
      new Promise<void>((resolve) => udp.close(resolve)),
      new Promise((resolve) => tcp.close(resolve)),
    ]);
    endSockets();
    await closed;
  });
  return {
    host,
    port,
    questions,
    behave: (next) => {
      behaviour = next;
    },
  };
}

function answerTo(packet: dnsPacket.Packet, behaviour: DnsBehaviour, transport: 'udp' | 'tcp'): Buffer | undefined {
  if (behaviour.kind === 'silent') return undefined;
  if (behaviour.kind === 'garbage') return Buffer.from('this is no DNS');
  const base: dnsPacket.Packet = { type: 'response', questions: packet.questions ?? [] };
  if (packet.id !== undefined) base.id = packet.id;
  const flags = dnsPacket.RECURSION_DESIRED | dnsPacket.RECURSION_AVAILABLE;
  if (behaviour.kind === 'code') return dnsPacket.encode({ ...base, flags: flags | codes[behaviour.code] });
  if (behaviour.kind === 'truncated' && transport === 'udp') {
    return dnsPacket.encode({ ...base, flags: flags | dnsPacket.TRUNCATED_RESPONSE });
  }
  const question = packet.questions?.[0];
  const named = behaviour.records.filter((record) => record.name.toLowerCase() === question?.name.toLowerCase());
  const isUnknown = named.length === 0;
  const answers = named.filter((record) => record.type === question?.type || record.type === 'CNAME');
  return dnsPacket.encode({ ...base, flags: flags | (isUnknown ? codes.NXDOMAIN : 0), answers });
}

/** Two bytes of length before each message. */
function serveTcp(socket: Socket, answer: (query: Buffer) => Buffer | undefined): void {
  let received = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
      const length = received.readUInt16BE(0);
      const reply = answer(received.subarray(2, 2 + length));
      received = received.subarray(2 + length);
      if (reply === undefined) continue;
      const head = Buffer.alloc(2);
      head.writeUInt16BE(reply.length);
      socket.write(Buffer.concat([head, reply]));
    }
  });
}
