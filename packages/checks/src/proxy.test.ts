import net from 'node:net';
import t, { type Test } from 'tap';
import { createAddressPolicy } from './net/address-policy.ts';
import { protocols, secretFieldsOf, settingsSchema } from './registry.ts';
import { runCheck } from './run.ts';
import { issue } from './testing/certificates.ts';
import { listen, listenRaw, testContext, until } from './testing/context.ts';
import { startHttpProxy, startSocksProxy, type ProxyPeer, type ProxyPeerOptions } from './testing/proxy-peer.ts';
import { freePort } from './testing/real-server.ts';
import { rightAnswers } from './testing/right-answers.ts';
import { startDanted } from './testing/servers/danted.ts';
import { startVsftpd } from './testing/servers/vsftpd.ts';
import { site } from './testing/site.ts';

const authority = await issue({ name: 'Proxy tests', authority: true });
const certificate = await issue({
  name: '127.0.0.1',
  by: authority,
  addresses: ['127.0.0.1'],
  dnsNames: ['shop.test'],
});
const names = { 'shop.test': '127.0.0.1' };
const kinds = { http: startHttpProxy, socks5: startSocksProxy } as const;
const taking = protocols.filter((protocol) => settingsSchema(protocol).safeParse({ proxy: 'http://p.test' }).success);

async function start(t: Test, kind: keyof typeof kinds, options: ProxyPeerOptions = {}): Promise<ProxyPeer> {
  const peer = await kinds[kind](options);
  t.teardown(peer.stop);
  return peer;
}

/** Runs a check and keeps what its trace says. */
async function run(protocol: string, url: string, settings: object, overrides = {}) {
  const said: string[] = [];
  const trace = (step: string, detail: string) => void said.push(`${step}: ${detail}`);
  const outcome = await runCheck(protocol, { url }, settings, testContext({ trace, ...overrides }));
  return { ...outcome, said };
}

void t.test('a check goes through the proxy of its settings, which looks up the name', async (t) => {
  const target = await site(t, (_request, response) => response.end('hello'));
  const secure = await site(t, (_request, response) => response.end('hello'), certificate);
  for (const kind of ['http', 'socks5'] as const) {
    const open = await start(t, kind, { names });
    const proxy = `${kind}://127.0.0.1:${open.port}`;
    t.match(await run('http', `http://shop.test:${target.port}/`, { proxy, keyword: 'hello' }), {
      outcome: 'ok',
      phases: { dns: Number, connect: Number, first_byte: Number },
      evidence: { address: '127.0.0.1', port: open.port },
    });
    const trust = { ca_certificates: authority.cert };
    t.match(await run('https', `https://shop.test:${secure.port}/`, { proxy, ...trust, keyword: 'hello' }), {
      outcome: 'ok',
      phases: { tls: Number },
    });
    t.match(await run('https', `https://shop.test:${secure.port}/`, { proxy }), { code: 'tls_incomplete_chain' });
    t.match(await run('tcp', `shop.test:${target.port}`, { proxy }), { outcome: 'ok' });
    const wanted = [target.port, secure.port, secure.port, target.port].map((port) => `shop.test:${port}`);
    t.same(open.asked, wanted, `${kind}: the name itself was handed on`);
    const closed = await start(t, kind, { login: 'ann:p@ss:wörd' });
    const at = (user: string) => `${kind}://${user}127.0.0.1:${closed.port}`;
    const url = target.url();
    t.match(await run('http', url, { proxy: at('ann@'), proxy_password: 'p@ss:wörd' }), { outcome: 'ok' });
    t.match(await run('http', url, { proxy: at('ann:p%40ss:w%C3%B6rd@') }), { outcome: 'ok' });
    for (const wrong of [{ proxy: at('') }, { proxy: at('ann@'), proxy_password: 'Wrong-secret' }]) {
      const found = await run('http', url, wrong);
      t.match(found, { outcome: 'fail', source: 'target', code: 'proxy_auth' });
      t.match(found.evidence?.details, { proxy: `${kind}://127.0.0.1:${closed.port}` });
      t.ok(
        found.said.some((line) => line.startsWith('proxy: ')),
        'the trace tells of the proxy',
      );
      t.notMatch(JSON.stringify(found), /Wrong-secret/);
    }
    await until(() => open.connections.size + closed.connections.size === 0, 'no connection is left');
  }
});

void t.test('a proxy that speaks TLS is verified by authorities of its own', async (t) => {
  const target = await site(t, (_request, response) => response.end('hello'), certificate);
  const peer = await start(t, 'http', { certificate });
  const proxy = `https://127.0.0.1:${peer.port}`;
  const trust = { ca_certificates: authority.cert };
  const both = { ...trust, proxy_ca_certificates: authority.cert };
  t.match(await run('https', target.url(), { proxy, ...both, keyword: 'hello' }), { outcome: 'ok' });
  t.match(await run('https', target.url(), { proxy, ...trust }), {
    code: 'proxy_error',
    message: /^The proxy cannot be used: .*certificate/,
  });
  t.equal(peer.asked.length, 1);
});

void t.test('a failure of the proxy is told from one of the target', async (t) => {
  const gone = await freePort();
  const url = `tcp://127.0.0.1:${gone}`;
  for (const kind of ['http', 'socks5'] as const) {
    const peer = await start(t, kind);
    const proxy = `${kind}://127.0.0.1:${peer.port}`;
    const found = await run('tcp', url, { proxy });
    t.match(found, { outcome: 'fail', source: 'target', code: kind === 'http' ? 'connect_failed' : 'connect_refused' });
    t.match(found.message, new RegExp(`could not connect to (the target|127.0.0.1:${gone})`));
    t.match(await run('tcp', url, { proxy, inverted: true }), { outcome: 'ok' }, 'the silence of the target');
    const away = { proxy: `${kind}://127.0.0.1:${gone}` };
    const unreached = { outcome: 'fail', source: 'target', code: 'proxy_error' };
    t.match(await run('tcp', url, away), { ...unreached, message: /^The proxy cannot be used: .*refused/ });
    t.match(
      await run('tcp', url, { ...away, inverted: true }),
      unreached,
      'and the silence of the proxy, which is none',
    );
    const ruled = await start(t, kind, { status: kind === 'http' ? 403 : 2 });
    t.match(await run('tcp', url, { proxy: `${kind}://127.0.0.1:${ruled.port}` }), unreached, 'its rules');
    const strange = await listenRaw((socket) => socket.end('220 hello\r\n'));
    t.teardown(strange.stop);
    t.match(await run('tcp', url, { proxy: `${kind}://127.0.0.1:${strange.port}` }), unreached, 'no proxy at all');
    const endless = await listenRaw((socket) => {
      socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}`));
    });
    t.teardown(endless.stop);
    t.match(await run('tcp', url, { proxy: `${kind}://127.0.0.1:${endless.port}` }), unreached, 'an endless answer');
  }
  const late = await start(t, 'http', { status: 504 });
  t.match(await run('tcp', url, { proxy: `http://127.0.0.1:${late.port}` }), {
    outcome: 'timeout',
    code: 'connect_timeout',
  });
  const mute = await listenRaw((socket) => socket.resume());
  t.teardown(mute.stop);
  const at = `127.0.0.1:${mute.port}`;
  t.match(await run('tcp', url, { proxy: `socks5://${at}` }, { timeoutMs: 100 }), {
    outcome: 'timeout',
    code: 'proxy_error',
  });
  t.match(
    await run('tcp', url, { proxy: `http://${at}` }, { timeoutMs: 100 }),
    { outcome: 'timeout', code: 'connect_timeout' },
    'a proxy that waits for a silent target is as silent',
  );
  await until(() => mute.connections.size === 0, 'no connection is left');
});

void t.test('the address policy judges the proxy, and targets that are addresses or private names', async (t) => {
  const target = await site(t, (_request, response) => response.end('hello'));
  const peer = await start(t, 'socks5');
  const proxy = `socks5://127.0.0.1:${peer.port}`;
  const denied = { outcome: 'fail', code: 'address_denied' };
  const strict = { addresses: createAddressPolicy({ allowedPrivate: [] }) };
  t.match(await run('http', 'http://shop.test/', { proxy }, strict), { ...denied, message: /proxy.*127\.0\.0\.1/ });
  // The proxy alone may be reached.
  const narrow = createAddressPolicy({ allowedPrivate: ['127.0.0.1'] });
  for (const host of ['10.1.2.3', '169.254.169.254', '[::1]', '2130706434', '[::ffff:10.0.0.1]']) {
    t.match(await run('http', `http://${host}/`, { proxy }, { addresses: narrow }), denied, host);
    t.match(await run('tcp', `${host}:80`, { proxy }, { addresses: narrow }), denied, `tcp ${host}`);
  }
  const own = createAddressPolicy({
    allowedPrivate: ['127.0.0.1'],
    deniedListeners: [{ address: '127.0.0.1', port: 5432 }],
  });
  t.match(await run('tcp', 'localhost:5432', { proxy }, { addresses: own }), denied, 'its own listeners by name');
  t.match(await run('tcp', 'mail.test:25', { proxy }), denied, 'port 25 is for mail');
  const led = await site(t, (_request, response) => response.writeHead(302, { location: 'http://10.1.2.3/' }).end());
  t.match(await run('http', led.url(), { proxy }, { addresses: narrow }), denied, 'where a redirect leads');
  t.same(peer.asked, [`127.0.0.1:${led.port}`], 'the proxy heard of none of them');
  t.match(await run('http', target.url(), { proxy }, { addresses: narrow }), { outcome: 'ok' });
});

void t.test('every type that takes a proxy uses it and nothing else', async (t) => {
  t.ok(taking.length >= 25, `${taking.length} types`);
  for (const protocol of ['udp', 'icmp', 'ping', 'dns', 'dnsbl', 'ntp', 'traceroute', 'snmp', 'radius'] as const) {
    t.notOk(taking.includes(protocol), protocol);
    t.match(settingsSchema(protocol).safeParse({ proxy: 'http://p.test' }).error?.issues, [
      { code: 'unrecognized_keys' },
    ]);
  }
  let tried = 0;
  for (const protocol of taking) {
    t.ok(secretFieldsOf(protocol).includes('proxy_password'), protocol);
    const pointed = await rightAnswers[protocol]?.(t, { authority, certificate });
    if (pointed === undefined) continue;
    for (const kind of ['http', 'socks5'] as const) {
      const peer = await start(t, kind);
      const proxy = `${kind}://127.0.0.1:${peer.port}`;
      const settings = { ...pointed.settings, proxy };
      const outcome = await runCheck(protocol, { url: pointed.url }, settings, testContext());
      t.match(outcome, { outcome: 'ok' }, `${protocol} by ${kind}: ${outcome.message}`);
      t.ok(peer.asked.length > 0, `${protocol} by ${kind}`);
      await peer.stop();
      // Without the proxy there is no other way.
      const without = await runCheck(protocol, { url: pointed.url }, settings, testContext());
      t.match(without, { code: 'proxy_error', evidence: { details: { proxy } } }, `${protocol}: ${without.message}`);
      tried += 1;
    }
  }
  t.ok(tried >= 12, `${tried} ways`);
});

void t.test('what the target says before it is asked is not lost', async (t) => {
  const talker = net.createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write('220 welcome\r\n');
  });
  const target = await listen(talker);
  t.teardown(target.stop);
  // The answer of the proxy and the greeting come in one piece.
  const proxy = await listenRaw((client) => {
    client.once('data', () => client.write('HTTP/1.1 200 OK\r\n\r\n220 welcome\r\n'));
  });
  t.teardown(proxy.stop);
  const settings = { proxy: `http://127.0.0.1:${proxy.port}`, expect: '220 welcome' };
  t.match(await run('tcp', `127.0.0.1:${target.port}`, settings), { outcome: 'ok' });
});

void t.test('a proxy that sends its password back in the place of the target does not get it shown', async (t) => {
  const secret = 'Marked-proxy-secret/+1';
  const heard: string[] = [];
  const proxy = await listenRaw((client) => {
    client.once('data', (head) => {
      heard.push(head.toString());
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      client.on('data', () => client.end(`HTTP/1.1 500 ${secret}\r\nX-Echo: ${secret}\r\n\r\n${head.toString()}`));
    });
  });
  t.teardown(proxy.stop);
  const settings = { proxy: `http://ann@127.0.0.1:${proxy.port}`, proxy_password: secret };
  const found = await run('http', 'http://shop.test/', settings);
  t.match(found, { code: 'http_status' });
  const basic = Buffer.from(`ann:${secret}`).toString('base64');
  t.match(heard[0], basic);
  t.notOk(JSON.stringify(found).includes(secret));
  t.notOk(JSON.stringify(found).includes(basic.slice(8)));
});

void t.test('settings of a proxy that do not go together are refused', async (t) => {
  const paths = (settings: object) =>
    settingsSchema('http')
      .safeParse(settings)
      .error?.issues.map(({ path }) => path.join('.')) ?? [];
  for (const proxy of [
    'p.test:3128',
    'ftp://p.test',
    'socks4://p.test',
    'http://',
    'http://p.test/path',
    'http://p.test?x',
    'http://p.test:0',
    'http://p.test:99999',
    'http://:secret@p.test',
    `http://u:${'p'.repeat(256)}@p.test`,
    'http://a%3Ab@p.test',
    'http://%ff@p.test',
    'http://u:a%0d%0ab@p.test',
  ])
    t.same(paths({ proxy }), ['proxy'], proxy);
  const proxy = 'http://p.test:3128';
  t.same(paths({ proxy, all_addresses: true }), ['all_addresses']);
  t.same(paths({ proxy, ip_version: 6 }), ['ip_version']);
  t.same(paths({ proxy_password: 'secret' }), ['proxy_password']);
  t.same(paths({ proxy, proxy_password: 'secret' }), ['proxy_password']);
  t.same(paths({ proxy, proxy_ca_certificates: authority.cert }), ['proxy_ca_certificates']);
  const read = (settings: object) => settingsSchema('tcp').parse(settings);
  t.match(read({ proxy: 'SOCKS5H://Ann:s%40crét@P.Test' }), {
    proxy: 'socks5://Ann@p.test:1080',
    proxy_password: 's@crét',
  });
  t.match(read({ proxy: 'http://p.test' }), { proxy: 'http://p.test:80' });
  t.match(read({ proxy: 'https://[::1]:80/' }), { proxy: 'https://[::1]:80' });
  t.match(read({ proxy: 'http://0x7f.1:8080' }), { proxy: 'http://127.0.0.1:8080' });
});

void t.test('through Dante, a real proxy', async (t) => {
  const dante = await startDanted(t);
  if (dante === undefined) return;
  const proxy = `socks5://${dante.url}`;
  const target = await site(t, (_request, response) => response.end('hello'), certificate);
  t.match(await run('https', target.url(), { proxy, ca_certificates: authority.cert }), { outcome: 'ok' });
  t.match(await run('tcp', `127.0.0.9:${target.port}`, { proxy }), { code: 'proxy_error', message: /rules/ });
  t.match(await run('tcp', `127.0.0.1:${await freePort()}`, { proxy }), { code: 'connect_refused' });
});

void t.test('the listing of an FTP server comes through the proxy too', async (t) => {
  const vsftpd = await startVsftpd(t, { tls: 'none', certificate });
  if (vsftpd === undefined) return;
  const { username, password, root } = vsftpd;
  for (const kind of ['http', 'socks5'] as const) {
    const peer = await start(t, kind);
    const proxy = `${kind}://127.0.0.1:${peer.port}`;
    const settings = { username, password, list_directory: `${root}/`, proxy };
    t.match(await run('ftp', `ftp://127.0.0.1:${vsftpd.port}`, settings), { outcome: 'ok' });
    t.equal(peer.asked.length, 2, 'one connection for the words, one for the names');
  }
});
