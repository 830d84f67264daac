import { createSocket } from 'node:dgram';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import net, { type Socket } from 'node:net';
import { BSON } from 'mongodb';
import { ber, berInteger, berTags } from '../net/ber.ts';
import type { Protocol } from '../registry.ts';
import { issue } from './certificates.ts';
import { speakKafka } from './servers/kafka.ts';
import { sipReply } from './servers/sip.ts';

/** Where a peer sends a check on to: a host as it stands in a URL, changed between two runs, and one port for all. */
export type Elsewhere = { host: string; readonly port: number };

/** A check of a peer at a public address that names another place to go to. */
export type SecondHop = {
  readonly what: string;
  readonly protocol: Protocol;
  readonly url: string;
  readonly settings: () => object;
  /** How often a run connects or sends to the peer itself; undefined where that differs from run to run. */
  readonly attempts: number | undefined;
};

/** Starts the peers at a public address of this machine; one for each way in which a protocol can suggest another address. */
export async function startSecondHops(address: string, elsewhere: Elsewhere): Promise<readonly SecondHop[]> {
  const there = () => `${elsewhere.host}:${elsewhere.port}`;
  const stream = async (talk: (socket: Socket) => void) => {
    const server = net.createServer((socket) => talk(socket.on('error', () => undefined)));
    await new Promise<void>((resolve) => server.listen(0, address, resolve));
    server.unref();
    return (server.address() as net.AddressInfo).port;
  };
  const web = async (listener: RequestListener, isSecure = false) => {
    const { key, cert } = await issue({ name: 'site', addresses: [address] });
    const server = isSecure ? createSecureServer({ key, cert }, listener) : createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, address, resolve));
    server.unref();
    return (server.address() as net.AddressInfo).port;
  };
  const redirect =
    (scheme: string): RequestListener =>
    (request, response) => {
      request.resume();
      response.writeHead(307, { location: Buffer.from(`${scheme}://${there()}/`).toString('latin1') }).end();
    };
  const toWeb = await web(redirect('http'));
  const toWebSocket = await web(redirect('ws'));
  const secure = await web(redirect('https'), true);
  const whois = await stream((socket) =>
    socket.once('data', () => socket.end(`Domain Name: a.test\nName Server: ns.a.test\nWhois Server: ${there()}\n`)),
  );
  const ftp = await stream((socket) => speakFtp(socket, elsewhere));
  const kafka = await stream((socket) => speakKafka(socket, {}));
  const ldap = await stream((socket) => speakLdap(socket, `ldap://${there()}/`));
  const nats = await stream((socket) => {
    const info = { server_id: 'a', version: '2.10.0', max_payload: 1000, connect_urls: [there()], ldm: true };
    socket.write(`INFO ${JSON.stringify(info)}\r\n`);
    socket.once('data', () => socket.end("-ERR 'Server Shutdown'\r\n"));
  });
  const mongodb = await stream((socket) => speakMongodb(socket, there()));
  const redis = await stream((socket) => socket.on('data', () => socket.write(`-MOVED 1 ${there()}\r\n`)));
  const proxy = await stream((socket) => speakSocks(socket, elsewhere.port));
  const sip = createSocket('udp4');
  sip.on('message', (bytes, from) => {
    const answer = sipReply(bytes.toString(), '302 Moved', `Contact: <sip:${there()}>\r\n`);
    sip.send(answer, from.port, from.address);
  });
  await new Promise<void>((resolve) => sip.bind(0, address, resolve));
  sip.unref();
  const at = (port: number) => `${address}:${port}`;
  const login = { username: 'u', password: 'secret' };
  const none = () => ({});
  return [
    { what: 'redirect of http', protocol: 'http', url: `http://${at(toWeb)}/`, settings: none, attempts: 1 },
    {
      what: 'redirect of https',
      protocol: 'https',
      url: `https://${at(secure)}/`,
      settings: () => ({ verify_tls: false }),
      attempts: 1,
    },
    { what: 'redirect of a WebSocket', protocol: 'ws', url: `ws://${at(toWebSocket)}/`, settings: none, attempts: 1 },
    {
      what: 'token endpoint of http',
      protocol: 'http',
      url: `http://${at(toWeb)}/`,
      settings: () => ({ token_url: `http://${there()}/token`, client_id: 'me', client_secret: 'secret' }),
      attempts: 0,
    },
    {
      what: 'redirect of a token endpoint',
      protocol: 'http',
      url: `http://${at(toWeb)}/`,
      settings: () => ({ token_url: `http://${at(toWeb)}/token`, client_id: 'me', client_secret: 'secret' }),
      attempts: 1,
    },
    {
      what: 'redirect of DNS over HTTPS',
      protocol: 'dns',
      url: 'a.test',
      settings: () => ({ server: at(secure), transport: 'https', verify_tls: false }),
      attempts: 1,
    },
    {
      what: 'redirect of rdap',
      protocol: 'rdap',
      url: 'a.test',
      settings: () => ({ rdap_server: `http://${at(toWeb)}/` }),
      attempts: 1,
    },
    {
      what: 'referral of whois',
      protocol: 'whois',
      url: 'a.test',
      settings: () => ({ whois_server: at(whois) }),
      attempts: 1,
    },
    {
      what: 'redirect of a step of api',
      protocol: 'api',
      url: `http://${at(toWeb)}`,
      settings: none,
      attempts: 1,
    },
    {
      what: 'redirect of docker',
      protocol: 'docker',
      url: `tcp://${at(toWeb)}`,
      settings: () => ({ container: 'web' }),
      attempts: undefined,
    },
    {
      what: 'passive address of ftp',
      protocol: 'ftp',
      url: at(ftp),
      settings: () => ({ ...login, list_directory: '/' }),
      attempts: undefined,
    },
    { what: 'brokers of kafka', protocol: 'kafka', url: at(kafka), settings: () => ({ topic: 'a' }), attempts: 1 },
    { what: 'referral of ldap', protocol: 'ldap', url: at(ldap), settings: () => ({ base_dn: 'dc=a' }), attempts: 1 },
    { what: 'connect_urls of nats', protocol: 'nats', url: at(nats), settings: none, attempts: 1 },
    { what: 'hosts of mongodb', protocol: 'mongodb', url: at(mongodb), settings: none, attempts: 1 },
    { what: 'redirection of redis', protocol: 'redis', url: at(redis), settings: none, attempts: 1 },
    { what: 'Contact of sip', protocol: 'sip', url: at(sip.address().port), settings: none, attempts: undefined },
    {
      what: 'target behind socks5',
      protocol: 'socks5',
      url: at(proxy),
      settings: () => ({ connect_to: there() }),
      attempts: undefined,
    },
  ];
}

/** RFC 959 and 2428: the address for the data is the one elsewhere, in both spellings that there are. */
function speakFtp(socket: Socket, elsewhere: Elsewhere): void {
  const [high, low] = [elsewhere.port >> 8, elsewhere.port & 255];
  const four = net.isIPv4(elsewhere.host) ? elsewhere.host : '10.0.0.1';
  socket.write('220 hello\r\n');
  socket.on('data', (piece) => {
    const line = piece.toString('latin1').toUpperCase();
    const answers: Readonly<Record<string, string>> = {
      USER: '331 password',
      PASS: '230 in',
      PASV: `227 Entering Passive Mode (${four.replaceAll('.', ',')},${high},${low})`,
      EPSV: elsewhere.host.startsWith('[') ? `229 ok (|2|${elsewhere.host.slice(1, -1)}|${elsewhere.port}|)` : '500 no',
    };
    socket.write(`${answers[line.slice(0, 4)] ?? '200 ok'}\r\n`);
  });
}

/** RFC 4511: a bind that is refused with a referral, and a search that has one as its only result. */
function speakLdap(socket: Socket, referral: string): void {
  let id = 0;
  socket.on('data', (piece) => {
    id += 1;
    const isBind = piece.includes(0x60) && id === 1;
    const done = (code: number) => [ber(berTags.enumerated, Buffer.from([code])), ber(0x04, ''), ber(0x04, '')];
    const message = (operation: Buffer) => ber(berTags.sequence, berInteger(id), operation);
    if (isBind) return socket.write(message(ber(0x61, ...done(0))));
    const reference = ber(0x73, ber(0x04, referral));
    const result = ber(0x65, ...done(10), ber(0xa3, ber(0x04, referral)));
    return socket.write(Buffer.concat([message(reference), message(result)]));
  });
}

/** OP_MSG: a member of a set that is not the primary and names who is. */
function speakMongodb(socket: Socket, there: string): void {
  socket.on('data', (piece) => {
    const hello = {
      ok: 1,
      helloOk: true,
      isWritablePrimary: false,
      secondary: true,
      setName: 'set',
      hosts: [there],
      primary: there,
      me: there,
      maxWireVersion: 21,
      minWireVersion: 0,
    };
    const body = Buffer.concat([Buffer.from([0, 0, 0, 0, 0]), BSON.serialize(hello)]);
    const head = Buffer.alloc(16);
    head.writeInt32LE(16 + body.length, 0);
    head.writeInt32LE(piece.readInt32LE(4), 8);
    head.writeInt32LE(2013, 12);
    socket.write(Buffer.concat([head, body]));
  });
}

/** RFC 1928: a proxy that goes wherever it is asked to. */
function speakSocks(socket: Socket, port: number): void {
  socket.once('data', () => {
    socket.write(Buffer.from([5, 0]));
    socket.once('data', (request) => {
      const host = request[3] === 1 ? [...request.subarray(4, 8)].join('.') : '10.0.0.1';
      net
        .connect({ host, port })
        .on('error', () => undefined)
        .end();
      socket.end(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
    });
  });
}
