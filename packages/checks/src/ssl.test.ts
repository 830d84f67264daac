import { createHash, X509Certificate } from 'node:crypto';
import { createServer as createHttps } from 'node:https';
import tls from 'node:tls';
import t, { type Test } from 'tap';
import { runCheck } from './run.ts';
import { issue, type Issued } from './testing/certificates.ts';
import { listen, listenRaw, testContext } from './testing/context.ts';

const root = await issue({ name: 'Test root', authority: true });
const middle = await issue({ name: 'Test intermediate', authority: true, by: root });
const names = { dnsNames: ['site.localhost', '*.wild.localhost'], addresses: ['127.0.0.1'] };
const good = await issue({ name: 'site', by: root, ...names });
const trust = { ca_certificates: root.cert };

/** An HTTPS server with this certificate. */
async function site(t: Test, issued: Issued, options: tls.SecureContextOptions = {}) {
  const peer = await listen(
    createHttps({ key: issued.key, cert: issued.cert, ...options }, (_request, response) => response.end('hello')),
  );
  t.teardown(peer.stop);
  return peer;
}

const ssl = (port: number, settings: object = {}, host = 'site.localhost', overrides = {}) =>
  runCheck('ssl', { url: `${host}:${port}` }, { ...trust, ...settings }, testContext(overrides));
const https = (port: number, settings: object = {}, host = 'site.localhost', overrides = {}) =>
  runCheck('https', { url: `https://${host}:${port}/` }, { ...trust, ...settings }, testContext(overrides));

void t.test('a certificate that is right passes both checks, and ssl shows it', async (t) => {
  const { port } = await site(t, good);
  const outcome = await https(port, { keyword: 'hello' });
  t.equal(outcome.outcome, 'ok');
  t.same(Object.keys(outcome.phases), ['dns', 'connect', 'tls', 'first_byte', 'transfer']);
  t.match(await ssl(port), {
    outcome: 'ok',
    phases: { tls: Number },
    evidence: {
      certificate: {
        subject: 'CN=site',
        issuer: 'CN=Test root',
        names: ['site.localhost', '*.wild.localhost', '127.0.0.1'],
        days_left: 90,
        protocol: 'TLSv1.3',
        fingerprint_sha256: createHash('sha256').update(new X509Certificate(good.cert).raw).digest('hex'),
      },
    },
  });
  for (const host of ['127.0.0.1', 'a.wild.localhost']) {
    t.equal((await https(port, {}, host)).outcome, 'ok', host);
    t.equal((await ssl(port, {}, host)).outcome, 'ok', host);
  }
});

void t.test('what is wrong with a certificate has its own code in both checks', async (t) => {
  const cases: Array<[string, Issued, tls.SecureContextOptions, object, string]> = [
    ['expired', await issue({ name: 'old', by: root, ...names, fromDays: -10, untilDays: -1 }), {}, {}, 'tls_expired'],
    ['not yet valid', await issue({ name: 'new', by: root, ...names, fromDays: 2 }), {}, {}, 'tls_not_yet_valid'],
    ['another name', await issue({ name: 'other', by: root, dnsNames: ['other.example'] }), {}, {}, 'tls_hostname'],
    ['a name in the subject only', await issue({ name: 'site.localhost', by: root }), {}, {}, 'tls_hostname'],
    ['signed by itself', await issue({ name: 'self', ...names }), {}, {}, 'tls_self_signed'],
    ['an authority that nobody knows', good, {}, { ca_certificates: middle.cert }, 'tls_incomplete_chain'],
    ['without its intermediate', await issue({ name: 'leaf', by: middle, ...names }), {}, {}, 'tls_incomplete_chain'],
    [
      'with its foreign root',
      good,
      { cert: good.cert + root.cert },
      { ca_certificates: (await issue({ name: 'x', authority: true })).cert },
      'tls_untrusted',
    ],
  ];
  for (const [what, issued, options, settings, code] of cases) {
    const { port } = await site(t, issued, options);
    for (const check of [https, ssl]) {
      const outcome = await check(port, settings);
      t.match(outcome, { outcome: 'fail', source: 'target', code }, what);
      t.ok(outcome.evidence?.certificate, 'the certificate is evidence');
    }
    t.equal((await https(port, { ...settings, verify_tls: false })).outcome, 'ok', `${what}, not verified`);
  }
  const whole = await issue({ name: 'leaf', by: middle, ...names });
  const { port } = await site(t, whole, { cert: whole.cert + middle.cert });
  t.equal((await https(port)).outcome, 'ok', 'with its intermediate all is well');
  t.equal(
    (await https(port, { ca_certificates: undefined })).code,
    'tls_untrusted',
    'a private authority is not trusted by itself',
  );
});

const days = (count: number) => ({ wallClock: () => Date.now() + count * 86_400_000 });

void t.test('the dates are judged by the wall clock of the probe', async (t) => {
  const { port } = await site(t, good);
  t.equal((await https(port, {}, undefined, days(91))).code, 'tls_expired');
  t.match(await https(port, {}, undefined, days(80)), {
    outcome: 'warn',
    code: 'tls_expires_soon',
    source: 'target',
    evidence: { certificate: { days_left: 10 } },
  });
  t.equal((await https(port, { warn_days_before_expiry: 5 }, undefined, days(80))).outcome, 'ok');
  t.equal((await https(port, { warn_days_before_expiry: 0 }, undefined, days(90))).outcome, 'ok');
  t.match(await ssl(port, {}, undefined, days(80)), { outcome: 'warn', code: 'tls_expires_soon' });
  t.match(await ssl(port, { min_days: 20 }, undefined, days(80)), { outcome: 'fail', code: 'tls_expires_soon' });
});

void t.test('old versions are weak', async (t) => {
  const only12 = await site(t, good, { maxVersion: 'TLSv1.2' });
  t.match(await ssl(only12.port), { outcome: 'ok', evidence: { certificate: { protocol: 'TLSv1.2' } } });
  t.match(await ssl(only12.port, { min_version: 'TLSv1.3' }), { outcome: 'fail', code: 'tls_weak' });
  const only11 = await site(t, good, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' });
  t.match(await ssl(only11.port), {
    outcome: 'fail',
    code: 'tls_weak',
    evidence: { certificate: { protocol: 'TLSv1.1' } },
  });
  t.equal((await ssl(only11.port, { min_version: 'TLSv1' })).outcome, 'ok');
  t.match(await https(only11.port), { outcome: 'fail', code: 'tls_weak' });
});

void t.test('fingerprint, cipher and server name can be pinned', async (t) => {
  const { port } = await site(t, good);
  const fingerprint = new X509Certificate(good.cert).fingerprint256;
  t.equal((await ssl(port, { fingerprint_sha256: fingerprint })).outcome, 'ok');
  t.equal((await ssl(port, { fingerprint_sha256: fingerprint.replaceAll(':', '').toLowerCase() })).outcome, 'ok');
  t.match(await ssl(port, { fingerprint_sha256: 'ab'.repeat(32) }), { code: 'tls_fingerprint', outcome: 'fail' });
  t.match(await ssl(port, { verify_tls: false, fingerprint_sha256: fingerprint }, 'elsewhere.localhost'), {
    outcome: 'ok',
  });
  t.match(await ssl(port, { allowed_ciphers: ['TLS_NOT_THIS'] }), { code: 'tls_weak' });
  t.match(await ssl(port, { server_name: 'site.localhost' }, 'elsewhere.localhost'), { outcome: 'ok' });
  t.match(await ssl(port, {}, 'elsewhere.localhost'), { code: 'tls_hostname' });
});

void t.test('the name is sent to the server, an address is not', async (t) => {
  const asked: string[] = [];
  const named = (name: string, answer: (error: Error | null) => void) => {
    asked.push(name);
    answer(null);
  };
  const peer = await listen(tls.createServer({ key: good.key, cert: good.cert, SNICallback: named }));
  t.teardown(peer.stop);
  await ssl(peer.port);
  await ssl(peer.port, {}, '127.0.0.1');
  t.same(asked, ['site.localhost']);
  for (const host of ['SITE.localhost', 'site.localhost.'])
    t.match(await ssl(peer.port, {}, host), { outcome: 'ok' }, host);
  t.same(new Set(asked), new Set(['site.localhost']), 'in the spelling of certificates');
});

void t.test('a name with letters beyond ASCII is asked for and found as certificates have it', async (t) => {
  const asked: string[] = [];
  const named = (name: string, answer: (error: Error | null) => void) => {
    asked.push(name);
    answer(null);
  };
  const books = await issue({ name: 'books', by: root, dnsNames: ['xn--bcher-kva.localhost'] });
  const peer = await listen(tls.createServer({ key: books.key, cert: books.cert, SNICallback: named }));
  t.teardown(peer.stop);
  t.match(await ssl(peer.port, {}, 'bücher.localhost'), { outcome: 'ok' });
  t.match(await ssl(peer.port, { server_name: 'Bücher.localhost' }, '127.0.0.1'), { outcome: 'ok' });
  t.same(asked, ['xn--bcher-kva.localhost', 'xn--bcher-kva.localhost']);
  t.match(await ssl(peer.port, {}, 'müller.localhost'), { code: 'tls_hostname' });
});

void t.test(
  'an expired certificate that does not count is warned of in plain words, unless that is switched off',
  async (t) => {
    const { port } = await site(t, await issue({ name: 'old', by: root, ...names, fromDays: -10, untilDays: -1 }));
    for (const check of [ssl, https]) {
      t.match(await check(port, { verify_tls: false, warn_days_before_expiry: 0 }), { outcome: 'ok' });
    }
    t.match(await ssl(port, { verify_tls: false }), { outcome: 'warn', message: /^The certificate expired on / });
  },
);

void t.test('a server that wants a client certificate is told apart where TLS tells it', async (t) => {
  const demanding = { ca: root.cert, requestCert: true, rejectUnauthorized: true };
  const { port } = await site(t, good, { ...demanding, maxVersion: 'TLSv1.2' });
  for (const check of [https, ssl])
    t.match(await check(port), { outcome: 'fail', code: 'tls_handshake', message: /asks for a client certificate/ });
  const newer = await site(t, good, demanding);
  t.match(await https(newer.port), { outcome: 'fail', code: 'tls_client_certificate' });
});

void t.test('authorities that cannot be read are the fault of the settings', async (t) => {
  const { port } = await site(t, good);
  const half = `${root.cert}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`;
  for (const ca_certificates of [half, root.cert.replace('-----END', '-----ENDE'), root.cert.slice(0, -40)])
    t.match(await ssl(port, { ca_certificates }), { outcome: 'probe_error', source: 'probe' });
  t.match(await ssl(port, { ca_certificates: `root\n${root.cert}\n${middle.cert}` }), { outcome: 'ok' });
});

void t.test('a peer that does not shake hands', async (t) => {
  const plain = await listenRaw((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  const shut = await listenRaw((socket) => socket.once('data', () => socket.destroy()));
  const silent = await listenRaw(() => undefined);
  for (const peer of [plain, shut, silent]) t.teardown(peer.stop);
  for (const check of [https, ssl]) {
    t.match(await check(plain.port), { outcome: 'fail', code: 'tls_handshake', message: /did not answer with TLS/ });
    t.match(await check(shut.port), { outcome: 'fail', code: 'tls_handshake', message: /closed/ });
    t.match(await check(silent.port, {}, undefined, { timeoutMs: 100 }), {
      outcome: 'timeout',
      code: 'tls_timeout',
      phases: { connect: Number, tls: Number },
    });
  }
});
