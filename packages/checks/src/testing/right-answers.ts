import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Socket } from 'node:net';
import tls from 'node:tls';
import packet from 'dns-packet';
import type { Test } from 'tap';
import type { Protocol } from '../registry.ts';
import type { Issued } from './certificates.ts';
import { listen } from './context.ts';
import { fakeDocker, listenDocker } from './docker-peer.ts';
import { openPeer } from './hostile-peers.ts';
import type { Pointed } from './pointed-at.ts';
import { startSourceGame } from './servers/game.ts';
import { startGrpcHealth } from './servers/grpc-health.ts';
import { startKafka } from './servers/kafka.ts';
import { startMongodb } from './servers/mongodb.ts';
import { mtproxyKey, startMtproxy } from './servers/mtproxy.ts';
import { rdapDomain, startRdap, startWhois, whoisText } from './servers/registries.ts';
import { startSip } from './servers/sip.ts';
import { startWebSocket } from './servers/websocket.ts';

/** What right answers need: a certificate for 127.0.0.1 and who signed it. */
export type RightAnswersOptions = { readonly authority: Issued; readonly certificate: Issued };
type Start = (t: Test, options: RightAnswersOptions) => Promise<Pointed>;

/** Peers inside this process that answer a type as they should, fast; for types that have none here a real server is needed. */
export const rightAnswers: Partial<Record<Protocol, Start>> = {
  http: async (t) => {
    const { port } = await keep(t, listen(createServer((_request, response) => response.end('hello'))));
    return { url: `http://127.0.0.1:${port}/`, settings: { keyword: 'hello' } };
  },
  api: async (t) => {
    const { port } = await keep(t, listen(createServer((_request, response) => response.end('hello'))));
    const assertions = { subject: 'body', comparison: 'equals', value: 'hello' };
    return { url: `http://127.0.0.1:${port}/`, settings: { steps: [{ url: '/a', assertions }, { url: '/b' }] } };
  },
  https: async (t, { authority, certificate }) => {
    const server = createSecureServer({ key: certificate.key, cert: certificate.cert }, (_request, response) =>
      response.end('hello'),
    );
    const { port } = await keep(t, listen(server));
    return { url: `https://127.0.0.1:${port}/`, settings: { ca_certificates: authority.cert } };
  },
  ssl: secured,
  tls: secured,
  ws: async (t) => {
    const { port } = await startWebSocket(t, (socket) =>
      socket.on('message', (bytes: Buffer) => socket.send(bytes.toString())),
    );
    return { url: `ws://127.0.0.1:${port}/`, settings: { send: 'hello', expect: 'hello' } };
  },
  wss: async (t, { authority, certificate }) => {
    const { port } = await startWebSocket(t, () => undefined, {}, { key: certificate.key, cert: certificate.cert });
    return { url: `wss://127.0.0.1:${port}/`, settings: { ca_certificates: authority.cert } };
  },
  grpc: async (t) => ({ url: (await startGrpcHealth(t)).url, settings: {} }),
  docker: async (t) => {
    const { port } = await keep(t, listenDocker(fakeDocker({ web: {} })));
    return { url: `tcp://127.0.0.1:${port}`, settings: { container: 'web' } };
  },
  tcp: (t) => echo(t, (port) => ({ url: `127.0.0.1:${port}`, settings: { send: 'hello', expect: 'hello' } })),
  udp: (t) => echo(t, (port) => ({ url: `127.0.0.1:${port}`, settings: { send: 'hello', expect: 'hello' } })),
  dns: async (t) => {
    const port = await nameServer(t, () => [{ type: 'A', name: 'www.test', ttl: 1, data: '192.0.2.1' }]);
    return { url: 'www.test', settings: { server: `127.0.0.1:${port}`, expected_values: ['192.0.2.1'] } };
  },
  dnsbl: async (t) => {
    // The entry that every list has, and nothing else.
    const port = await nameServer(t, (name) =>
      name === '2.0.0.127.list.test' ? [{ type: 'A', name, ttl: 1, data: '127.0.0.2' }] : undefined,
    );
    return { url: '192.0.2.1', settings: { server: `127.0.0.1:${port}`, lists: ['list.test'] } };
  },
  ntp: async (t) => {
    const peer = openPeer(
      (socket) => socket.destroy(),
      (query) => {
        const answer = Buffer.alloc(48);
        // Version 4, server, stratum 2; the time of the question stands where it was asked for and in all of our own fields.
        answer.set([0x24, 2, 6, 0xec]);
        answer.write('LOCL', 12, 'latin1');
        for (const at of [16, 24, 32, 40]) ntpNow().copy(answer, at);
        query.copy(answer, 24, 40, 48);
        return answer;
      },
    );
    const { port } = await keep(t, peer);
    return { url: `127.0.0.1:${port}`, settings: { fail_offset_ms: 0 } };
  },
  smtp: (t) =>
    lines(t, '220 hello', (line) => (line.startsWith('EHLO') ? '250-hello\r\n250 SIZE 1000' : '221 bye'), {}),
  pop3: (t) => lines(t, '+OK hello', (line) => (line === 'CAPA' ? '+OK\r\nUIDL\r\n.' : '+OK'), { tls: 'none' }),
  imap: (t) =>
    lines(
      t,
      '* OK hello',
      (line) =>
        /CAPABILITY/i.test(line)
          ? `* CAPABILITY IMAP4rev1\r\n${line.split(' ')[0]} OK done`
          : `${line.split(' ')[0]} OK`,
      { tls: 'none' },
    ),
  redis: (t) => lines(t, undefined, (line) => (/^PING/i.test(line) ? '+PONG' : undefined), {}),
  ftp: (t) => lines(t, '220 hello', () => '221 bye', {}),
  nats: (t) =>
    lines(
      t,
      'INFO {"server_id":"a","version":"2.10.0","max_payload":1000}',
      (line) => (line === 'PING' ? 'PONG' : undefined),
      {},
    ),
  socks5: async (t) => {
    const peer = openPeer((socket) => socket.on('data', () => socket.write(Buffer.from([5, 0]))));
    return { url: `127.0.0.1:${(await keep(t, peer)).port}`, settings: {} };
  },
  kafka: async (t) => ({ url: `127.0.0.1:${(await startKafka(t)).port}`, settings: {} }),
  mongodb: async (t) => ({ url: `127.0.0.1:${(await startMongodb(t)).port}`, settings: {} }),
  mtproxy: async (t) => ({
    url: `127.0.0.1:${(await startMtproxy(t)).port}`,
    settings: { secret: mtproxyKey.toString('hex') },
  }),
  sip: async (t) => ({ url: (await startSip(t)).url, settings: {} }),
  gamedig: async (t) => ({ url: (await startSourceGame(t)).url, settings: { game: 'source' } }),
  whois: async (t) => {
    const { server } = await startWhois(t, () => whoisText('2099-01-01T00:00:00Z'));
    return { url: 'example.test', settings: { whois_server: server } };
  },
  rdap: async (t) => {
    const body = rdapDomain({ events: [{ eventAction: 'expiration', eventDate: '2099-01-01T00:00:00Z' }] });
    const { server } = await startRdap(t, () => ({ body }));
    return { url: 'example.test', settings: { rdap_server: server } };
  },
};

async function keep<Started extends { readonly stop: () => Promise<void> }>(
  t: Test,
  starting: Promise<Started>,
): Promise<Started> {
  const started = await starting;
  t.teardown(started.stop);
  return started;
}

async function secured(t: Test, { authority, certificate }: RightAnswersOptions): Promise<Pointed> {
  const server = tls.createServer({ key: certificate.key, cert: certificate.cert }, (socket) => {
    socket.on('error', () => undefined).resume();
  });
  const { port } = await keep(t, listen(server));
  return { url: `127.0.0.1:${port}`, settings: { ca_certificates: authority.cert } };
}

async function echo(t: Test, point: (port: number) => Pointed): Promise<Pointed> {
  const { port } = await keep(
    t,
    openPeer(
      (socket) => socket.pipe(socket),
      (bytes) => bytes,
    ),
  );
  return point(port);
}

/** A name server for one kind of answer; undefined stands for a name that does not exist. */
async function nameServer(t: Test, answersOf: (name: string) => packet.Answer[] | undefined): Promise<number> {
  const answer = (query: Buffer) => {
    const { id, questions } = packet.decode(query);
    const answers = answersOf(questions?.[0]?.name.toLowerCase() ?? '');
    const flags = packet.RECURSION_DESIRED | packet.RECURSION_AVAILABLE | (answers === undefined ? 3 : 0);
    return packet.encode({ type: 'response', id, flags, questions, answers: answers ?? [] });
  };
  return (
    await keep(
      t,
      openPeer((socket) => socket.destroy(), answer),
    )
  ).port;
}

async function lines(
  t: Test,
  greeting: string | undefined,
  answer: (line: string) => string | undefined,
  settings: object,
): Promise<Pointed> {
  const talk = (socket: Socket) => {
    if (greeting !== undefined) socket.write(`${greeting}\r\n`);
    socket.on('data', (piece) => {
      for (const line of piece.toString('latin1').split('\r\n')) {
        const said = line === '' ? undefined : answer(line);
        if (said !== undefined && socket.writable) socket.write(`${said}\r\n`);
      }
    });
  };
  const { port } = await keep(t, openPeer(talk));
  return { url: `127.0.0.1:${port}`, settings };
}

/** Seconds since 1900 with their fraction (RFC 5905). */
function ntpNow(): Buffer {
  const bytes = Buffer.alloc(8);
  const nowMs = Date.now();
  bytes.writeUInt32BE(Math.floor(nowMs / 1000) + 2_208_988_800, 0);
  return bytes;
}
