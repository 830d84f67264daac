import { chmodSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:tls';
import { lateness } from '@parallax/testkit/time-taken';
import t from 'tap';
import type { CheckContext } from '../check.ts';
import { createAddressPolicy } from '../net/address-policy.ts';
import type { Resolver } from '../net/resolve.ts';
import { issue } from '../testing/certificates.ts';
import { listen, listenRaw, testContext, until } from '../testing/context.ts';
import { answerInTurns } from '../testing/name-server.ts';
import { startHttpProxy } from '../testing/proxy-peer.ts';
import { diagnose } from './diagnose.ts';
import type { Diagnosis } from './diagnosis.ts';
import { difference } from './difference.ts';
import { tellDifferences } from './tell-differences.ts';
import { tracePath } from './trace-path.ts';

const look = (protocol: string, url: string, overrides: Partial<CheckContext> = {}) =>
  diagnose(protocol, { url }, testContext(overrides));

const resolving = (...addresses: readonly string[]): Resolver => ({
  resolve: async (_host, { family }) => {
    const fitting = addresses.filter((each) => each.includes(':') === (family === 6));
    const failure = { outcome: 'fail', source: 'target', code: 'address_family_missing', message: 'None.' } as const;
    return fitting.length > 0
      ? { ok: true, addresses: fitting, durationUs: 700 }
      : { ok: false, failure, durationUs: 700 };
  },
});

void t.test('a web page is looked at step by step, as a stranger sees it', async (t) => {
  const requests: string[] = [];
  const answer = 'HTTP/1.1 302 Found\r\nServer: one\r\nLocation: /elsewhere\r\nContent-Length: 5\r\n\r\nhello';
  const peer = await listenRaw((socket) =>
    socket.on('data', (data) => {
      requests.push(data.toString());
      socket.end(answer);
    }),
  );
  t.teardown(peer.stop);
  const resolver = resolving('127.0.0.1', '127.0.0.2', '10.0.0.1');
  const found = await look('http', `http://user:canary@shop.test:${peer.port}/path`, { resolver });
  t.match(found, {
    host: 'shop.test',
    port: peer.port,
    dns: { addresses: ['127.0.0.1', '127.0.0.2', '10.0.0.1'], duration_us: 700, failures: [{ family: 6 }] },
    connections: [
      { address: '127.0.0.1', connect_us: Number, trouble: undefined },
      { address: '127.0.0.2', trouble: { code: 'connect_refused' } },
      { address: '10.0.0.1', trouble: { code: 'address_denied' } },
    ],
    tls: undefined,
    answer: { address: '127.0.0.1', status: 302, body: 'hello', first_byte_us: Number },
  });
  t.equal(requests.length, 1, 'and nothing is followed');
  t.notMatch(requests[0] ?? '', /authorization/i);
  t.notMatch(JSON.stringify(found), 'canary');
  t.same(JSON.parse(JSON.stringify(found)), found, 'it is plain JSON');
  await until(() => peer.connections.size === 0, 'no connection is left');
});

void t.test('the certificate is told, whatever is wrong with it', async (t) => {
  const { cert, key } = await issue({ name: 'one', dnsNames: ['one.test'] });
  const peer = await listen(createTlsServer({ cert, key }, (socket) => socket.on('error', () => undefined)));
  t.teardown(peer.stop);
  const found = await look('tls', `two.test:${peer.port}`, { resolver: resolving('127.0.0.1') });
  t.match(found, {
    tls: {
      certificate: { subject: 'CN=one', names: ['one.test'] },
      trouble: { code: 'tls_self_signed' },
      tls_us: Number,
    },
    answer: undefined,
  });
});

void t.test('TLS is begun where the scheme of the type says so, and nowhere else', async (t) => {
  const { cert, key } = await issue({ name: 'one', dnsNames: ['one.test'] });
  const peer = await listen(createTlsServer({ cert, key }, (socket) => socket.on('error', () => undefined)));
  t.teardown(peer.stop);
  const resolver = resolving('127.0.0.1');
  const schemes = [
    ['kafka', 'kafkas', true],
    ['redis', 'valkeys', true],
    ['mqtt', 'ssl', true],
    ['nats', 'tls', false],
    ['mqtt', 'mqtt', false],
  ] as const;
  for (const [protocol, scheme, isSecure] of schemes) {
    const { port, tls } = await look(protocol, `${scheme}://one.test:${peer.port}`, { resolver });
    t.equal(port, peer.port, scheme);
    t.equal(tls?.certificate?.subject, isSecure ? 'CN=one' : undefined, `${protocol} ${scheme}`);
  }
});

void t.test('a server that speaks first is heard', async (t) => {
  const peer = await listenRaw((socket) => socket.end('220 ready\r\n'));
  t.teardown(peer.stop);
  t.match(await look('tcp', `127.0.0.1:${peer.port}`), { answer: { body: '220 ready\r\n' } });
});

void t.test('the certificate behind STARTTLS is told, and asked of the address that was judged', async (t) => {
  const { cert, key } = await issue({ name: 'mail', dnsNames: ['mail.test'] });
  const inner = createTlsServer({ cert, key }, (socket) => socket.on('error', () => undefined));
  const peer = await listenRaw((socket) => {
    socket.write('* OK ready\r\n');
    socket.once('data', (data) => {
      socket.write(`${data.toString().split(' ')[0]} OK begin\r\n`, () => inner.emit('connection', socket));
    });
  });
  t.teardown(peer.stop);
  const found = await diagnose(
    'imap',
    { url: `mail.test:${peer.port}` },
    testContext({ resolver: resolving('127.0.0.1') }),
    { tls: 'starttls', password: 'canary' },
  );
  t.match(found, {
    connections: [{ address: '127.0.0.1' }],
    tls: { address: '127.0.0.1', certificate: { subject: 'CN=mail' }, trouble: { code: 'tls_self_signed' } },
    answer: { body: '* OK ready\r\n' },
  });
  t.notMatch(JSON.stringify(found), 'canary');
});

void t.test('the path is told where it can be traced, without what is private, and within its time', async (t) => {
  const folder = t.testdir({
    far: '#!/bin/sh\necho "traceroute to 203.0.113.9"\necho " 1 10.0.0.1 0.500 ms"\necho " 2 *"\necho " 3 203.0.113.9 9.250 ms"\necho " 4 203.0.113.9 9.250 ms"\n',
    lost: '#!/bin/sh\necho " 1 198.51.100.1 0.500 ms"\necho " 2 *"\n',
    none: '#!/bin/sh\necho "not permitted" >&2\nexit 1\n',
    stuck: '#!/bin/sh\necho " 1 198.51.100.1 0.500 ms"\nexec sleep 30\n',
  });
  for (const name of ['far', 'lost', 'none', 'stuck']) chmodSync(`${folder}/${name}`, 0o755);
  const addresses = createAddressPolicy({ allowedPrivate: ['198.51.100.0/24', '203.0.113.0/24'] });
  const trace = (name: string, timeoutMs = 5000) =>
    tracePath('203.0.113.9', testContext({ addresses, timeoutMs }), `${folder}/${name}`);
  t.same(await trace('far'), {
    address: '203.0.113.9',
    reached: true,
    answered_hops: 2,
    last_answer: '3 203.0.113.9 9.25 ms',
    rtt_us: 9250,
    hops: ['1 private 0.50 ms', '2 *, 100 % lost', '3 203.0.113.9 9.25 ms'],
  });
  t.match(await trace('lost'), { reached: false, answered_hops: 1, last_answer: '1 198.51.100.1 0.50 ms' });
  t.equal(await trace('none'), undefined);
  t.equal(await tracePath('203.0.113.9', testContext(), '/nowhere/traceroute'), undefined);
  const stuck = await lateness(4000, () => trace('stuck', 1000));
  t.match(stuck.result, { reached: false, answered_hops: 1 });
  t.ok(stuck.late < 0, 'it waits no longer than it may');
});

void t.test('two places whose name servers differ: the look of both says so in a sentence', async (t) => {
  const peer = await listenRaw((socket) =>
    socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi')),
  );
  t.teardown(peer.stop);
  const from = (address: string) =>
    look('http', `http://shop.test:${peer.port}/`, { resolver: resolving(address), timeoutMs: 3000 });
  const [passing, failing] = await Promise.all([from('127.0.0.1'), from('127.0.0.2')]);
  const told = tellDifferences(difference(failing, passing), 'probe a', 'probe b');
  t.match(told, /^probe a got 127\.0\.0\.2, probe b 127\.0\.0\.1\./);
  t.match(failing.connections, [{ trouble: { code: 'connect_refused' } }]);
  t.match(passing.answer, { status: 200, body: 'hi' });
});

void t.test('a look ends at its deadline and when it is no longer wanted, and leaves nothing', async (t) => {
  const peer = await listenRaw((socket) => socket.resume());
  t.teardown(peer.stop);
  const found = await lateness(80, () => look('http', `http://127.0.0.1:${peer.port}/`, { timeoutMs: 80 }));
  t.match(found.result.answer?.trouble, { code: 'http_timeout' });
  t.ok(found.late < 1000);
  const controller = new AbortController();
  const running = look('tls', `127.0.0.1:${peer.port}`, { signal: controller.signal });
  await until(() => peer.connections.size > 0, 'the look has begun');
  controller.abort();
  const ended = await lateness(1000, () => running);
  t.type(ended.result.port, 'number');
  t.ok(ended.late < 0);
  await until(() => peer.connections.size === 0, 'no connection is left');
});

void t.test('targets without a port or a meaning, and denied ones, are dialled nowhere', async (t) => {
  t.match(await look('icmp', 'localhost'), { port: 0, connections: [] });
  t.match(await look('http', 'http://['), { port: 0, connections: [], dns: { addresses: [] } });
  const addresses = createAddressPolicy({ allowedPrivate: [] });
  const denied = await look('http', 'http://169.254.169.254/latest', { addresses });
  t.match(denied, { connections: [{ trouble: { code: 'address_denied' } }], answer: undefined });
});

const base: Diagnosis = {
  host: 'a.test',
  port: 443,
  dns: { addresses: ['192.0.2.1', '192.0.2.2'], duration_us: 900, failures: [] },
  connections: [
    { address: '192.0.2.1', connect_us: 10_000 },
    { address: '192.0.2.2', connect_us: 10_000 },
  ],
  answer: {
    address: '192.0.2.1',
    status: 200,
    first_byte_us: 20_000,
    headers: [
      ['date', 'now'],
      ['server', 'one'],
    ],
    body: 'Hello, world',
  },
};

void t.test('only what differs is told, nearest to the cause first', async (t) => {
  t.same(difference(base, base), []);
  const other: Diagnosis = {
    ...base,
    dns: { addresses: ['192.0.2.2', '192.0.2.9'], duration_us: 400_000, failures: [] },
    connections: [{ address: '192.0.2.2', connect_us: 12_000, trouble: { code: 'connect_refused', message: '' } }],
    answer: {
      address: '192.0.2.2',
      status: 403,
      first_byte_us: 30_000,
      headers: [
        ['date', 'later'],
        ['server', 'two'],
        ['x-block', '1'],
      ],
      body: 'Hello, nobody',
    },
  };
  const found = difference(base, other);
  t.same(
    found.map(({ field }) => field),
    [
      'dns.addresses',
      'dns.duration_us',
      'connections.192.0.2.2',
      'answer.status',
      'answer.headers.server',
      'answer.headers.x-block',
      'answer.body at 7',
    ],
  );
  t.same(
    found.find(({ field }) => field === 'answer.headers.x-block'),
    { field: 'answer.headers.x-block', a: null, b: '1' },
  );
  const turned = difference(other, base).map(({ field, a, b }) => ({ field, a: b, b: a }));
  t.same(turned, found, 'swapping the two swaps the sides');
  const shuffled = { ...base, dns: { ...base.dns, addresses: [...base.dns.addresses].reverse() } };
  t.same(difference(base, shuffled), [], 'the order of addresses says nothing');
});

void t.test(
  'with a proxy it is the proxy that is looked at, and names are looked up where the settings say so',
  async (t) => {
    const target = await listenRaw((socket) => socket.end('hello'));
    t.teardown(target.stop);
    const proxy = await startHttpProxy();
    t.teardown(proxy.stop);
    const server = await answerInTurns(() => [['127.0.0.1']]);
    t.teardown(server.stop);
    const url = `http://127.0.0.1:${target.port}/`;
    const resolver = [server.server];
    const settings = { proxy: `http://ann@proxy.test:${proxy.port}`, proxy_password: 'canary', resolver };
    const found = await diagnose('http', { url }, testContext(), settings);
    t.match(found, {
      host: 'proxy.test',
      port: proxy.port,
      connections: [{ address: '127.0.0.1', trouble: undefined }],
    });
    t.same(found.dns.addresses, ['127.0.0.1']);
    t.equal(target.connections.size, 0, 'the target was left alone');
    t.notMatch(JSON.stringify(found), /canary|ann/);
    const named = await diagnose('tcp', { url: `shop.test:${target.port}` }, testContext(), { resolver });
    t.match(named, { host: 'shop.test', dns: { addresses: ['127.0.0.1'] }, connections: [{ trouble: undefined }] });
  },
);
