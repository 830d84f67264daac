import type { Socket } from 'node:net';
import tls from 'node:tls';
import t, { type Test } from 'tap';
import { runCheck } from '../run.ts';
import { issue } from '../testing/certificates.ts';
import { listenRaw, testContext, until } from '../testing/context.ts';
import { freePort } from '../testing/real-server.ts';
import { startDovecot } from '../testing/servers/dovecot.ts';
import { startMariadb } from '../testing/servers/mariadb.ts';
import { startVsftpd } from '../testing/servers/vsftpd.ts';
import { type StartTlsProtocol, startTlsProtocols } from './starttls.ts';

const root = await issue({ name: 'Test root', authority: true });
const site = await issue({ name: 'site', by: root, dnsNames: ['site.localhost'], addresses: ['127.0.0.1'] });
const secureContext = tls.createSecureContext({ key: site.key, cert: site.cert });

/** What a server says at first, and what it answers each piece with; the last answer is the consent. */
type Script = {
  readonly greeting?: string | Buffer;
  readonly answers: ReadonlyArray<readonly [RegExp, string | Buffer]>;
};

const startTlsResponse = Buffer.from('300c020101780 70a010004000400'.replace(/ /g, ''), 'hex');
const mysqlGreeting = (capabilities: number) => {
  const payload = Buffer.concat([
    Buffer.from([10]),
    Buffer.from('8.0.36\0'),
    Buffer.alloc(12, 7),
    Buffer.from([0, capabilities & 0xff, capabilities >> 8]),
    Buffer.alloc(30),
  ]);
  return Buffer.concat([Buffer.from([payload.length, 0, 0, 0]), payload]);
};

const good: Record<StartTlsProtocol, Script> = {
  smtp: {
    greeting: '220-mail.test ready\r\n220 now\r\n',
    answers: [
      // Servers that look a name up refuse one that nobody has.
      [/^EHLO \[127\.0\.0\.1\]\r\n$/, '250-mail.test\r\n250-SIZE 1000\r\n250 STARTTLS\r\n'],
      [/^STARTTLS\r\n$/, '220 go\r\n'],
    ],
  },
  imap: { greeting: '* OK ready\r\n', answers: [[/^a1 STARTTLS\r\n$/, '* NOTE soon\r\na1 OK go\r\n']] },
  pop3: { greeting: '+OK ready\r\n', answers: [[/^STLS\r\n$/, '+OK go\r\n']] },
  ftp: { greeting: '220-hello\r\n 220 not yet\r\n220 ready\r\n', answers: [[/^AUTH TLS\r\n$/, '234 go\r\n']] },
  // oxlint-disable-next-line no-control-regex -- the bytes of the protocol
  postgres: { answers: [[/^\0\0\0\x08\x04\xd2\x16\x2f$/, 'S']] },
  // oxlint-disable-next-line no-control-regex -- the bytes of the protocol
  mysql: { greeting: mysqlGreeting(0xffff), answers: [[/^ \0\0\x01[^]{32}$/, '']] },
  ldap: { answers: [[/1\.3\.6\.1\.4\.1\.1466\.20037$/, startTlsResponse]] },
};

async function play(t: Test, script: Script, then: (socket: Socket) => void = shakeHands) {
  const peer = await listenRaw((socket) => {
    if (script.greeting !== undefined) socket.write(script.greeting);
    let at = 0;
    const hear = (piece: Buffer) => {
      const [pattern, answer] = script.answers[at++] ?? [/$^/, ''];
      // The handshake may come in one piece with the request of MySQL, which nobody answers.
      const said = answer === '' ? piece.subarray(0, 36) : piece;
      if (!pattern.test(said.toString('latin1'))) return socket.destroy();
      if (at === script.answers.length) {
        socket.off('data', hear).pause();
        if (said.length < piece.length) socket.unshift(piece.subarray(36));
        if (answer !== '') socket.write(answer);
        return then(socket);
      }
      return socket.write(answer);
    };
    socket.on('data', hear);
  });
  t.teardown(peer.stop);
  return peer;
}

function shakeHands(socket: Socket): void {
  new tls.TLSSocket(socket, { isServer: true, secureContext }).on('error', () => undefined).resume();
}

const check = (port: number, starttls: StartTlsProtocol, settings: object = {}, overrides = {}) =>
  runCheck(
    'ssl',
    { url: `site.localhost:${port}` },
    { starttls, ca_certificates: root.cert, ...settings },
    testContext(overrides),
  );

for (const protocol of startTlsProtocols) {
  void t.test(`${protocol} changes to TLS, and the certificate is judged as ever`, async (t) => {
    const peer = await play(t, good[protocol]);
    const outcome = await check(peer.port, protocol);
    t.match(outcome, { outcome: 'ok', evidence: { certificate: { subject: 'CN=site' } } });
    t.strictSame(Object.keys(outcome.phases), ['dns', 'connect', 'tls', 'first_byte', 'transfer']);
    t.match(await check(peer.port, protocol, { ca_certificates: undefined }), { code: 'tls_incomplete_chain' });
    t.match(await check(peer.port, protocol, { max_version: 'TLSv1.2' }), { code: 'tls_weak', outcome: 'fail' });
    await until(() => peer.connections.size === 0, 'no connection is left');
  });

  void t.test(`${protocol}: what comes between consent and handshake is refused`, async (t) => {
    const script = good[protocol];
    const last = script.answers.at(-1);
    if (last === undefined || last[1] === '') return;
    const more = Buffer.concat([Buffer.from(last[1]), Buffer.from('injected\r\n')]);
    const peer = await play(t, { ...script, answers: [...script.answers.slice(0, -1), [last[0], more]] });
    t.match(await check(peer.port, protocol), { outcome: 'fail', source: 'target', code: 'starttls_protocol' });
  });

  void t.test(`${protocol}: strangers end within the deadline and leave nothing`, async (t) => {
    const peers: Record<string, (socket: Socket) => void> = {
      silent: (socket) => void socket.resume(),
      shut: (socket) => void socket.destroy(),
      zeros: (socket) => void socket.resume().write(Buffer.alloc(70_000)),
      another: (socket) => void socket.resume().write('SSH-2.0-x\r\n'),
      longLine: (socket) => void socket.resume().write(`220-${'x'.repeat(10_000)}`),
      stuck: (socket) => void socket.once('data', () => socket.resume()),
    };
    for (const [what, handler] of Object.entries(peers)) {
      const peer = await listenRaw(handler);
      t.teardown(peer.stop);
      const outcome = await check(peer.port, protocol, {}, { timeoutMs: 150 });
      t.match(outcome, { outcome: /^(fail|timeout)$/, source: 'target', code: String, message: String }, what);
      await until(() => peer.connections.size === 0, `${what} keeps no connection`);
    }
  });
}

void t.test('a server that does not offer TLS is said to refuse it', async (t) => {
  const cases: Array<[StartTlsProtocol, Script]> = [
    ['smtp', { greeting: '220 x\r\n', answers: [[/^EHLO/, '250 SIZE\r\n']] }],
    ['smtp', { greeting: '554 go away\r\n', answers: [] }],
    ['imap', { greeting: '* OK x\r\n', answers: [[/STARTTLS/, 'a1 BAD no\r\n']] }],
    ['pop3', { greeting: '+OK x\r\n', answers: [[/STLS/, '-ERR no\r\n']] }],
    ['imap', { greeting: '* BYE too many\r\n', answers: [] }],
    ['pop3', { greeting: '-ERR [SYS/TEMP] too many\r\n', answers: [] }],
    ['ftp', { greeting: '220 x\r\n', answers: [[/AUTH/, '530 login first\r\n']] }],
    ['postgres', { answers: [[/^/, 'N']] }],
    ['mysql', { greeting: mysqlGreeting(0xf7ff), answers: [] }],
    ['ldap', { answers: [[/^/, Buffer.from('300c02010178070a010204000400', 'hex')]] }],
  ];
  for (const [protocol, script] of cases) {
    const peer = await play(t, script, () => undefined);
    t.match(await check(peer.port, protocol), { outcome: 'fail', code: 'starttls_refused' }, protocol);
  }
  t.match(await check(await freePort(), 'imap'), { outcome: 'fail', code: 'connect_refused', source: 'target' });
});

void t.test('a server that agrees and then does not shake hands is left in time', async (t) => {
  for (const protocol of startTlsProtocols) {
    const silent = await play(t, good[protocol], (socket) => void socket.resume());
    t.match(await check(silent.port, protocol, {}, { timeoutMs: 150 }), { outcome: 'timeout', code: 'tls_timeout' });
    await until(() => silent.connections.size === 0, `${protocol} keeps no connection`);
    const shut = await play(t, good[protocol], (socket) => void socket.once('data', () => socket.destroy()).resume());
    t.match(await check(shut.port, protocol), { outcome: 'fail', code: 'tls_handshake' });
    await until(() => shut.connections.size === 0, `${protocol} keeps no connection`);
  }
});

void t.test('the usual port of the protocol is taken, and port 25 belongs to mail', async (t) => {
  const asked: string[] = [];
  const addresses = {
    ...testContext().addresses,
    judge: (_address: string, port: number, purpose?: { mail?: boolean }) => {
      asked.push(`${port} ${purpose?.mail === true}`);
      return { rule: 'mail_port' as const, reason: 'a test' };
    },
  };
  for (const [url, starttls] of [
    ['127.0.0.1', 'imap'],
    ['ldap://127.0.0.1', 'ldap'],
    ['127.0.0.1:25', 'smtp'],
    ['127.0.0.1:25', 'ftp'],
  ])
    await runCheck('ssl', { url: url ?? '' }, { starttls }, testContext({ addresses }));
  t.strictSame(asked, ['143 false', '389 false', '25 true', '25 false']);
});

void t.test('Dovecot changes to TLS for IMAP and POP3', async (t) => {
  const server = await startDovecot(t, { certificate: site });
  if (server === undefined) return;
  for (const [protocol, port] of [
    ['imap', server.imap],
    ['pop3', server.pop3],
  ] as const) {
    t.match(await check(port, protocol), { outcome: 'ok', evidence: { certificate: { subject: 'CN=site' } } });
    t.match(await check(port, protocol === 'imap' ? 'pop3' : 'imap'), { code: 'starttls_protocol' });
  }
  await server.stop();
  t.match(await check(server.imap, 'imap'), { code: 'connect_refused' });
});

void t.test('vsftpd changes to TLS for FTP', async (t) => {
  const server = await startVsftpd(t, { tls: 'explicit', certificate: site });
  if (server === undefined) return;
  const { port } = server;
  t.match(await check(port, 'ftp'), { outcome: 'ok', evidence: { certificate: { subject: 'CN=site' } } });
  t.match(await check(port, 'smtp'), { outcome: 'fail', code: 'starttls_refused' }, 'EHLO is not known there');
  await server.stop();
  t.match(await check(port, 'ftp'), { code: 'connect_refused' });
});

void t.test('MariaDB changes to TLS', async (t) => {
  const server = await startMariadb(t, { certificate: site });
  if (server === undefined) return;
  const { port } = server;
  t.match(await check(port, 'mysql'), { outcome: 'ok', evidence: { certificate: { subject: 'CN=site' } } });
  t.match(await check(port, 'imap'), { outcome: 'fail', code: 'starttls_protocol' });
});
