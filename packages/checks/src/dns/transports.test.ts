import { createServer as createHttps } from 'node:https';
import type { Socket } from 'node:net';
import { createServer as createTls } from 'node:tls';
import { decode, encode } from 'dns-packet';
import { lateness } from '@parallax/testkit/time-taken';
import t from 'tap';
import { runCheck } from '../run.ts';
import { issue, type Issued } from '../testing/certificates.ts';
import { listen, testContext, until } from '../testing/context.ts';
import { startDnsmasq } from '../testing/servers/dnsmasq.ts';
import { startNamed } from '../testing/servers/named.ts';

const authority = await issue({ name: 'Test authority', authority: true });
const leaf = await issue({ name: 'ns.test', by: authority, dnsNames: ['ns.test'], addresses: ['127.0.0.1'] });
const tlsSettings = { ca_certificates: authority.cert };

const check = (url: string, settings: object, overrides = {}) =>
  runCheck('dns', { url }, settings, testContext(overrides));

void t.test('a real BIND over UDP, TCP, TLS and HTTPS, and a real dnsmasq that verifies', async (t) => {
  const named = await startNamed(t, { certificate: leaf });
  if (named === undefined) return;
  const plain = named.url;
  const records: Array<[string, string, string[]]> = [
    ['signed.test', 'SOA', ['ns.signed.test hostmaster.signed.test 7 3600 600 86400 60']],
    ['signed.test', 'NS', ['ns.signed.test.']],
    ['signed.test', 'MX', ['10 mail.signed.test']],
    ['signed.test', 'CAA', ['0 issue "ca.example"']],
    ['signed.test', 'TXT', ['"one" "two"']],
    ['_sip._udp.signed.test', 'SRV', ['1 2 5060 www.signed.test']],
    ['alias.signed.test', 'CNAME', ['www.signed.test']],
    ['alias.signed.test', 'A', ['192.0.2.10']],
    ['192.0.2.10', 'PTR', ['www.signed.test']],
  ];
  for (const [name, record_type, expected_values] of records)
    t.match(
      await check(name, { server: plain, record_type, expected_values, match: 'exact' }),
      { outcome: 'ok', evidence: { details: { transport: 'udp', authentic: false } } },
      `${record_type} ${name}`,
    );
  const ways: Array<[string, number]> = [
    ['tcp', named.port],
    ['tls', named.tls],
    ['https', named.https],
  ];
  for (const [transport, port] of ways) {
    const outcome = await check('www.signed.test', { ...tlsSettings, server: `127.0.0.1:${port}`, transport });
    t.match(outcome, {
      outcome: 'ok',
      phases: { dns: Number, connect: Number, ...(transport !== 'tcp' && { tls: Number }) },
      evidence: { answers: ['192.0.2.10'], details: { transport } },
    });
    t.match(await check('no.signed.test', { ...tlsSettings, server: `127.0.0.1:${port}`, transport }), {
      outcome: 'fail',
      source: 'target',
      code: 'dns_nxdomain',
    });
  }
  const https = { server: `127.0.0.1:${named.https}`, transport: 'https' };
  t.match(await check('www.signed.test', https), { outcome: 'fail', code: /^tls_/ }, 'an unknown authority');
  t.match(await check('www.signed.test', { ...https, verify_tls: false }), { outcome: 'ok' });
  t.match(await check('www.signed.test', { ...https, ...tlsSettings, server_name: 'other.test' }), {
    code: 'tls_hostname',
  });
  t.match(await check('www.signed.test', { ...https, ...tlsSettings, https_path: '/elsewhere' }), {
    outcome: 'fail',
    code: 'dns_transport',
    message: /404/,
  });

  const other = named.ds.replace(/..$/, (end) => (end === '00' ? '11' : '00'));
  const resolvers = [named.ds, other].map((ds) => startDnsmasq(t, { upstream: named.port, ds }));
  const [right, bogus] = await Promise.all(resolvers);
  if (right === undefined || bogus === undefined) return;
  t.match(await check('www.signed.test', { server: right.url, require_dnssec: true }), {
    outcome: 'ok',
    evidence: { details: { authentic: true } },
  });
  t.match(await check('www.signed.test', { server: plain, require_dnssec: true }), {
    outcome: 'fail',
    source: 'target',
    code: 'dns_not_authentic',
  });
  t.match(await check('www.signed.test', { server: bogus.url }), { outcome: 'fail', code: 'dns_servfail' });
  await named.stop();
  for (const [transport, port] of ways)
    t.match(await check('www.signed.test', { ...tlsSettings, server: `127.0.0.1:${port}`, transport }), {
      outcome: 'fail',
      source: 'target',
      code: 'connect_refused',
    });
});

const answerTo = (query: Buffer) => {
  const { id = 0, questions = [] } = decode(query);
  const name = questions[0]?.name ?? '';
  return encode({
    type: 'response',
    id,
    flags: 0,
    questions,
    answers: [{ type: 'A', name, data: '192.0.2.1', ttl: 1 }],
  });
};

void t.test('a server over HTTP/1.1', async (t) => {
  let mode = 'good';
  const peer = await listen(
    createHttps({ cert: leaf.cert, key: leaf.key }, (request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        if (mode === 'redirect') return response.writeHead(302, { location: 'https://10.0.0.1/' }).end();
        if (mode === 'text') return response.end('hello');
        response.setHeader('content-type', 'application/dns-message');
        if (mode === 'large') return response.end(Buffer.alloc(70_000));
        if (mode === 'garbage') return response.end(Buffer.alloc(100, 7));
        response.end(answerTo(Buffer.concat(pieces)));
      });
    }),
  );
  t.teardown(peer.stop);
  const settings = { ...tlsSettings, server: `127.0.0.1:${peer.port}`, transport: 'https' };
  t.match(await check('www.test', settings), { outcome: 'ok', evidence: { answers: ['192.0.2.1'] } });
  for (const [next, code] of [
    ['redirect', 'dns_transport'],
    ['text', 'dns_transport'],
    ['large', 'dns_transport'],
    ['garbage', 'dns_wrong_answer'],
  ] as const) {
    mode = next;
    t.match(await check('www.test', settings), { outcome: 'fail', source: 'target', code }, next);
  }
  await until(() => peer.connections.size === 0, 'no connection is left');
});

const hostile: Record<string, (socket: Socket) => void> = {
  'closes at once': (socket) => socket.destroy(),
  'never answers': (socket) => socket.resume(),
  'answers garbage': (socket) => socket.resume().write('\x16\x03\x7fgarbage\r\n\r\n', 'latin1'),
  'speaks another protocol': (socket) => socket.resume().write('SSH-2.0-OpenSSH_9.2\r\n'),
  'sends zeros without end': (socket) => flood(socket, Buffer.alloc(65_536)),
  'sends a header without end': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    flood(socket, Buffer.from(`X-A: ${'b'.repeat(8000)}\r\n`));
  },
  'sends frames without end': (socket) => {
    // SETTINGS, then empty CONTINUATION-like PING frames of HTTP/2.
    socket.write(Buffer.from('000000040000000000', 'hex'));
    flood(socket, Buffer.from(`000008060000000000${'00'.repeat(8)}`.repeat(1000), 'hex'));
  },
};

function flood(socket: Socket, piece: Buffer): void {
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.resume().on('drain', more);
  more();
}

const hostileServer = (certificate: Issued, protocol: string, handler: (socket: Socket) => void) =>
  listen(
    createTls({ cert: certificate.cert, key: certificate.key, ALPNProtocols: [protocol] }, (socket) => {
      socket.on('error', () => undefined);
      handler(socket);
    }),
  );

for (const [transport, protocol] of [
  ['tls', 'dot'],
  ['https', 'http/1.1'],
  ['https', 'h2'],
] as const) {
  void t.test(`hostile servers over ${transport} with ${protocol}`, async (t) => {
    await Promise.all(
      Object.entries(hostile).map(async ([what, handler]) => {
        const peer = await hostileServer(leaf, protocol, handler);
        const settings = { ...tlsSettings, server: `127.0.0.1:${peer.port}`, transport };
        const { result: outcome, late } = await lateness(400, () => check('www.test', settings, { timeoutMs: 400 }));
        t.match(outcome, { outcome: /^(fail|timeout)$/, source: 'target' }, `${what}: ${outcome.code ?? ''}`);
        t.ok(late < 1100, `${what}: the deadline is kept`);
        await until(() => peer.connections.size === 0, `no connection is left to a server that ${what}`);
        await peer.stop();
      }),
    );
  });
}

void t.test('a server over TLS has to be named', async (t) => {
  t.match(await check('www.test', { transport: 'tls' }), { outcome: 'probe_error', code: 'probe_internal' });
});
