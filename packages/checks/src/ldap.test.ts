import t from 'tap';
import { ldap as ldapType } from './ldap.ts';
import { runCheck } from './run.ts';
import { issue } from './testing/certificates.ts';
import { listenRaw, testContext, until } from './testing/context.ts';
import { startSlapd } from './testing/servers/slapd.ts';

const root = await issue({ name: 'Test root', authority: true });
const site = await issue({ name: 'site', by: root, addresses: ['127.0.0.1'] });
const admin = { bind_dn: 'cn=admin,dc=test', password: 'hunter2' };
const check = (url: string, settings: object = {}, overrides = {}) =>
  runCheck('ldap', { url }, settings, testContext(overrides));

void t.test('a real directory: bind, search, StartTLS, ldaps', async (t) => {
  const server = await startSlapd(t, { certificate: site });
  if (server === undefined) return;
  const { url, secureUrl, port: plain } = server;
  const anonymous = await check(url);
  t.match(anonymous, { outcome: 'ok', evidence: { address: '127.0.0.1', port: plain } });
  t.strictSame(Object.keys(anonymous.phases), ['dns', 'connect', 'first_byte', 'transfer']);
  t.match(
    await check(url, { base_dn: '' }),
    { outcome: 'ok', evidence: { details: { entries: 1, result: 0 } } },
    'the root entry',
  );
  t.match(await check(url, admin), { outcome: 'ok' });
  const people = { ...admin, base_dn: 'dc=test', search_scope: 'one', filter: '(objectClass=person)' };
  t.match(await check(url, { ...people, min_entries: 3 }), {
    outcome: 'ok',
    evidence: { details: { entries: 3 } },
  });
  t.match(await check(url, { ...people, min_entries: 2 }), { outcome: 'ok' }, 'more than asked for is good');
  t.match(await check(url, { ...people, min_entries: 4 }), {
    outcome: 'fail',
    code: 'ldap_result',
    message: /3 entries/,
  });
  t.match(await check(url, { ...people, filter: '(&(cn=a)(!(sn=b)))' }), {
    outcome: 'ok',
    evidence: { details: { entries: 1 } },
  });
  t.match(await check(url, { ...people, base_dn: 'dc=nowhere' }), { outcome: 'fail', code: 'ldap_result' });
  const wrong = await check(url, { ...admin, password: 'not this one' });
  t.match(wrong, { outcome: 'fail', source: 'target', code: 'ldap_bind', message: /invalidCredentials, result 49/ });
  t.notMatch(JSON.stringify(wrong), /not this one/);
  const trusted = { ...admin, base_dn: 'dc=test', ca_certificates: root.cert };
  const tls = await check(url, { ...trusted, tls: 'starttls' });
  t.match(tls, { outcome: 'ok', evidence: { certificate: { subject: 'CN=site' } } });
  t.strictSame(Object.keys(tls.phases), ['dns', 'connect', 'tls', 'first_byte', 'transfer']);
  t.match(await check(secureUrl, trusted), { outcome: 'ok', phases: { tls: Number } });
  t.match(await check(secureUrl, admin), { outcome: 'fail', code: 'tls_incomplete_chain' });
  t.match(await check(url, { ...admin, tls: 'starttls', verify_tls: false }), { outcome: 'ok' });
  await server.stop();
  t.match(await check(url, admin), { outcome: 'fail', source: 'target', code: 'connect_refused' });
});

/** Answers each request with the next of these messages. */
async function scripted(t: import('tap').Test, ...answers: string[]) {
  const peer = await listenRaw((socket) => {
    let at = 0;
    socket.on('data', () => socket.write(Buffer.from(answers[at++] ?? '', 'hex')));
  });
  t.teardown(peer.stop);
  return `127.0.0.1:${peer.port}`;
}

const bound = '300c02010161070a010004000400';
const done = (result: string) => `300c02010265070a01${result}04000400`;

void t.test('answers of a scripted server', async (t) => {
  t.match(await check(await scripted(t, bound)), { outcome: 'ok' });
  t.match(
    await check(await scripted(t, '3084000000100201016184000000070a010004000400')),
    { outcome: 'ok' },
    'long lengths',
  );
  t.match(await check(await scripted(t, '300c02010161070a013504000400')), {
    code: 'ldap_bind',
    message: /unwillingToPerform/,
  });
  t.match(
    await check(await scripted(t, '300c02010978070a013404000400')),
    { code: 'ldap_protocol' },
    'a foreign number',
  );
  t.match(await check(await scripted(t, '300c02010078070a013404000400')), {
    code: 'ldap_result',
    message: /ended.*unavailable/,
  });
  t.match(await check(await scripted(t, '300c02010165070a010004000400')), { code: 'ldap_protocol' }, 'another kind');
  t.match(await check(await scripted(t, '3001ff')), { code: 'ldap_protocol' });
  const base = { base_dn: 'dc=x' };
  const reference = '300b020102730604046c646170';
  t.match(
    await check(await scripted(t, bound, reference + done('00')), { ...base, min_entries: 0 }),
    { outcome: 'ok', evidence: { details: { referrals: 1 } } },
    'a reference is counted and not followed',
  );
  t.match(await check(await scripted(t, bound, done('0a')), base), { code: 'ldap_result', message: /referral/ });
  t.match(await check(await scripted(t, bound, done('00')), base), { code: 'ldap_result', message: /0 entries/ });
  const entry = '3009020102640404003000';
  for (const cut of ['04', '0b']) {
    t.match(await check(await scripted(t, bound, entry + done(cut)), base), { outcome: 'ok' }, 'enough were found');
    t.match(await check(await scripted(t, bound, entry + done(cut)), { ...base, min_entries: 2 }), {
      code: 'ldap_result',
      message: /LimitExceeded/,
    });
  }
  t.match(await check(await scripted(t, bound, reference.repeat(500)), base), {
    code: 'ldap_protocol',
    message: /more than/,
  });
});

void t.test('a search without an answer ends in time and leaves no connection', async (t) => {
  const peer = await listenRaw((socket) => socket.once('data', () => socket.write(Buffer.from(bound, 'hex'))));
  t.teardown(peer.stop);
  const outcome = await check(`127.0.0.1:${peer.port}`, { base_dn: '' }, { timeoutMs: 150 });
  t.match(outcome, { outcome: 'timeout', code: 'response_timeout', source: 'target' });
  await until(() => peer.connections.size === 0, 'the connection is gone');
});

void t.test('settings and targets that cannot be', async (t) => {
  const problem = (url: string, settings: object = {}) =>
    ldapType.validateTarget({ url }, ldapType.settings().parse(settings));
  t.equal(problem('ldap://host.test'), undefined);
  t.equal(problem('host.test:1389', admin), undefined);
  t.match(problem('http://host.test'), /ldap/);
  t.match(problem('host.test', { bind_dn: 'cn=x' }), /password/);
  t.match(problem('ldaps://host.test', { tls: 'starttls' }), /starttls/);
  t.equal(ldapType.settings().safeParse({ filter: '(cn=' }).success, false);
});
