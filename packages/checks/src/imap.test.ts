import t from 'tap';
import { imap } from './imap.ts';
import { runCheck } from './run.ts';
import { issue } from './testing/certificates.ts';
import { testContext, until } from './testing/context.ts';
import { startDovecot } from './testing/servers/dovecot.ts';
import { linePeer, type LineScript } from './testing/line-peer.ts';

const root = await issue({ name: 'Test root', authority: true });
const good = await issue({ name: 'mail', by: root, dnsNames: ['mail.localhost'], addresses: ['127.0.0.1'] });
const trust = { ca_certificates: root.cert };
const login = { username: 'probe', password: 'correct horse' };

const check = (url: string | number, settings: object = {}, overrides = {}) =>
  runCheck(
    'imap',
    { url: typeof url === 'number' ? `127.0.0.1:${url}` : url },
    { ...trust, ...settings },
    testContext(overrides),
  );

void t.test('Dovecot: up by STARTTLS and by TLS, each login, a wrong password, stopped', async (t) => {
  const found = await startDovecot(t, { certificate: good });
  if (found === undefined) return;
  t.match(await check(found.imap), {
    outcome: 'ok',
    phases: { dns: Number, connect: Number, tls: Number, first_byte: Number, transfer: Number },
    evidence: {
      certificate: { subject: 'CN=mail' },
      details: { banner: /Dovecot .*ready/, capabilities: /IMAP4REV1/ },
    },
  });
  for (const [method, used] of [
    ['plain', 'PLAIN'],
    ['login', 'LOGIN'],
    ['auto', 'PLAIN'],
  ] as const) {
    t.match(
      await check(found.imap, { ...login, login_method: method }),
      { outcome: 'ok', evidence: { details: { login: used } } },
      method,
    );
    t.match(
      await check(found.imap, { ...login, password: 'wrong "pass\\word', login_method: method }),
      { outcome: 'fail', source: 'target', code: 'mail_login', message: /AUTHENTICATIONFAILED/ },
      method,
    );
  }
  t.match(await check(`imaps://127.0.0.1:${found.imaps}`, login), { outcome: 'ok' });
  t.match(await check(found.imap, { tls: 'none' }), { outcome: 'ok', evidence: { certificate: undefined } });
  t.match(await check(found.imap, { ca_certificates: undefined }), { code: 'tls_incomplete_chain' });
  t.match(await check(found.imap, { expected_banner: 'Cyrus' }), { code: 'response_mismatch' });
  t.match(await check(found.pop3), { code: 'mail_protocol' }, 'the wrong server');
  await found.stop();
  t.match(await check(found.imap), { outcome: 'fail', source: 'target', code: 'connect_refused' });
});

const capable = (capabilities: string): LineScript => ({
  greeting: '* OK ready\n',
  certificate: good,
  answer: (line) => {
    const [tag = '', command = '', first = ''] = line.split(' ');
    if (command === 'CAPABILITY') return `* CAPABILITY IMAP4rev1 ${capabilities}\n${tag} OK done\n`;
    if (command === 'STARTTLS') return [`${tag} OK go\n`, 'tls'];
    if (command === 'AUTHENTICATE' && first === 'PLAIN' && line.split(' ').length === 3) return '+ \n';
    if (command === 'LOGOUT') return ['* BYE\n', 'close'];
    if (line === Buffer.from('\0probe\0correct horse').toString('base64')) return 'a2 OK in\n';
    return `${tag} NO what is ${line}\n`;
  },
});

void t.test('without SASL-IR the login waits to be asked, and the session ends with LOGOUT', async (t) => {
  const peer = await linePeer(t, capable('AUTH=PLAIN'));
  t.match(await check(peer.port, { ...login, tls: 'none' }), { outcome: 'ok' });
  t.equal(peer.heard[1], 'a2 AUTHENTICATE PLAIN');
  t.equal(peer.heard.at(-1), 'z LOGOUT');
  await until(() => peer.connections.size === 0, 'the connection is closed');
});

void t.test('a message that came along and is asked for all the same is sent again', async (t) => {
  const plain = Buffer.from('\0probe\0correct horse').toString('base64');
  const forgetful = capable('AUTH=PLAIN SASL-IR');
  const peer = await linePeer(t, {
    ...forgetful,
    answer: (line) => (line.startsWith('a2 AUTHENTICATE PLAIN ') ? '+ \n' : forgetful.answer(line)),
  });
  t.match(await check(peer.port, { ...login, tls: 'none' }), { outcome: 'ok' });
  t.same(peer.heard.slice(1, 3), [`a2 AUTHENTICATE PLAIN ${plain}`, plain]);
});

void t.test('a password is neither sent in the clear nor shown when the server repeats it', async (t) => {
  const bare = await linePeer(t, capable('AUTH=PLAIN'));
  t.match(await check(bare.port, login), { code: 'mail_tls_required' });
  t.match(await check(bare.port, { tls: 'starttls' }), { code: 'starttls_refused' });
  const disabled = await linePeer(t, capable('LOGINDISABLED'));
  t.match(await check(disabled.port, { ...login, tls: 'none' }), { code: 'mail_tls_required' });
  t.notOk([...bare.heard, ...disabled.heard].some((line) => /LOGIN|AUTH/.test(line)));
  const echo = await linePeer(t, capable('STARTTLS'));
  const steps: string[] = [];
  const trace = (step: string, detail: string) => steps.push(`${step} ${detail}`);
  const outcome = await check(echo.port, login, { trace });
  t.match(outcome, { code: 'mail_login', message: /\[redacted\]/ });
  t.ok(echo.heard.some((line) => line.includes('LOGIN "probe" "correct horse"')));
  t.notMatch(JSON.stringify([outcome, steps]), /correct horse/);
});

void t.test('refusals and strange answers have their own codes', async (t) => {
  const says = (greeting: string, answer: LineScript['answer'] = () => undefined): LineScript => ({ greeting, answer });
  const done = (line: string) => `* CAPABILITY IMAP4rev1\n${line.split(' ')[0] ?? ''} OK\n`;
  const cases: [string, LineScript, object][] = [
    ['no service', says('* BYE too busy\n'), { code: 'mail_unavailable', message: /too busy/ }],
    ['another protocol', says('+OK POP3\n'), { code: 'mail_protocol' }],
    ['ended on the way', says('* OK x\n', () => '* BYE later\n'), { code: 'mail_unavailable' }],
    ['a foreign tag', says('* OK x\n', () => 'a9 OK\n'), { code: 'mail_protocol' }],
    ['refused', says('* OK x\n', () => 'a1 BAD no\n'), { code: 'mail_unavailable' }],
    ['without end', says('* OK x\n', () => '* X\n'.repeat(500)), { code: 'mail_protocol' }],
    ['silent', says('* OK x\n'), { outcome: 'timeout', code: 'response_timeout' }],
    ['logged in already', says('* PREAUTH hello\n', done), { outcome: 'ok' }],
  ];
  for (const [what, script, expected] of cases) {
    const peer = await linePeer(t, script);
    t.match(await check(peer.port, {}, { timeoutMs: 300 }), expected, what);
    await until(() => peer.connections.size === 0, `${what}: the connection is closed`);
  }
  const busy = await linePeer(t, {
    ...capable('X'),
    answer: (line) =>
      line.includes('LOGIN') ? 'a2 NO [UNAVAILABLE] no database\n' : '* CAPABILITY IMAP4rev1\na1 OK\n',
  });
  t.match(await check(busy.port, { ...login, tls: 'none' }), { code: 'mail_unavailable' });
});

void t.test('targets are bounded, and port 25 is not for this check', async (t) => {
  t.match(await check('127.0.0.1:25'), { code: 'address_denied' });
  for (const url of ['smtp://a', 'imap://u@a', 'a:0'])
    t.type(imap.validateTarget({ url }, imap.settings().parse({})), 'string', url);
  for (const url of ['a', 'imaps://a', '[::1]:993'])
    t.equal(imap.validateTarget({ url }, imap.settings().parse({})), undefined, url);
  t.equal(imap.settings().safeParse({ username: 'a' }).success, false);
});
