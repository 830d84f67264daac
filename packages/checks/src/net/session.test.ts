import type { Socket } from 'node:net';
import { createServer as createTls, type TlsOptions } from 'node:tls';
import t, { type Test } from 'tap';
import { issue } from '../testing/certificates.ts';
import { listen, listenRaw, testContext, until } from '../testing/context.ts';
import { startDatagrams } from '../testing/servers/datagrams.ts';
import { createAddressPolicy } from './address-policy.ts';
import type { TlsMode } from './connection-settings.ts';
import { dial } from './dial.ts';
import { failed } from './failure.ts';
import { lineReader } from './lines.ts';
import { hold } from './hold.ts';
import type { Session } from './session.ts';
import type { SessionPlan } from './session-plan.ts';

const authority = await issue({ name: 'authority', authority: true });
const site = await issue({ name: 'site', by: authority, addresses: ['127.0.0.1'], dnsNames: ['db.example'] });
const client = await issue({ name: 'client', by: authority });
const line = lineReader('broker_protocol');

function planFor(port: number, tls: TlsMode = 'none', plan: Partial<SessionPlan> = {}): SessionPlan {
  return {
    to: { host: '127.0.0.1', port, tls },
    settings: { ca_certificates: authority.cert },
    context: testContext(),
    peer: 'a test server',
    codes: { breach: 'broker_protocol', closed: 'broker_closed' },
    secrets: ['correct horse'],
    ...plan,
  };
}

async function tlsPeer(t: Test, options: TlsOptions = {}, talk = (socket: Socket) => void socket.write('hello\r\n')) {
  const peer = await listen(createTls({ cert: site.cert, key: site.key, ...options }, talk));
  t.teardown(peer.stop);
  return peer;
}

async function plainPeer(t: Test, talk: (socket: Socket) => void) {
  const peer = await listenRaw(talk);
  t.teardown(peer.stop);
  return peer;
}

async function hearLine(session: Session): Promise<void> {
  await session.open();
  session.received(await session.hear('a line', line));
}

void t.test('the phases are those of the steps, and add up to no more than the whole', async (t) => {
  const plain = await plainPeer(t, (socket) => void socket.write('hello\r\n'));
  const clear = await hold(planFor(plain.port), hearLine);
  t.match(clear, { outcome: 'ok', evidence: { address: '127.0.0.1', port: plain.port } });
  t.strictSame(Object.keys(clear.phases), ['dns', 'connect', 'first_byte', 'transfer']);
  const secret = await tlsPeer(t);
  const inside = await hold(planFor(secret.port, 'implicit'), hearLine);
  t.match(inside, { outcome: 'ok', evidence: { certificate: { subject: 'CN=site' } } });
  t.strictSame(Object.keys(inside.phases), ['dns', 'connect', 'tls', 'first_byte', 'transfer']);
  for (const { phases, total } of [clear, inside])
    t.ok(Object.values(phases).reduce((sum, each) => sum + each, 0) <= total + 10, 'phases do not overlap');
  await until(() => plain.connections.size + secret.connections.size === 0, 'no connection is left');
});

void t.test('what began in the clear goes on inside TLS, and nothing of the clear is taken over', async (t) => {
  const upgrading = (behind: string) => (socket: Socket) => {
    socket.write(`go ahead\r\n${behind}`);
    if (behind !== '') return;
    const inner = createTls({ cert: site.cert, key: site.key }, (secured) => void secured.write('inside\r\n'));
    inner.emit('connection', socket);
  };
  const talk = async (session: Session) => {
    await hearLine(session);
    await session.startTls({ code: 'starttls_protocol' });
    t.equal(await session.hear('a line', line), 'inside');
    t.equal(session.isSecure, true);
  };
  const good = await plainPeer(t, upgrading(''));
  const outcome = await hold(planFor(good.port, 'starttls'), talk);
  t.match(outcome, { outcome: 'ok', phases: { tls: Number } });
  const sum = Object.values(outcome.phases).reduce((all, each) => all + each, 0);
  t.ok(sum <= outcome.total + 10, 'the handshake is not counted twice');
  const injected = await plainPeer(t, upgrading('inside\r\n'));
  t.match(await hold(planFor(injected.port, 'starttls'), talk), { outcome: 'fail', code: 'starttls_protocol' });
});

void t.test('the certificate is verified by the settings, under another name where one is given', async (t) => {
  const peer = await tlsPeer(t);
  const run = (settings: SessionPlan['settings']) => hold(planFor(peer.port, 'implicit', { settings }), hearLine);
  const { cert } = authority;
  t.match(await run({}), { outcome: 'fail', code: 'tls_incomplete_chain', evidence: { certificate: {} } });
  t.match(await run({ verify_tls: false }), { outcome: 'ok' });
  t.match(await run({ ca_certificates: cert, server_name: 'db.example' }), { outcome: 'ok' });
  t.match(await run({ ca_certificates: cert, server_name: 'other.example' }), { code: 'tls_hostname' });
});

void t.test('a certificate that is about to end is a warning, but no failure is hidden by it', async (t) => {
  const peer = await tlsPeer(t);
  const settings = { ca_certificates: authority.cert, warn_days_before_expiry: 100 };
  t.match(await hold(planFor(peer.port, 'implicit', { settings }), hearLine), {
    outcome: 'warn',
    code: 'tls_expires_soon',
    source: 'target',
  });
  const failing = hold(planFor(peer.port, 'implicit', { settings }), async (session) => {
    await hearLine(session);
    session.breach('It says hello.');
  });
  t.match(await failing, { outcome: 'fail', code: 'broker_protocol', message: /a test server.*It says hello\./ });
});

void t.test(
  'a server that wants a certificate gets the one of the settings, and says no to those without',
  async (t) => {
    const peer = await tlsPeer(t, { requestCert: true, rejectUnauthorized: true, ca: authority.cert });
    const run = (settings: SessionPlan['settings']) =>
      hold(planFor(peer.port, 'implicit', { settings: { ca_certificates: authority.cert, ...settings } }), hearLine);
    t.match(await run({ client_certificate: client.cert, client_key: client.key }), { outcome: 'ok' });
    t.match(await run({}), { outcome: 'fail', code: 'tls_client_certificate', source: 'target' });
  },
);

void t.test('secrets are taken out of all that is shown, however the server spells them', async (t) => {
  const said = `no ${Buffer.from('correct horse').toString('base64')} correct horse`;
  const peer = await plainPeer(t, (socket) => void socket.write(`${said}\r\n`));
  const steps: string[] = [];
  const context = testContext({ trace: (step, detail) => steps.push(`${step} ${detail}`) });
  const outcome = await hold(planFor(peer.port, 'none', { context }), async (session) => {
    await session.open();
    const answer = await session.hear('a line', line);
    session.received(answer);
    session.note('answer', answer);
    session.sayLine('PASS correct horse');
    session.demand(failed('broker_auth', `It said ${answer}.`));
  });
  t.match(outcome, { code: 'broker_auth', evidence: { details: { answer: /redacted/ } } });
  for (const text of [JSON.stringify(outcome), ...steps]) t.notMatch(text, /correct horse|Y29ycmVjdCBob3JzZQ/);
  t.ok(steps.length >= 4, 'each step was told');
});

void t.test('text of the server is fit for a sentence', async (t) => {
  const peer = await plainPeer(t, (socket) => void socket.write('x\r\n'));
  await hold(planFor(peer.port), async (session) => {
    await hearLine(session);
    t.equal(session.show('  one\n two\u0000. '), 'one two');
    t.ok(session.show('x'.repeat(500)).length <= 200);
    t.equal(session.quote('no'), 'It said "no".');
    t.equal(session.quote(' '), 'It gave no reason.');
  });
});

void t.test('whatever ends a conversation, nothing is left open, and defects are not hidden', async (t) => {
  const silent = await plainPeer(t, (socket) => socket.resume());
  const plan = planFor(silent.port);
  const defect = hold(plan, async (session) => {
    await session.open();
    throw new TypeError('a defect');
  });
  await t.rejects(defect, TypeError);
  const beside = hold(plan, async (session) => {
    await session.open();
    const second = await dial(session.endpoint, session.context);
    if (second.ok) session.adopt(second.socket);
    t.equal(second.ok, true);
    session.fail('broker_denied', 'No.');
  });
  t.match(await beside, { code: 'broker_denied' });
  await until(() => silent.connections.size === 0, 'no connection is left');
  const denied = testContext({ addresses: createAddressPolicy({ allowedPrivate: [] }) });
  const outcome = await hold(planFor(silent.port, 'none', { context: denied }), hearLine);
  t.match(outcome, { code: 'address_denied', evidence: { address: '127.0.0.1' }, phases: { connect: undefined } });
});

void t.test('the end of the check ends a goodbye too, and only a good conversation says it', async (t) => {
  const heard: string[] = [];
  const peer = await plainPeer(t, (socket) => {
    socket.write('hello\r\n');
    socket.on('data', (piece) => heard.push(piece.toString()));
  });
  const polite = (failing: boolean) => async (session: Session) => {
    await hearLine(session);
    session.goodbye = failing ? 'FAILED' : 'QUIT';
    if (failing) session.fail('broker_denied', 'No.');
  };
  await hold(planFor(peer.port), polite(true));
  await hold(planFor(peer.port), polite(false));
  await until(() => heard.includes('QUIT\r\n'), 'the goodbye came');
  t.same(heard, ['QUIT\r\n']);
});

void t.test('a handshake of the protocol itself counts as that of TLS', async (t) => {
  const peer = await plainPeer(t, (socket) => {
    socket.on('data', (piece) => socket.write(`${piece.toString()}\r\n`));
  });
  const outcome = await hold(planFor(peer.port), async (session) => {
    await session.open();
    await session.inPlaceOfTls(async () => {
      session.say('shake');
      await session.hear('a line', line);
    });
    session.say('ask');
    await session.hear('a line', line);
  });
  t.strictSame(Object.keys(outcome.phases), ['dns', 'connect', 'tls', 'first_byte', 'transfer']);
  t.ok((outcome.phases.first_byte ?? 0) > 0, 'the first byte is that behind the handshake');
});

void t.test('what is asked by datagrams is timed, redacted and closed like a connection', async (t) => {
  const peer = await startDatagrams(t, (bytes) =>
    bytes.length === 0 ? undefined : `correct horse ${bytes.toString()}`,
  );
  const accept = (bytes: Buffer) => (bytes.includes('garbage') ? undefined : bytes.toString());
  const took: number[] = [];
  const answered = await hold(planFor(peer.port), async (session) => {
    session.note('first', await session.ask({ message: Buffer.from('1'), accept }));
    const first = session.verdict(undefined).phases.first_byte ?? 0;
    await session.ask({ message: Buffer.from('2'), accept, isExtra: true });
    took.push(first, session.verdict(undefined).phases.first_byte ?? 0);
    await session.ask({ message: Buffer.from('3'), accept });
  });
  t.match(answered, { outcome: 'ok', evidence: { port: peer.port, details: { first: '[redacted] 1' } } });
  t.strictSame(Object.keys(answered.phases), ['dns', 'first_byte']);
  t.equal(took[0], took[1], 'what is extra does not count');
  t.ok((answered.phases.first_byte ?? 0) > (took[0] ?? 0), 'the others add up');
  const ask = (message: string, timeoutMs: number, more: object = {}) =>
    hold(
      planFor(peer.port, 'none', { context: testContext({ timeoutMs, signal: AbortSignal.timeout(timeoutMs) }) }),
      async (session) => {
        await session.ask({ message: Buffer.from(message), accept, ...more });
      },
    );
  t.match(await ask('garbage', 60), { code: 'broker_protocol', message: /does not answer as a test server does/ });
  t.match(await ask('garbage', 60, { garbled: failed('broker_denied', 'No.') }), { code: 'broker_denied' });
  t.match(await ask('', 60), { outcome: 'timeout', code: 'response_timeout', phases: { first_byte: undefined } });
});

void t.test('where the certificate does not matter, neither do its dates nor the version of TLS', async (t) => {
  const ended = await issue({ name: 'ended', fromDays: -10, untilDays: -1 });
  const old = { cert: ended.cert, key: ended.key, minVersion: 'TLSv1', maxVersion: 'TLSv1' } as const;
  const peer = await tlsPeer(t, { ...old, ciphers: 'DEFAULT:@SECLEVEL=0' });
  const settings = { verify_tls: true, warn_days_before_expiry: 14 };
  const secured = (isUnverified: boolean) =>
    hold(planFor(peer.port, 'none', { settings }), async (session) => {
      await session.open();
      await session.startTls({ isUnverified });
      session.received(await session.hear('a line', line));
    });
  t.match(await secured(true), { outcome: 'ok', evidence: { certificate: { subject: 'CN=ended' } } });
  t.match(await secured(false), { outcome: 'fail', code: 'tls_weak' });
});
