import { type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { processorMs } from '@parallax/testkit/time-taken';
import t from 'tap';
import { runCheck } from './run.ts';
import { issue } from './testing/certificates.ts';
import { listen, listenRaw, testContext } from './testing/context.ts';
import { rdapDomain, startRdap, startWhois, whoisText } from './testing/servers/registries.ts';
import { parseDate } from './whois/dates.ts';
import { createResolver } from './net/resolve.ts';
import { rdapServerOf, whoisQuery, whoisServerOf } from './whois/servers.ts';
import { readRdap } from './whois/rdap-json.ts';
import { readWhois, referralOf } from './whois/whois-text.ts';

const now = Date.UTC(2027, 0, 1);
const check = (url: string, settings: object, overrides = {}) =>
  runCheck('whois', { url }, settings, testContext({ wallClock: () => now, ...overrides }));

void t.test('a registration by WHOIS: days, registrar, name servers, statuses', async (t) => {
  let expiry = '2027-12-31T04:00:00Z';
  let text: string | undefined;
  const { server, asked } = await startWhois(t, () => text ?? whoisText(expiry));
  const good = await check('www.example.test', { whois_server: server });
  t.match(good, {
    outcome: 'ok',
    phases: { dns: Number, connect: Number, first_byte: Number, transfer: Number },
    evidence: {
      address: '127.0.0.1',
      details: {
        domain: 'example.test',
        registrar: 'Example Registrar, Inc.',
        expires: '2027-12-31T04:00:00.000Z',
        days_left: 364,
        name_servers: 'ns1.example.test ns2.example.test',
        status: 'clientTransferProhibited',
      },
    },
  });
  t.equal(asked[0], 'example.test\r\n', 'the registrable domain is asked for');
  const expected = {
    expected_registrar: 'example registrar',
    expected_name_servers: ['ns2.example.test', 'NS1.example.test.'],
  };
  t.match(await check('example.test', { whois_server: server, ...expected }), { outcome: 'ok' });
  const bad: Array<[object, string, string]> = [
    [{ expected_registrar: 'Other' }, 'fail', 'whois_registrar'],
    [{ expected_name_servers: ['ns1.example.test'] }, 'fail', 'whois_name_servers'],
    [{ forbidden_statuses: ['client transfer prohibited'] }, 'fail', 'whois_status'],
    [{ warn_days_before_expiry: 365 }, 'warn', 'whois_expires_soon'],
    [{ min_days: 365 }, 'fail', 'whois_expires_soon'],
  ];
  for (const [settings, outcome, code] of bad)
    t.match(
      await check('example.test', { whois_server: server, ...settings }),
      { outcome, code, source: 'target' },
      code,
    );
  expiry = '2026-12-31T23:59:59Z';
  t.match(await check('example.test', { whois_server: server }), {
    outcome: 'fail',
    code: 'whois_expired',
    message: /2026-12-31/,
    evidence: { body: /Registry Expiry Date/ },
  });
  text = 'Domain: example.test\nNserver: ns1.example.test\nStatus: connect\n';
  t.match(await check('example.test', { whois_server: server }), { code: 'whois_no_date' });
  t.match(await check('example.test', { whois_server: server, require_expiry: false }), { outcome: 'ok' });
  text = 'No match for "EXAMPLE.TEST".\r\n';
  t.match(await check('example.test', { whois_server: server }), { outcome: 'fail', code: 'whois_not_found' });
  text = 'WHOIS LIMIT EXCEEDED - SEE WWW.EXAMPLE/WHOIS\r\n';
  t.match(await check('example.test', { whois_server: server }), {
    outcome: 'probe_error',
    source: 'probe',
    code: 'whois_rate_limited',
  });
  text = 'hello\r\n';
  t.match(await check('example.test', { whois_server: server }), { source: 'target', code: 'whois_unreadable' });
});

void t.test('referrals of WHOIS are followed, judged, and never in a circle', async (t) => {
  const second = await startWhois(t, () => whoisText('2028-01-01'));
  let referral = second.server;
  const first = await startWhois(
    t,
    () => `Domain Name: example.test\nName Server: ns1.example.test\nRegistrar WHOIS Server: ${referral}\n`,
  );
  t.match(await check('example.test', { whois_server: first.server }), {
    outcome: 'ok',
    evidence: { details: { server: second.server, days_left: 365 } },
  });
  const before = second.asked.length;
  for (const denied of [
    '10.0.0.1',
    '169.254.169.254:80',
    '[::ffff:10.0.0.1]:43',
    '0x0a000001',
    'whois://192.168.1.1',
  ]) {
    referral = denied;
    t.match(await check('example.test', { whois_server: first.server }), { code: 'whois_no_date' }, denied);
  }
  referral = first.server;
  const asked = first.asked.length;
  t.match(await check('example.test', { whois_server: first.server }), { code: 'whois_no_date' });
  t.equal(first.asked.length, asked + 1, 'nobody is asked twice');
  t.equal(second.asked.length, before);
  t.match(await check('example.test', { whois_server: '10.0.0.1' }), { code: 'address_denied' });
});

void t.test('a registration by RDAP', async (t) => {
  let answer: { status?: number; body?: unknown; location?: string; type?: string } = {};
  const { server, asked, port } = await startRdap(t, () => answer);
  t.match(await check('www.example.test', { rdap_server: server }), {
    outcome: 'ok',
    phases: { connect: Number, first_byte: Number },
    evidence: {
      details: {
        registrar: 'Example Registrar',
        days_left: 364,
        name_servers: 'ns1.example.test ns2.example.test',
        status: 'clientTransferProhibited',
      },
    },
  });
  t.match(asked[0], /^\/base\/domain\/example\.test application\/rdap\+json/);
  const bad: Array<[typeof answer, string]> = [
    [{ status: 404, body: '{}' }, 'whois_not_found'],
    [{ status: 404, body: '<h1>Not Found</h1>', type: 'text/html; charset=utf-8' }, 'http_status'],
    [{ status: 429, body: '' }, 'whois_rate_limited'],
    [{ status: 500, body: '' }, 'http_status'],
    [{ body: 'garbage' }, 'whois_unreadable'],
    [{ body: [] }, 'whois_unreadable'],
    [{ body: rdapDomain({ events: [] }) }, 'whois_no_date'],
    [{ body: rdapDomain({ status: ['server hold'] }) }, 'whois_status'],
    [{ status: 302, location: 'http://10.0.0.1/domain/example.test' }, 'address_denied'],
    [{ status: 302, location: 'file:///etc/passwd' }, 'http_redirect'],
    [{ status: 302, location: `http://127.0.0.1:${port}/again` }, 'http_redirect'],
  ];
  for (const [given, code] of bad) {
    answer = given;
    const outcome = code === 'whois_rate_limited' ? 'probe_error' : 'fail';
    t.match(await check('example.test', { rdap_server: server }), { outcome, code }, code);
  }
  t.match(await runCheck('rdap', { url: 'example.test' }, { rdap_server: server }, testContext()), {
    code: 'http_redirect',
  });
});

void t.test('RDAP over TLS is verified', async (t) => {
  const root = await issue({ name: 'root', authority: true });
  const leaf = await issue({ name: 'rdap', by: root, dnsNames: ['localhost'] });
  const handler: RequestListener = (_request, response) => response.end(JSON.stringify(rdapDomain()));
  const peer = await listen(createHttpsServer({ cert: leaf.cert, key: leaf.key }, handler));
  t.teardown(peer.stop);
  const settings = { rdap_server: `https://localhost:${peer.port}/`, ip_version: 4 };
  const today = { wallClock: undefined };
  t.match(await check('example.test', { ...settings, ca_certificates: root.cert }, today), {
    phases: { tls: Number },
    evidence: { details: { domain: 'example.test', registrar: 'Example Registrar' } },
  });
  t.match(await check('example.test', settings, today), { outcome: 'fail', code: /^tls_/ });
});

void t.test('WHOIS stands behind RDAP', async (t) => {
  let answer: { status?: number; body?: unknown } = { status: 503, body: '' };
  const rdap = await startRdap(t, () => answer);
  const whois = await startWhois(t, () => whoisText('2028-01-01'));
  const both = { rdap_server: rdap.server, whois_server: whois.server };
  t.match(await check('example.test', both), { outcome: 'ok', evidence: { details: { server: whois.server } } });
  answer = { body: rdapDomain({ events: [] }) };
  t.match(await check('example.test', both), { outcome: 'ok', evidence: { details: { server: whois.server } } });
  const times = whois.asked.length;
  answer = { status: 404, body: '' };
  t.match(await check('example.test', both), { code: 'whois_not_found' });
  answer = {};
  t.match(await check('example.test', both), { outcome: 'ok', evidence: { details: { days_left: 364 } } });
  t.equal(whois.asked.length, times, 'WHOIS is not asked when RDAP has said it all');
  const silent = await listenRaw((socket) => socket.resume());
  t.teardown(silent.stop);
  const late = { rdap_server: `http://127.0.0.1:${silent.port}/`, whois_server: whois.server };
  t.match(await check('example.test', late, { timeoutMs: 400 }), { outcome: 'ok' });
  await whois.stop();
  t.match(await check('example.test', { whois_server: whois.server }), {
    outcome: 'fail',
    source: 'target',
    code: 'connect_refused',
  });
});

void t.test('only domains have a registration', async (t) => {
  for (const url of ['10.0.0.1', '::1', 'localhost', '2130706433'])
    t.match(await check(url, {}), { code: 'target_invalid' }, url);
  for (const rdap_server of ['ftp://a.test/', 'https://u:p@a.test/', 'https://a.test/?q', 'a.test'])
    t.match(await check('example.test', { rdap_server }), { code: 'probe_internal' }, rdap_server);
});

void t.test('dates of many registries', async (t) => {
  const day = Date.UTC(2027, 7, 3);
  for (const text of [
    '2027-08-03',
    '2027/08/03',
    '2027.08.03',
    '2027. 08. 03.',
    '20270803',
    '20270803 #12345',
    '03.08.2027',
    '3.8.2027',
    '03/08/2027',
    '03-08-2027',
    '03-Aug-2027',
    '3-aug-2027',
    '3 August 2027',
    'August 3 2027',
    'Aug 3, 2027',
    'Tue Aug 03 2027',
    'Tue Aug  3 00:00:00 UTC 2027',
    '2027-08-03T00:00:00Z',
    '2027-08-03 00:00:00',
    '2027-08-03T02:00:00+02:00',
    '2027-08-03T00:00:00.0Z',
    '03/08/2027 00:00:00',
  ])
    t.equal(parseDate(text), day, text);
  t.equal(parseDate('08/13/2027'), Date.UTC(2027, 7, 13), 'a month of 13 is a day');
  for (const text of [
    '',
    'never',
    '2027-02-30',
    '31.11.2027',
    '0000-00-00',
    '13-Foo-2027',
    '12345678901',
    'N/A',
    '2027-13-01',
  ])
    t.equal(parseDate(text), undefined, text);
});

void t.test('answers of many registries', async (t) => {
  const at = Date.UTC(2027, 7, 3);
  const forms: readonly string[] = [
    'domain:        EXAMPLE.RU\nnserver:       ns1.example.ru.\nstate:         REGISTERED, DELEGATED\nregistrar:     RU-CENTER-RU\npaid-till:     2027-08-03T00:00:00Z\nfree-date:     2027-09-03\n',
    '    Domain name:\n        example.co.uk\n\n    Registrar:\n        Example Ltd [Tag = EX]\n        URL: https://example.invalid\n\n    Relevant dates:\n        Registered on: 01-Jan-2001\n        Expiry date:  03-Aug-2027\n\n    Name servers:\n        ns1.example.net\n        ns2.example.net\n',
    '[Domain Name]                   EXAMPLE.JP\n\n[Name Server]                   ns1.example.ad.jp\n[Expires on]                    2027/08/03\n[Status]                        Active\n',
    'domain.............: example.fi\nstatus.............: Registered\nexpires............: 3.8.2027 00:00:00\n\nNameservers\n\nnserver............: ns1.example.fi [OK]\n',
    'domain:      example.br\nnserver:     a.example.br\nexpires:     20270803\nstatus:      published\n',
    'domain: example.se\nexpires: 2027-08-03\nnserver: ns1.example.se 192.0.2.1\nregistrar: Example AB\n',
    'Domain Name: example.cn\nSponsoring Registrar: Example\nName Server: ns1.example.cn\nExpiration Time: 2027-08-03 00:00:00\n',
    'Domain:             example.it\nStatus:             ok\nCreated:            2001-01-01 00:00:00\nExpire Date:        2027-08-03\n\nNameservers\n  ns1.example.it\n',
    'Domain Name                 : example.kr\nExpiration Date             : 2027. 08. 03.\nHost Name                   : ns1.example.kr\n',
  ];
  for (const text of forms) {
    const reading = readWhois(text);
    t.match(reading, { kind: 'found', facts: { expiresAt: at } }, text.slice(0, 30));
    if (reading.kind === 'found') t.ok(reading.facts.nameServers.length > 0, 'and its name servers');
  }
  for (const text of [
    'No match for domain "X.TEST".',
    '%% NOT FOUND',
    'Domain not found.',
    '% No entries found for query',
    'Status: free',
    'Status: AVAILABLE',
    'No Data Found',
    'x.test is available for registration',
    'The queried object does not exist: x',
  ])
    t.match(readWhois(text), { kind: 'not_found' }, text);
  t.match(readWhois('% Quota exceeded'), { kind: 'rate_limited' });
  t.match(readWhois('\0'.repeat(10_000)), { kind: 'unreadable' });
  const hostile = `${'a'.repeat(200_000)}\n${' '.repeat(50_000)}:\n${'.'.repeat(60_000)}`;
  t.ok((await processorMs(() => readWhois(hostile))) < 1000, 'a hostile answer takes no long time');
  t.equal(referralOf('refer:        whois.nic.test\n'), 'whois.nic.test');
  t.equal(referralOf('Registrar WHOIS Server: rwhois://a.test:4321/\n'), 'a.test:4321');
  t.equal(referralOf('refer: a b\n'), undefined);
  t.match(readRdap('{"objectClassName":"domain","events":5,"entities":[{"roles":["registrar"],"vcardArray":[1]}]}'), {
    kind: 'found',
    facts: { expiresAt: undefined, registrar: undefined },
  });
});

void t.test('the servers of common top-level domains are known, others are asked of IANA', async (t) => {
  t.match(rdapServerOf('example.com'), /^https:/);
  t.equal(rdapServerOf('example.constructor'), undefined);
  t.same(whoisServerOf('example.de'), { server: 'whois.denic.de', viaIana: false });
  t.match(whoisServerOf('example.zz'), { viaIana: true });
  t.equal(whoisQuery('whois.denic.de', 'a.de'), '-T dn,ace a.de\r\n');
});

void t.test('a registry that cannot be asked is not the fault of the domain', async (t) => {
  const hosts = '127.0.0.1 rdap.verisign.com\n127.0.0.1 whois.verisign-grs.com\n';
  const resolver = createResolver({ servers: ['127.0.0.1:9'], hostsPath: `${t.testdir({ hosts })}/hosts` });
  const addresses = { ...testContext().addresses, judge: () => undefined };
  const outcome = await runCheck('whois', { url: 'example.com' }, {}, testContext({ resolver, addresses }));
  t.match(outcome, { outcome: /fail|timeout/, source: 'resolver', code: /^(?:connect|tls|http|response|whois)_/ });
});
