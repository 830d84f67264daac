import net from 'node:net';
import { createServer as createTls } from 'node:tls';
import t from 'tap';
import { ftp, ftps } from './ftp.ts';
import { createAddressPolicy } from './net/address-policy.ts';
import { runCheck } from './run.ts';
import { issue } from './testing/certificates.ts';
import { listen, listenRaw, testContext, until } from './testing/context.ts';
import { type LinePeer, linePeer, type LineScript } from './testing/line-peer.ts';
import { freePort } from './testing/real-server.ts';
import { startVsftpd } from './testing/servers/vsftpd.ts';

const root = await issue({ name: 'Test root', authority: true });
const good = await issue({ name: 'files', by: root, addresses: ['127.0.0.1'] });
const trust = { ca_certificates: root.cert };
const login = { username: 'anonymous', password: 'probe@test' };
const banned = 'mallory@test';

const check = (port: number, settings: object = {}, overrides = {}) =>
  runCheck('ftp', { url: `ftp://127.0.0.1:${port}` }, settings, testContext(overrides));
const checkSecure = (port: number, settings: object = {}, overrides = {}) =>
  runCheck('ftps', { url: `127.0.0.1:${port}` }, { ...trust, ...settings }, testContext(overrides));

void t.test('vsftpd: up, login, listing, a wrong password, stopped', async (t) => {
  const found = await startVsftpd(t, { tls: 'none', certificate: good });
  if (found === undefined) return;
  const { port } = found;
  t.match(await check(port), {
    outcome: 'ok',
    phases: { dns: Number, connect: Number, first_byte: Number, transfer: Number },
    evidence: { address: '127.0.0.1', port, details: { banner: /vsFTPd/ } },
  });
  t.match(await check(port, login), { outcome: 'ok', evidence: { details: { login: 'USER' } } });
  const wrong = await check(port, { ...login, password: banned });
  t.match(wrong, { outcome: 'fail', source: 'target', code: 'ftp_login' });
  t.notMatch(JSON.stringify(wrong), new RegExp(banned));
  for (const [directory, names] of [
    ['/', 3],
    ['/with space', 1],
  ] as const) {
    t.match(
      await check(port, { ...login, list_directory: `${found.root}${directory}` }),
      { outcome: 'ok', evidence: { details: { names, truncated: false } } },
      directory,
    );
  }
  t.match(await check(port, { expected_banner: 'ProFTPD' }), { code: 'response_mismatch' });
  t.match(await checkSecure(port), { outcome: 'fail', code: 'starttls_refused' }, 'a server without TLS');
  await found.stop();
  t.match(await check(port), { outcome: 'fail', source: 'target', code: 'connect_refused' });
});

void t.test('vsftpd over TLS: explicit and implicit, listing, a wrong password, stopped', async (t) => {
  for (const tls of ['starttls', 'implicit'] as const) {
    const found = await startVsftpd(t, { tls: tls === 'starttls' ? 'explicit' : tls, certificate: good });
    if (found === undefined) return;
    const { port } = found;
    t.match(
      await checkSecure(port, { tls }),
      {
        outcome: 'ok',
        phases: { dns: Number, connect: Number, tls: Number, first_byte: Number, transfer: Number },
        evidence: { certificate: { subject: 'CN=files' } },
      },
      tls,
    );
    t.match(
      await checkSecure(port, { tls, ...login, list_directory: `${found.root}/` }),
      { outcome: 'ok', evidence: { details: { names: 3 } } },
      `${tls}: the listing over a resumed session`,
    );
    t.match(await checkSecure(port, { tls, ...login, password: banned }), { outcome: 'fail', code: 'ftp_login' }, tls);
    t.match(await checkSecure(port, { tls, ca_certificates: undefined }), { code: 'tls_incomplete_chain' }, tls);
    t.match(await checkSecure(port, { tls, warn_days_before_expiry: 365 }), { outcome: 'warn' }, tls);
    await found.stop();
    t.match(await checkSecure(port, { tls }), { outcome: 'fail', source: 'target', code: 'connect_refused' }, tls);
  }
});

/** A server that answers a listing as told. */
const server = (answers: Record<string, ReturnType<LineScript['answer']>>): LineScript => ({
  greeting: '220 files\n',
  certificate: good,
  answer: (line) => {
    const [word = ''] = line.split(' ');
    if (Object.hasOwn(answers, word)) return answers[word];
    return { USER: '331 go on\n', PASS: '230 in\n', QUIT: ['221 bye\n', 'close'] as const }[word] ?? '502 what\n';
  },
});

void t.test(
  'the data connection goes to the judged address whatever the server names, and its port is judged',
  async (t) => {
    const asked: string[] = [];
    const data = await listenRaw((socket) => {
      asked.push(socket.remoteAddress ?? '');
      socket.end('one\r\ntwo\r\n');
    });
    t.teardown(data.stop);
    const elsewhere = `227 Passive (169,254,169,254,${data.port >> 8},${data.port & 255})\n`;
    const settings = { ...login, list_directory: '/' };
    const peer = await linePeer(t, server({ PASV: elsewhere, NLST: '150 here\n226 done\n' }));
    t.match(await check(peer.port, settings), { outcome: 'ok', evidence: { details: { names: 2 } } });
    t.same(asked, ['127.0.0.1']);
    t.same(
      peer.heard.map((line) => line.split(' ')[0]),
      ['USER', 'PASS', 'EPSV', 'PASV', 'NLST', 'QUIT'],
    );
    const own = await linePeer(t, server({ EPSV: `229 x (|||${data.port}|)\n`, NLST: '150 x\n226 done\n' }));
    t.match(await check(own.port, settings), { outcome: 'ok' });
    const addresses = createAddressPolicy({
      allowedPrivate: ['127.0.0.0/8'],
      deniedListeners: [{ address: '127.0.0.1', port: data.port }],
    });
    const before = asked.length;
    t.match(await check(own.port, settings, { addresses }), { outcome: 'fail', code: 'address_denied' });
    const mail = await linePeer(t, server({ EPSV: '229 x (|||25|)\n' }));
    t.match(await check(mail.port, settings), { code: 'address_denied' });
    t.equal(asked.length, before, 'no connection was made');
    await until(() => data.connections.size === 0 && own.connections.size === 0, 'all connections are closed');
  },
);

void t.test('who answers the data connection has to resume the session or show a good certificate', async (t) => {
  const foreign = await issue({ name: 'foreign certificate', addresses: ['127.0.0.1'] });
  const settings = { ...login, tls: 'starttls', list_directory: '/' };
  for (const [what, certificate, expected] of [
    ['a good certificate', good, { outcome: 'ok', evidence: { details: { names: 1 } } }],
    ['a foreign certificate', foreign, { outcome: 'fail', code: 'ftp_data', message: /signed by itself/ }],
  ] as const) {
    const data = await listen(
      createTls({ key: certificate.key, cert: certificate.cert }, (socket) => socket.end('one\r\n')),
    );
    t.teardown(data.stop);
    const script = server({
      AUTH: ['234 go\n', 'tls'],
      PBSZ: '200 x\n',
      PROT: '200 x\n',
      EPSV: `229 x (|||${data.port}|)\n`,
      NLST: '150 here\n226 done\n',
    });
    const peer = await linePeer(t, script);
    t.match(await checkSecure(peer.port, settings), expected, what);
    await until(() => data.connections.size === 0, `${what}: the data connection is closed`);
  }
});

void t.test('a data connection that is gone before the command is answered is not waited for', async (t) => {
  let control: LinePeer | undefined;
  const reset = await listenRaw((socket) => {
    socket.on('close', () => setTimeout(() => control?.connections.forEach((each) => each.write('150 x\r\n')), 30));
    setTimeout(() => socket.resetAndDestroy(), 30);
  });
  t.teardown(reset.stop);
  control = await linePeer(t, server({ EPSV: `229 x (|||${reset.port}|)\n`, NLST: '' }));
  const outcome = await check(control.port, { ...login, list_directory: '/' }, { timeoutMs: 1000 });
  t.match(outcome, { outcome: 'fail', code: 'ftp_data' });
});

void t.test('refusals and strange answers have their own codes', async (t) => {
  const closed = await freePort();
  const silent = await listen(net.createServer());
  t.teardown(silent.stop);
  const endless = await listenRaw((socket) => {
    const more = () => void socket.write('name\r\n'.repeat(5000), () => socket.destroyed || more());
    more();
  });
  t.teardown(endless.stop);
  const at = (port: number) => `229 x (|||${port}|)\n`;
  const all = { ...login, list_directory: '/' };
  const cases: [string, LineScript, object, object][] = [
    ['no service', { greeting: '421 busy\n', answer: () => undefined }, {}, { code: 'ftp_unavailable' }],
    ['another protocol', { greeting: 'SSH-2.0-x\n', answer: () => undefined }, {}, { code: 'ftp_protocol' }],
    [
      'free lines between',
      { greeting: '220-a\n 150 odd\nb\n220 c\n', answer: () => ['221 x\n', 'close'] },
      {},
      { outcome: 'ok' },
    ],
    ['lines without end', { greeting: '220-x\n'.repeat(200), answer: () => undefined }, {}, { code: 'ftp_protocol' }],
    ['silent', { answer: () => undefined }, {}, { outcome: 'timeout', code: 'response_timeout' }],
    ['ended on the way', server({ USER: '421 later\n' }), login, { code: 'ftp_unavailable' }],
    ['no login now', server({ PASS: '430 later\n' }), login, { code: 'ftp_unavailable' }],
    ['an account is wanted', server({ PASS: '332 account\n' }), login, { code: 'ftp_login' }],
    [
      'repeats the password',
      server({ PASS: '530 probe@test is wrong\n' }),
      login,
      { message: /\[redacted\] is wrong/ },
    ],
    ['no passive mode', server({}), all, { code: 'ftp_data' }],
    ['no port', server({ EPSV: '229 x (|||99999|)\n' }), all, { code: 'ftp_protocol' }],
    ['a closed port', server({ EPSV: at(closed) }), all, { code: 'ftp_data' }],
    ['no directory', server({ EPSV: at(silent.port), NLST: '550 none\n' }), all, { code: 'ftp_path' }],
    ['no data', server({ EPSV: at(silent.port), NLST: '425 cannot\n' }), all, { code: 'ftp_data' }],
    ['silent data', server({ EPSV: at(silent.port), NLST: '150 x\n' }), all, { outcome: 'timeout' }],
    [
      'endless data',
      server({ EPSV: at(endless.port), NLST: '150 x\n' }),
      all,
      { outcome: 'ok', evidence: { details: { truncated: true } } },
    ],
  ];
  for (const [what, script, settings, expected] of cases) {
    const peer = await linePeer(t, script);
    t.match(await check(peer.port, settings, { timeoutMs: 300 }), expected, what);
    await until(() => peer.connections.size === 0, `${what}: the connection is closed`);
  }
  await until(() => silent.connections.size === 0 && endless.connections.size === 0, 'all data connections are closed');
});

void t.test('targets and settings are bounded, and their ports follow from the kind of TLS', async (t) => {
  for (const url of ['http://a', 'ftp://u@a', 'ftps://a', 'a:0'])
    t.type(ftp.validateTarget({ url }, ftp.settings().parse({})), 'string', url);
  t.equal(ftp.validateTarget({ url: 'ftp://a/' }, ftp.settings().parse({})), undefined);
  const secure = ftps.settings().parse({});
  for (const url of ['a', 'ftps://a', 'ftpes://a:2121']) t.equal(ftps.validateTarget({ url }, secure), undefined, url);
  t.type(ftps.validateTarget({ url: 'ftp://a' }, secure), 'string');
  const refused = async (settings: object) =>
    (await runCheck('ftps', { url: '127.0.0.1' }, settings, testContext())).evidence?.port;
  t.equal(await refused({}), 990);
  t.equal(await refused({ tls: 'starttls' }), 21);
  for (const settings of [
    { username: 'a' },
    { list_directory: '/' },
    { ...login, list_directory: '-la' },
    { ...login, list_directory: 'a\r\nDELE b' },
  ])
    t.equal(ftp.settings().safeParse(settings).success, false, JSON.stringify(settings));
});
