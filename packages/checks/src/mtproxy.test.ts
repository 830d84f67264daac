import { createServer as createTls } from 'node:tls';
import t from 'tap';
import { mtproxy } from './mtproxy.ts';
import { obfuscate } from './mtproxy/obfuscation.ts';
import { readSecret } from './mtproxy/secret.ts';
import { runCheck } from './run.ts';
import { issue } from './testing/certificates.ts';
import { listen, testContext, until } from './testing/context.ts';
import { type MtproxyBehaviour, mtproxyKey, startMtproxy } from './testing/servers/mtproxy.ts';

const key = mtproxyKey;
const domain = 'www.example.com';
const secrets = {
  plain: key.toString('hex'),
  padded: `dd${key.toString('hex')}`,
  tls: `ee${key.toString('hex')}${Buffer.from(domain).toString('hex')}`,
};
const nowMs = Date.UTC(2026, 0, 2);

const check = (port: number, settings: object = {}, overrides = {}) =>
  runCheck('mtproxy', { url: `127.0.0.1:${port}` }, settings, testContext({ wallClock: () => nowMs, ...overrides }));

void t.test('a question goes through the proxy and back in each disguise', async (t) => {
  for (const [disguise, tag] of [
    ['plain', 0xeeeeeeee],
    ['padded', 0xdddddddd],
    ['tls', 0xdddddddd],
  ] as const)
    for (const slow of [false, true]) {
      const peer = await startMtproxy(t, { nowMs, slow });
      t.match(
        await check(peer.port, { secret: secrets[disguise], dc: 4 }),
        {
          outcome: 'ok',
          phases: { dns: Number, connect: Number, first_byte: Number, ...(disguise === 'tls' && { tls: Number }) },
          evidence: { details: { disguise, dc: 4 } },
        },
        disguise,
      );
      t.match(peer.seen, { tag, dc: 4, ...(disguise === 'tls' && { domain }) });
      await until(() => peer.connections.size === 0, 'no connection is left');
    }
  const peer = await startMtproxy(t, { nowMs });
  t.match(await check(peer.port, { secret: secrets.tls, depth: 'handshake' }), { outcome: 'ok' });
  t.equal(peer.seen.dc, undefined, 'nothing was asked after the handshake');
});

void t.test('what is wrong is said with its code, and the secret never', async (t) => {
  const other = Buffer.alloc(16, 5);
  const cases: Array<[MtproxyBehaviour, string, string]> = [
    [{ secret: other }, secrets.tls, 'mtproxy_secret'],
    [{ proof: 'none' }, secrets.tls, 'mtproxy_secret'],
    [{ secret: other }, secrets.padded, ''],
    [{ answer: 'close' }, secrets.plain, 'mtproxy_secret'],
    [{ answer: 'close' }, secrets.tls, 'mtproxy_secret'],
    [{ answer: 'error' }, secrets.padded, 'mtproxy_protocol'],
    [{ answer: 'other nonce' }, secrets.tls, 'mtproxy_protocol'],
    [{ answer: 'long' }, secrets.plain, 'mtproxy_protocol'],
  ];
  for (const [behaviour, secret, code] of cases) {
    const peer = await startMtproxy(t, { nowMs, ...behaviour });
    const outcome = await check(peer.port, { secret }, { timeoutMs: 500 });
    t.match(
      outcome,
      { outcome: /fail|timeout/, source: 'target', ...(code !== '' && { code }) },
      JSON.stringify(behaviour),
    );
    t.notMatch(JSON.stringify(outcome), /0123456789abcdef/i);
  }
  const silent = await startMtproxy(t, { answer: 'silent' });
  t.match(await check(silent.port, { secret: secrets.plain }, { timeoutMs: 150 }), {
    outcome: 'timeout',
    code: 'response_timeout',
  });
  await silent.stop();
  t.match(await check(silent.port, { secret: secrets.plain }), { outcome: 'fail', code: 'connect_refused' });
  t.match(await runCheck('mtproxy', { url: '10.0.0.1' }, {}, testContext()), { code: 'address_denied' });
});

void t.test('a web server takes the disguise for TLS, and does not know the secret', async (t) => {
  const own = await issue({ name: domain, dnsNames: [domain] });
  const names: Array<string | false | null> = [];
  const web = await listen(
    createTls({
      cert: own.cert,
      key: own.key,
      minVersion: 'TLSv1.3',
      SNICallback: (name, answer) => {
        names.push(name);
        answer(null);
      },
    }),
  );
  t.teardown(web.stop);
  t.match(await check(web.port, { secret: secrets.tls }), {
    outcome: 'fail',
    source: 'target',
    code: 'mtproxy_secret',
  });
  t.same(names, [domain]);
});

void t.test('secrets in the spellings of links', async (t) => {
  const tls = Buffer.from(secrets.tls, 'hex');
  for (const text of [secrets.tls, secrets.tls.toUpperCase(), tls.toString('base64'), tls.toString('base64url')])
    t.match(readSecret(text), { disguise: 'tls', domain, key }, text);
  t.match(readSecret(secrets.plain), { disguise: 'plain', key });
  for (const wrong of [
    '',
    'zz',
    secrets.plain.slice(2),
    `ee${secrets.plain}`,
    `${secrets.padded}00`,
    `ee${secrets.plain}0a`,
  ])
    t.equal(readSecret(wrong), undefined, wrong);
  const parse = (settings: object) => mtproxy.settings().safeParse(settings).success;
  t.equal(parse({ depth: 'handshake', secret: secrets.padded }), false);
  t.equal(parse({ depth: 'handshake', secret: secrets.tls }), true);
  t.equal(parse({ secret: 'short' }), false);
  t.same(mtproxy.secretFields, ['secret']);
});

void t.test('a header that another protocol could begin with is not used', async (t) => {
  const bad = [Buffer.alloc(64, 0xef), Buffer.from(`GET /${'x'.repeat(59)}`), Buffer.alloc(64), Buffer.alloc(64, 0xdd)];
  let at = 0;
  const { header } = obfuscate({ key, disguise: 'plain', domain: '' }, 2, () => bad[at++] ?? Buffer.alloc(64, 1));
  t.equal(header.subarray(0, 56).toString('hex'), '01'.repeat(56));
  t.not(header.subarray(56).toString('hex'), '01'.repeat(8), 'the tag is hidden');
});
