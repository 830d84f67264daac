import t from 'tap';
import { runCheck } from './run.ts';
import { smtp } from './smtp.ts';
import { issue } from './testing/certificates.ts';
import { listenRaw, testContext, until } from './testing/context.ts';
import { linePeer, type LineScript } from './testing/line-peer.ts';
import { startExim } from './testing/servers/exim.ts';

const root = await issue({ name: 'Test root', authority: true });
const good = await issue({ name: 'mail', by: root, dnsNames: ['mail.localhost'], addresses: ['127.0.0.1'] });
const trust = { ca_certificates: root.cert };
const login = { username: 'probe', password: 'correct horse' };
const plainLogin = Buffer.from('\0probe\0correct horse').toString('base64');

const check = (url: string | number, settings: object = {}, overrides = {}) =>
  runCheck(
    'smtp',
    { url: typeof url === 'number' ? `127.0.0.1:${url}` : url },
    { ...trust, ...settings },
    testContext(overrides),
  );

void t.test('Exim: up by STARTTLS and by TLS, each login, a wrong password, stopped', async (t) => {
  const found = await startExim(t, { certificate: good });
  if (found === undefined) return;
  const { stop, port, tlsPort } = found;
  t.match(await check(port), {
    outcome: 'ok',
    phases: { dns: Number, connect: Number, tls: Number, first_byte: Number, transfer: Number },
    evidence: {
      address: '127.0.0.1',
      port,
      certificate: { subject: 'CN=mail' },
      details: { banner: /^mail\.test ESMTP Exim/, features: /SIZE/ },
    },
  });
  for (const method of ['plain', 'login', 'auto']) {
    t.match(await check(port, { ...login, login_method: method }), { outcome: 'ok' }, method);
    const wrong = await check(port, { ...login, password: 'wrong password', login_method: method });
    t.match(wrong, { outcome: 'fail', source: 'target', code: 'mail_login' }, method);
    t.notMatch(JSON.stringify(wrong), /wrong password/);
  }
  const implicit = await check(`smtps://127.0.0.1:${tlsPort}`, login);
  t.match(implicit, { outcome: 'ok', evidence: { details: { login: 'PLAIN' }, certificate: { days_left: 90 } } });
  t.match(await check(port, { ca_certificates: undefined }), { outcome: 'fail', code: 'tls_incomplete_chain' });
  t.match(await check(port, { warn_days_before_expiry: 365 }), { outcome: 'warn', code: 'tls_expires_soon' });
  t.match(await check(port, { tls: 'none' }), { outcome: 'ok', phases: { tls: undefined } });
  t.match(await check(port, { expected_banner: 'Exim' }), { outcome: 'ok' });
  t.match(await check(port, { expected_banner: 'Postfix' }), { outcome: 'fail', code: 'response_mismatch' });
  await stop();
  t.match(await check(port), { outcome: 'fail', source: 'target', code: 'connect_refused' });
});

const postfix: LineScript = {
  greeting: '220 mail.test ESMTP\n',
  certificate: good,
  answer: (line) => {
    if (line.startsWith('EHLO')) return '250-mail.test\n250-STARTTLS\n250 AUTH PLAIN LOGIN\n';
    if (line === 'STARTTLS') return ['220 go ahead\n', 'tls'];
    if (line.startsWith('AUTH PLAIN')) return line === `AUTH PLAIN ${plainLogin}` ? '235 ok\n' : `535 no ${line}\n`;
    return line === 'QUIT' ? ['221 bye\n', 'close'] : '502 what\n';
  },
};

void t.test('the conversation is the one of the standard and ends with QUIT', async (t) => {
  const peer = await linePeer(t, postfix);
  const steps: string[] = [];
  const outcome = await check(peer.port, login, {
    trace: (step: string, detail: string) => steps.push(`${step} ${detail}`),
  });
  t.match(outcome, { outcome: 'ok' });
  t.same(peer.heard, ['EHLO [127.0.0.1]', 'STARTTLS', 'EHLO [127.0.0.1]', `AUTH PLAIN ${plainLogin}`, 'QUIT']);
  t.match(steps.join('\n'), /send STARTTLS[\s\S]*send AUTH PLAIN …/);
  t.notOk(
    steps.some((step) => step.includes(plainLogin) || step.includes('correct horse')),
    'no secret in the trace',
  );
  await until(() => peer.connections.size === 0, 'the connection is closed');
});

void t.test('a name to greet with is said in ASCII', async (t) => {
  const peer = await linePeer(t, postfix);
  t.match(await check(peer.port, { helo_name: 'Bücher.example', tls: 'none' }), { outcome: 'ok' });
  t.equal(peer.heard[0], 'EHLO xn--bcher-kva.example');
});

void t.test('a secret that the server repeats is not shown', async (t) => {
  const peer = await linePeer(t, postfix);
  const outcome = await check(peer.port, { ...login, password: 'another secret' });
  t.match(outcome, { code: 'mail_login', message: /535 no AUTH PLAIN \[redacted\]/ });
  const echo = await linePeer(t, { greeting: '220 hi correct horse\n', answer: () => '554 correct horse\n' });
  t.notMatch(JSON.stringify(await check(echo.port, login)), /correct horse/);
  const odd = await linePeer(t, { greeting: 'correct horse\n', answer: () => undefined });
  t.match(await check(odd.port, login), { code: 'mail_protocol', message: /\[redacted\]/ });
});

void t.test('a password is not sent in the clear unless that is asked for', async (t) => {
  const bare = await linePeer(t, {
    greeting: '220 mail.test\n',
    answer: (line) => (line.startsWith('EHLO') ? '250-mail.test\n250 AUTH PLAIN\n' : '235 ok\n'),
  });
  t.match(await check(bare.port, login), { outcome: 'fail', code: 'mail_tls_required' });
  t.notOk(bare.heard.some((line) => line.startsWith('AUTH')));
  t.match(await check(bare.port, { tls: 'starttls' }), { outcome: 'fail', code: 'starttls_refused' });
  t.match(await check(bare.port), { outcome: 'ok' });
  t.match(await check(bare.port, { ...login, tls: 'none' }), { outcome: 'ok' });
});

void t.test('what was slipped in before the handshake is not taken', async (t) => {
  const peer = await linePeer(t, {
    ...postfix,
    answer: (line) => (line === 'STARTTLS' ? ['220 go ahead\n250 AUTH PLAIN\n', 'tls'] : postfix.answer(line)),
  });
  t.match(await check(peer.port, login), { outcome: 'fail', code: 'starttls_protocol' });
});

void t.test('refusals and strange answers have their own codes', async (t) => {
  const cases: [string, LineScript, object, object][] = [
    ['no service', { greeting: '554 no\n', answer: () => undefined }, {}, { code: 'mail_unavailable' }],
    [
      'busy',
      { greeting: '421 busy\n', answer: () => undefined },
      {},
      { code: 'mail_unavailable', message: /421 busy/ },
    ],
    ['another protocol', { greeting: '* OK IMAP\n', answer: () => undefined }, {}, { code: 'mail_protocol' }],
    ['codes that differ', { greeting: '220-a\n221 b\n', answer: () => undefined }, {}, { code: 'mail_protocol' }],
    [
      'a line too long',
      { greeting: `220 ${'x'.repeat(5000)}\n`, answer: () => undefined },
      {},
      { code: 'mail_protocol' },
    ],
    ['lines without end', { greeting: '220-x\n'.repeat(200), answer: () => undefined }, {}, { code: 'mail_protocol' }],
    ['refused EHLO', { greeting: '220 x\n', answer: () => '550 no\n' }, {}, { code: 'mail_unavailable' }],
    [
      'only HELO',
      { greeting: '220 x\n', answer: (l) => (l.startsWith('EHLO') ? '502 no\n' : '250 x\n') },
      {},
      { outcome: 'ok' },
    ],
    [
      'no login offered',
      { greeting: '220 x\n', answer: () => '250 x\n' },
      { ...login, tls: 'none' },
      { code: 'mail_login' },
    ],
    [
      'a login that is offered twice',
      {
        greeting: '220 x\n',
        answer: (l) => (l.startsWith('AUTH PLAIN') ? '235 ok\n' : '250-x\n250-AUTH PLAIN LOGIN\n250 AUTH=LOGIN\n'),
      },
      { ...login, tls: 'none', login_method: 'plain' },
      { outcome: 'ok' },
    ],
    [
      'login out of order',
      { greeting: '220 x\n', answer: (l) => (l.startsWith('AUTH') ? '454 later\n' : '250-x\n250 AUTH PLAIN\n') },
      { ...login, tls: 'none' },
      { code: 'mail_unavailable' },
    ],
    [
      'silent after EHLO',
      { greeting: '220 x\n', answer: () => undefined },
      {},
      { outcome: 'timeout', code: 'response_timeout' },
    ],
    ['closed after EHLO', { greeting: '220 x\n', answer: () => ['', 'close'] }, {}, { code: 'connect_reset' }],
  ];
  for (const [what, script, settings, expected] of cases) {
    const peer = await linePeer(t, script);
    t.match(await check(peer.port, settings, { timeoutMs: 300 }), expected, what);
    await until(() => peer.connections.size === 0, `${what}: the connection is closed`);
  }
});

void t.test('TLS from the start is meant by the scheme, and a peer without it is told', async (t) => {
  const peer = await linePeer(t, { ...postfix, implicitTls: true });
  t.match(await check(`smtps://mail.localhost:${peer.port}`), { outcome: 'ok' });
  t.match(await check(`smtps://other.localhost:${peer.port}`), { code: 'tls_hostname', evidence: { certificate: {} } });
  t.match(await check(peer.port, { tls: 'implicit' }), { outcome: 'ok' });
  const plain = await listenRaw((socket) => socket.write('220 hi\r\n'));
  t.teardown(plain.stop);
  t.match(await check(plain.port, { tls: 'implicit' }), { code: 'tls_handshake' });
});

void t.test('port 25 is open to this check, and targets and settings are bounded', async (t) => {
  t.not((await check('127.0.0.1:25')).code, 'address_denied');
  t.match(await check('169.254.169.254:25'), { code: 'address_denied' });
  for (const url of ['imap://a', 'smtp://u@a', 'a:0'])
    t.type(smtp.validateTarget({ url }, smtp.settings().parse({})), 'string', url);
  for (const url of ['a', 'a:587', 'submission://a', '[::1]'])
    t.equal(smtp.validateTarget({ url }, smtp.settings().parse({})), undefined, url);
  for (const settings of [{ username: 'a' }, { password: 'a' }, { ...login, username: 'a\r\nb' }, { helo_name: 'a b' }])
    t.equal(smtp.settings().safeParse(settings).success, false, JSON.stringify(settings));
});
