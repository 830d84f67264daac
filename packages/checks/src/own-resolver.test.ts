import { createSocket } from 'node:dgram';
import t from 'tap';
import { createAddressPolicy } from './net/address-policy.ts';
import { readNameServer } from './net/own-resolver.ts';
import { protocols, settingsSchema } from './registry.ts';
import { runCheck } from './run.ts';
import { testContext } from './testing/context.ts';
import { answerInTurns } from './testing/name-server.ts';
import { startHttpProxy } from './testing/proxy-peer.ts';
import { freePort } from './testing/real-server.ts';
import { site } from './testing/site.ts';

/** Names that the resolver of the test's context knows nothing of. */
const answers: Readonly<Record<string, readonly string[]>> = {
  'shop.test': ['127.0.0.1'],
  'inner.test': ['10.1.2.3'],
  'localhost.test': ['127.0.0.2'],
};
const server = await answerInTurns((name) => [answers[name] ?? []]);
t.teardown(server.stop);

async function run(protocol: string, url: string, settings: object, overrides = {}) {
  const said: string[] = [];
  const trace = (step: string, detail: string) => void said.push(`${step}: ${detail}`);
  const outcome = await runCheck(protocol, { url }, settings, testContext({ trace, ...overrides }));
  return { ...outcome, said };
}

void t.test('names are looked up by the name servers of the monitor', async (t) => {
  const target = await site(t, (_request, response) => response.end('hello'));
  const resolver = [server.server];
  const found = await run('http', `http://shop.test:${target.port}/`, { resolver });
  t.match(found, { outcome: 'ok', evidence: { address: '127.0.0.1' } });
  t.ok(found.said.includes(`resolver: ${server.server}: shop.test is 127.0.0.1`), found.said.join('\n'));
  t.match(await run('tcp', `shop.test:${target.port}`, { resolver }), { outcome: 'ok' });
  t.match(await run('http', `http://shop.test:${target.port}/`, { resolver, all_addresses: true }), { outcome: 'ok' });
  const silent = { outcome: 'timeout', source: 'resolver', code: 'dns_timeout' };
  // The context's own name server is where nobody listens.
  t.not(
    (await run('tcp', `shop.test:${target.port}`, {}, { timeoutMs: 500 })).outcome,
    'ok',
    'not by those of the probe',
  );
  // A port that is bound and never answers.
  const mute = createSocket('udp4');
  await new Promise<void>((resolve) => void mute.bind(0, '127.0.0.1', resolve));
  t.teardown(() => mute.close());
  const nobody = `127.0.0.1:${mute.address().port}`;
  const late = await run('tcp', 'shop.test:80', { resolver: [nobody] }, { timeoutMs: 300 });
  t.match(late, silent);
  t.match(late.message, `of the monitor (${nobody})`);
  t.match(late.evidence?.details, { resolver: nobody });
  t.match(await run('tcp', `shop.test:80`, { resolver: [nobody], inverted: true }, { timeoutMs: 300 }), silent);
  const gone = [`127.0.0.1:${await freePort()}`, server.server];
  t.match(await run('tcp', `shop.test:${target.port}`, { resolver: gone }), { outcome: 'ok' }, 'the next one is asked');
});

void t.test('the address policy judges the name server and what it answers', async (t) => {
  const resolver = [server.server];
  const denied = { outcome: 'fail', code: 'address_denied' };
  const asked = server.asked();
  const strict = { addresses: createAddressPolicy({ allowedPrivate: [] }) };
  t.match(await run('tcp', 'shop.test:80', { resolver }, strict), { ...denied, message: /name server 127\.0\.0\.1/ });
  t.match(await run('tcp', 'shop.test:80', { resolver: ['192.0.2.1', '169.254.169.254'] }), denied, 'each of them');
  const port = Number(server.server.split(':')[1]);
  const deniedListeners = [{ address: '127.0.0.1', port }];
  const own = { addresses: createAddressPolicy({ allowedPrivate: ['127.0.0.1'], deniedListeners }) };
  t.match(await run('tcp', 'shop.test:80', { resolver }, own), denied, 'a listener of the product');
  t.equal(server.asked(), asked, 'none of them was asked');
  t.match(await run('tcp', 'inner.test:80', { resolver }), { ...denied, message: /10\.1\.2\.3/ }, 'what it answers');
  t.match(
    await run(
      'tcp',
      'localhost.test:80',
      { resolver },
      { addresses: createAddressPolicy({ allowedPrivate: ['127.0.0.1'] }) },
    ),
    denied,
  );
});

void t.test('with a proxy the name of the proxy is looked up there', async (t) => {
  const target = await site(t, (_request, response) => response.end('hello'));
  const peer = await startHttpProxy();
  t.teardown(peer.stop);
  const settings = { resolver: [server.server], proxy: `http://shop.test:${peer.port}` };
  t.match(await run('http', target.url(), settings), { outcome: 'ok' });
  t.same(peer.asked, [`127.0.0.1:${target.port}`]);
});

void t.test('types that look a name up take name servers, as addresses', (t) => {
  const resolver = ['192.0.2.1'];
  const not = protocols.filter((protocol) => !settingsSchema(protocol).safeParse({ resolver }).success);
  t.same(not, ['dns', 'dnsbl', 'whois', 'rdap']);
  for (const wrong of [
    [],
    ['ns.example.com'],
    ['192.0.2.1:0'],
    ['fe80::1%eth0'],
    Array.from({ length: 4 }, () => '192.0.2.1'),
  ])
    t.notOk(settingsSchema('icmp').safeParse({ resolver: wrong }).success, JSON.stringify(wrong));
  t.same(readNameServer('[2001:db8::53]:5353'), { address: '2001:db8::53', port: 5353 });
  t.same(readNameServer('192.0.2.53'), { address: '192.0.2.53', port: 53 });
  t.end();
});
