import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import tls from 'node:tls';
import type { TestContext } from '@parallax/testkit';
import t from 'tap';
import { createAddressPolicy } from '../net/address-policy.ts';
import { createResolver } from '../net/resolve.ts';
import { issue, type Issued } from '../testing/certificates.ts';
import { startSocksProxy } from '../testing/proxy-peer.ts';
import { readChain } from './read-chain.ts';
import { readSentChain, type SentChain } from './sent-chain.ts';
import { chainWayOf } from './way.ts';

const clock = (): number => performance.now();
const context = (timeoutMs: number, allowedPrivate: readonly string[] = ['127.0.0.0/8']) => ({
  signal: new AbortController().signal,
  timeoutMs,
  clock,
  addresses: createAddressPolicy({ allowedPrivate }),
  resolver: createResolver({ clock }),
  userAgent: 'Test/1',
});

async function listening(t: TestContext, server: net.Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const peer = (t: TestContext, handle: (socket: Socket) => void) => listening(t, net.createServer(handle));

async function tlsServer(t: TestContext, leaf: Issued, sent: readonly Issued[], more: tls.TlsOptions = {}) {
  const server = tls.createServer({ key: leaf.key, cert: sent.map(({ cert }) => cert).join(''), ...more });
  return listening(t, server);
}

async function authorities() {
  const root = await issue({ name: 'root', authority: true });
  const middle = await issue({ name: 'middle', authority: true, by: root });
  const leaf = await issue({ name: 'leaf', by: middle, dnsNames: ['localhost'] });
  return { root, middle, leaf };
}

const names = (chain: SentChain, all: Readonly<Record<string, Issued>>): string[] => {
  if (!('certificates' in chain)) return [chain.code];
  const known = new Map(
    Object.entries(all).map(([name, { certificate }]) => [Buffer.from(certificate.rawData).toString('base64'), name]),
  );
  return chain.certificates.map((each) => known.get(each) ?? '?');
};

void t.test('certificates come in the order in which the server sent them, right or wrong', async (t) => {
  const all = await authorities();
  const { root, middle, leaf } = all;
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const)
    for (const sent of [
      [leaf],
      [leaf, middle],
      [leaf, middle, root],
      [leaf, root, middle],
      [leaf, root, root, middle],
    ]) {
      const port = await tlsServer(t, leaf, sent, { maxVersion });
      const chain = await readChain('https', `https://localhost:${port}/`, {}, context(5_000));
      t.same(
        names(chain, all),
        names(
          {
            certificates: sent.map(({ certificate }) => Buffer.from(certificate.rawData).toString('base64')),
          } as unknown as SentChain,
          all,
        ),
      );
      t.match(chain, { tls_version: maxVersion, cipher: /^TLS_/, trust_error: /UNABLE|SELF_SIGNED/ });
      t.same(readSentChain(JSON.parse(JSON.stringify(chain))), chain, 'it can be read at the other end');
    }
  const port = await tlsServer(t, leaf, [leaf, middle]);
  const settings = { ca_certificates: root.cert };
  t.match(await readChain('ssl', `localhost:${port}`, settings, context(5_000)), { trust_error: null });
});

void t.test('a mail server is asked to change to TLS first, and what it says besides goes no further', async (t) => {
  const all = await authorities();
  const secureContext = tls.createSecureContext({ key: all.leaf.key, cert: all.leaf.cert + all.middle.cert });
  const port = await peer(t, (socket) => {
    socket.write('220 canary\r\n');
    socket.on('data', function answer(data: Buffer) {
      const text = data.toString('latin1');
      if (text.startsWith('EHLO')) socket.write('250-canary\r\n250 STARTTLS\r\n');
      if (!text.startsWith('STARTTLS')) return;
      socket.off('data', answer);
      socket.write('220 go\r\n');
      new tls.TLSSocket(socket, { isServer: true, secureContext }).on('error', () => undefined);
    });
  });
  for (const [protocol, settings] of [
    ['smtp', { tls: 'starttls' }],
    ['smtp', {}],
    ['ssl', { starttls: 'smtp' }],
  ] as const) {
    const chain = await readChain(protocol, `localhost:${port}`, settings, context(5_000));
    t.same(names(chain, all), ['leaf', 'middle'], `${protocol} ${JSON.stringify(settings)}`);
    t.notMatch(JSON.stringify(chain), /canary/);
  }
  const rude = await peer(t, (socket) => socket.write('554 canary go away\r\n'));
  t.same(await readChain('smtp', `localhost:${rude}`, {}, context(5_000)), { code: 'starttls_refused' });
});

void t.test('hostile servers end in time and give a code', async (t) => {
  const drip = (socket: Socket): void => {
    const timer = setInterval(() => socket.write(Buffer.from([0x16])), 20);
    socket.on('close', () => clearInterval(timer));
  };
  const flood = (socket: Socket): void => {
    // A handshake record of full length, again and again.
    const record = Buffer.concat([Buffer.from([0x16, 3, 3, 0x40, 0]), Buffer.alloc(0x4000, 11)]);
    const more = (): void => {
      while (!socket.destroyed && socket.write(record));
    };
    socket.on('drain', more);
    more();
  };
  const cases: readonly (readonly [string, (socket: Socket) => void, string])[] = [
    ['never answers', () => undefined, 'tls_timeout'],
    ['garbage', (socket) => socket.write('no TLS here\r\n'.repeat(20)), 'tls_handshake'],
    ['one byte at a time', drip, 'tls_handshake'],
    ['endless', flood, 'tls_handshake'],
    ['closes', (socket) => socket.end(), 'tls_handshake'],
  ];
  for (const [what, handle, code] of cases) {
    const port = await peer(t, handle);
    const before = clock();
    t.same(await readChain('https', `https://127.0.0.1:${port}`, {}, context(400)), { code }, what);
    t.ok(clock() - before < 1_000, `${what}: in time`);
  }
  const endless = await peer(t, flood);
  t.match(await readChain('smtp', `127.0.0.1:${endless}`, {}, context(400)), { code: /^(starttls|response)_/ });
});

void t.test('a slow trickle of a real handshake ends at the deadline', async (t) => {
  const { leaf, middle } = await authorities();
  const real = await tlsServer(t, leaf, [leaf, middle]);
  const slow = await peer(t, (socket) => {
    const behind = net.connect(real, '127.0.0.1').on('error', () => undefined);
    socket.pipe(behind);
    const held: number[] = [];
    behind.on('data', (data) => held.push(...data));
    const timer = setInterval(() => {
      const next = held.shift();
      if (next !== undefined) socket.write(Buffer.from([next]));
    }, 20);
    socket.on('close', () => {
      clearInterval(timer);
      behind.destroy();
    });
  });
  t.same(await readChain('https', `https://127.0.0.1:${slow}`, {}, context(500)), { code: 'tls_timeout' });
});

void t.test('an address that the policy denies is not dialled', async (t) => {
  let connected = 0;
  const port = await peer(t, () => (connected += 1));
  for (const host of ['127.0.0.1', 'localhost', '2130706433', '[::ffff:127.0.0.1]'])
    t.same(await readChain('https', `https://${host}:${port}`, {}, context(2_000, [])), { code: 'address_denied' });
  t.equal(connected, 0);
});

void t.test('which protocols and settings have a chain to be looked at', async (t) => {
  const way = (protocol: string, url: string, settings = {}) => {
    const found = chainWayOf(protocol, url, settings);
    return found && `${found.host}:${found.port} ${found.starttls ?? 'implicit'} ${found.serverName}`;
  };
  t.equal(way('https', 'https://a.test/x'), 'a.test:443 implicit a.test');
  t.equal(way('wss', 'wss://[2001:db8::1]:7/'), '2001:db8::1:7 implicit 2001:db8::1');
  t.equal(way('ssl', 'a.test', { server_name: 'b.test' }), 'a.test:443 implicit b.test');
  t.equal(way('ssl', 'a.test', { starttls: 'mysql' }), 'a.test:3306 mysql a.test');
  t.equal(way('smtp', 'mail.test:587'), 'mail.test:587 smtp mail.test');
  t.equal(way('smtp', 'smtps://mail.test'), 'mail.test:465 implicit mail.test');
  t.equal(way('mysql', 'db.test', { tls: 'starttls' }), 'db.test:3306 mysql db.test');
  t.equal(way('ldap', 'd.test', { tls: 'starttls' }), 'd.test:389 ldap d.test');
  t.equal(way('mqtt', 'mqtts://m.test'), 'm.test:8883 implicit m.test');
  for (const [protocol, url] of [
    ['http', 'http://a.test/'],
    ['tcp', 'a.test:80'],
    ['ping', 'a.test'],
    ['dns', 'a.test'],
    ['dnsbl', 'a.test'],
    ['ldap', 'd.test'],
    ['nats', 'tls://n.test'],
    ['nothing', 'a.test'],
    ['https', 'not a url at all'],
  ] as const)
    t.equal(way(protocol, url), undefined, `${protocol} ${url}`);
  t.same(await readChain('tcp', 'a.test:80', {}, context(100)), { code: 'no_tls' });
});

void t.test('what a probe gives is taken only in its form', async (t) => {
  const good = { certificates: ['MAo='], trust_error: null, tls_version: 'TLSv1.3', cipher: 'TLS_AES_128_GCM_SHA256' };
  t.same(readSentChain({ ...good, banner: 'canary' }), good);
  for (const bad of [
    null,
    [],
    {},
    { ...good, certificates: ['not base 64!'] },
    { ...good, certificates: Array.from({ length: 13 }, () => 'MAo=') },
    { ...good, cipher: '<script>' },
    { code: 'A sentence of the server.' },
    { code: 7 },
  ])
    t.equal(readSentChain(bad), undefined, JSON.stringify(bad));
});

void t.test('port 25 is asked for as mail, and only where mail is spoken', async (t) => {
  const whole = context(1_000);
  for (const [protocol, isMail] of [
    ['smtp', true],
    ['imap', false],
  ] as const) {
    const purposes: unknown[] = [];
    const judge: typeof whole.addresses.judge = (_address, _port, purpose) => {
      purposes.push(purpose?.mail ?? false);
      return { reason: 'denied by the test' } as unknown as ReturnType<typeof whole.addresses.judge>;
    };
    const chain = await readChain(protocol, '127.0.0.1:25', {}, { ...whole, addresses: { ...whole.addresses, judge } });
    t.same(chain, { code: 'address_denied' });
    t.same(purposes, [isMail], protocol);
  }
});

void t.test('certificates are fetched through the proxy of the monitor', async (t) => {
  const { leaf } = await authorities();
  const port = await tlsServer(t, leaf, [leaf]);
  const proxy = await startSocksProxy({ login: 'ann:secret', names: { 'shop.test': '127.0.0.1' } });
  t.teardown(proxy.stop);
  const settings = { proxy: `socks5://ann@127.0.0.1:${proxy.port}`, proxy_password: 'secret' };
  t.match(await readChain('https', `https://shop.test:${port}/`, settings, context(5_000)), { tls_version: /^TLS/ });
  t.same(proxy.asked, [`shop.test:${port}`]);
  const wrong = { ...settings, proxy_password: 'wrong' };
  t.same(await readChain('https', `https://shop.test:${port}/`, wrong, context(5_000)), { code: 'proxy_auth' });
});
