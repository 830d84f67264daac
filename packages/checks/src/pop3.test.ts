import t from 'tap';
import { pop3 } from './pop3.ts';
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
    'pop3',
    { url: typeof url === 'number' ? `127.0.0.1:${url}` : url },
    { ...trust, ...settings },
    testContext(overrides),
  );

void t.test('Dovecot: up by STLS and by TLS, each login, a wrong password, stopped', async (t) => {
  const found = await startDovecot(t, { certificate: good });
  if (found === undefined) return;
  t.match(await check(found.pop3), {
    outcome: 'ok',
    phases: { dns: Number, connect: Number, tls: Number, first_byte: Number, transfer: Number },
    evidence: { certificate: { subject: 'CN=mail' }, details: { banner: /Dovecot .*ready/, capabilities: /UIDL/ } },
  });
  for (const [method, used] of [
    ['plain', 'PLAIN'],
    ['user', 'USER'],
    ['auto', 'USER'],
  ] as const) {
    t.match(
      await check(found.pop3, { ...login, login_method: method }),
      { outcome: 'ok', evidence: { details: { login: used } } },
      method,
    );
    t.match(
      await check(found.pop3, { ...login, password: 'wrong password', login_method: method }),
      { outcome: 'fail', source: 'target', code: 'mail_login' },
      method,
    );
  }
  t.match(await check(`pop3s://127.0.0.1:${found.pop3s}`, login), { outcome: 'ok' });
  t.match(await check(found.pop3, { tls: 'none' }), { outcome: 'ok', evidence: { certificate: undefined } });
  t.match(await check(found.pop3, { ca_certificates: undefined }), { code: 'tls_incomplete_chain' });
  t.match(await check(found.imap), { code: 'mail_protocol' }, 'the wrong server');
  await found.stop();
  t.match(await check(found.pop3), { outcome: 'fail', source: 'target', code: 'connect_refused' });
});

const capable = (...capabilities: string[]): LineScript => ({
  greeting: '+OK ready\n',
  certificate: good,
  answer: (line) => {
    if (line === 'CAPA') return `+OK\n${capabilities.map((each) => `${each}\n`).join('')}.\n`;
    if (line === 'STLS') return ['+OK go\n', 'tls'];
    if (line === 'QUIT') return ['+OK\n', 'close'];
    if (line.startsWith('USER') || line === 'PASS correct horse') return '+OK\n';
    return `-ERR what is ${line}\n`;
  },
});

void t.test('a password is neither sent in the clear nor shown when the server repeats it', async (t) => {
  const bare = await linePeer(t, capable('USER'));
  t.match(await check(bare.port, login), { code: 'mail_tls_required' });
  t.match(await check(bare.port, { tls: 'starttls' }), { code: 'starttls_refused' });
  t.notOk(bare.heard.some((line) => /USER|PASS/.test(line)));
  t.match(await check(bare.port, { ...login, tls: 'none' }), { outcome: 'ok' });
  t.equal(bare.heard.at(-1), 'QUIT');
  await until(() => bare.connections.size === 0, 'the connection is closed');
  const echo = await linePeer(t, capable('STLS', 'USER'));
  const steps: string[] = [];
  const trace = (step: string, detail: string) => steps.push(`${step} ${detail}`);
  const outcome = await check(echo.port, { ...login, password: 'other secret' }, { trace });
  t.match(outcome, { code: 'mail_login', message: /what is PASS \[redacted\]/ });
  t.notMatch(JSON.stringify([outcome, steps]), /other secret/);
});

void t.test('refusals and strange answers have their own codes', async (t) => {
  const says = (greeting: string, answer: LineScript['answer'] = () => undefined): LineScript => ({ greeting, answer });
  const cases: [string, LineScript, object, object][] = [
    ['no service', says('-ERR busy\n'), {}, { code: 'mail_unavailable', message: /busy/ }],
    ['another protocol', says('220 x\n'), {}, { code: 'mail_protocol' }],
    ['a question first', says('+ \n'), {}, { code: 'mail_protocol' }],
    ['old', says('+OK x\n', () => '-ERR no\n'), {}, { outcome: 'ok' }],
    ['without end', says('+OK x\n', () => '+OK\n'.repeat(500)), {}, { code: 'mail_protocol' }],
    ['silent', says('+OK x\n'), {}, { outcome: 'timeout', code: 'response_timeout' }],
    [
      'in use',
      says('+OK x\n', (line) =>
        line.startsWith('PASS') ? '-ERR [IN-USE] locked\n' : line === 'CAPA' ? '-ERR\n' : '+OK\n',
      ),
      { ...login, tls: 'none', login_method: 'user' },
      { code: 'mail_unavailable' },
    ],
    ['no PLAIN', capable('USER'), { ...login, tls: 'none', login_method: 'plain' }, { code: 'mail_login' }],
  ];
  for (const [what, script, settings, expected] of cases) {
    const peer = await linePeer(t, script);
    t.match(await check(peer.port, settings, { timeoutMs: 300 }), expected, what);
    await until(() => peer.connections.size === 0, `${what}: the connection is closed`);
  }
});

void t.test('targets are bounded, and port 25 is not for this check', async (t) => {
  t.match(await check('127.0.0.1:25'), { code: 'address_denied' });
  for (const url of ['smtp://a', 'pop3://u@a', 'a:0'])
    t.type(pop3.validateTarget({ url }, pop3.settings().parse({})), 'string', url);
  for (const url of ['a', 'pop3s://a', '[::1]:995'])
    t.equal(pop3.validateTarget({ url }, pop3.settings().parse({})), undefined, url);
  t.equal(pop3.settings().safeParse({ password: 'a' }).success, false);
});
