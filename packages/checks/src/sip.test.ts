import { createServer, type Socket } from 'node:net';
import tls from 'node:tls';
import t, { type Test } from 'tap';
import { runCheck } from './run.ts';
import { sip as sipType } from './sip.ts';
import { issue } from './testing/certificates.ts';
import { listen, testContext, until } from './testing/context.ts';
import { freePort } from './testing/real-server.ts';
import { sipReply, startSip } from './testing/servers/sip.ts';

const root = await issue({ name: 'Test root', authority: true });
const site = await issue({ name: 'site', by: root, addresses: ['127.0.0.1'] });

const check = (port: number, settings: object = {}, scheme = '', overrides = {}) =>
  runCheck('sip', { url: `${scheme}127.0.0.1:${port}` }, settings, testContext(overrides));

type Answer = (request: string) => readonly string[];

async function overStream(t: Test, answer: Answer, secure = false) {
  const handle = (socket: Socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (piece: Buffer) => {
      for (const each of answer(piece.toString())) socket.write(each);
    });
  };
  const peer = await listen(
    secure ? tls.createServer({ key: site.key, cert: site.cert }, handle) : createServer(handle),
  );
  t.teardown(peer.stop);
  return peer;
}

void t.test('OPTIONS over UDP: the request is whole and the answer is judged', async (t) => {
  let asked = '';
  const { port } = await startSip(t, (request) => {
    asked = request;
    return [sipReply(request, '100 Trying'), sipReply(request, '200 OK', 'Server: switch\r\nAllow: INVITE\r\n')];
  });
  const outcome = await check(port, { user: 'some+one' });
  t.match(outcome, {
    outcome: 'ok',
    evidence: { address: '127.0.0.1', port, status: 200, status_text: 'OK' },
  });
  t.ok(outcome.evidence?.headers?.some(([name, value]) => name === 'server' && value === 'switch'));
  t.strictSame(Object.keys(outcome.phases), ['dns', 'first_byte']);
  const lines = asked.split('\r\n');
  t.equal(lines[0], `OPTIONS sip:some+one@127.0.0.1:${port} SIP/2.0`);
  for (const pattern of [
    /^Via: SIP\/2\.0\/UDP \S+;branch=z9hG4bK[0-9a-f]{16};rport$/,
    /^Max-Forwards: 70$/,
    /^From: <sip:\S+>;tag=[0-9a-f]+$/,
    /^To: <sip:some\+one@127\.0\.0\.1:\d+>$/,
    /^Call-ID: \S+$/,
    /^CSeq: 1 OPTIONS$/,
    /^User-Agent: Parallax-test\/1$/,
    /^Content-Length: 0$/,
  ])
    t.equal(lines.filter((line) => pattern.test(line)).length, 1, String(pattern));
  t.ok(asked.endsWith('\r\n\r\n'));
});

void t.test('OPTIONS over TCP and TLS', async (t) => {
  const trying: Answer = (request) => [
    `\r\n\r\n${sipReply(request, '100 Trying')}`,
    sipReply(request).slice(0, 30),
    sipReply(request).slice(30),
  ];
  const tcp = await overStream(t, trying);
  const plain = await check(tcp.port, { transport: 'tcp' });
  t.match(plain, { outcome: 'ok', evidence: { status: 200 } });
  t.strictSame(Object.keys(plain.phases), ['dns', 'connect', 'first_byte', 'transfer']);
  const secure = await overStream(t, trying, true);
  const trusted = { ca_certificates: root.cert };
  const safe = await check(secure.port, trusted, 'sips:');
  t.match(safe, { outcome: 'ok', evidence: { certificate: { subject: 'CN=site' } } });
  t.strictSame(Object.keys(safe.phases), ['dns', 'connect', 'tls', 'first_byte', 'transfer']);
  t.match(await check(secure.port, { ...trusted, transport: 'tls' }), { outcome: 'ok' });
  t.match(await check(secure.port, {}, 'sips:'), { outcome: 'fail', code: 'tls_incomplete_chain' });
  t.match(await check(secure.port, { verify_tls: false }, 'sips:'), { outcome: 'ok' });
  await until(() => tcp.connections.size + secure.connections.size === 0, 'no connection is left');
});

void t.test('what is not a good answer', async (t) => {
  for (const transport of ['udp', 'tcp']) {
    const ask = async (answer: Answer, settings: object = {}) => {
      const port = transport === 'udp' ? (await startSip(t, answer)).port : (await overStream(t, answer)).port;
      return check(port, { transport, ...settings }, '', { timeoutMs: 250 });
    };
    const unavailable: Answer = (request) => [sipReply(request, '503 Service Unavailable')];
    t.match(await ask(unavailable), {
      outcome: 'fail',
      source: 'target',
      code: 'sip_status',
      evidence: { status: 503 },
    });
    const stranger: Answer = (request) => [sipReply(request, '401 Unauthorized')];
    t.match(await ask(stranger), { outcome: 'ok' }, 'it lives');
    t.match(await ask(stranger, { expected_status: ['2xx'] }), { code: 'sip_status' });
    t.match(await ask(unavailable, { expected_status: ['200', '5xx'] }), { outcome: 'ok' });
    t.match(await ask(unavailable, { expected_status: ['500-503'] }), { outcome: 'ok' });
    t.match(await ask(unavailable, { expected_status: ['500-502'] }), { code: 'sip_status' });
    t.match(await ask((request) => [sipReply(request, '302 Moved', 'Contact: <sip:127.0.0.9>\r\n')]), {
      code: 'sip_status',
    });
    const foreign =
      (from: RegExp, to: string): Answer =>
      (request) => [sipReply(request, '200 OK', '', (text) => text.replace(from, to))];
    t.match(await ask(foreign(/Call-ID: \S+/, 'Call-ID: other')), { outcome: 'fail', code: 'sip_protocol' });
    t.match(await ask(foreign(/1 OPTIONS/, '2 INVITE')), { outcome: 'fail', code: 'sip_protocol' });
    t.match(await ask(foreign(/Call-ID/, 'i')), { outcome: 'ok' }, 'a short name');
    t.match(await ask(foreign(/SIP\/2\.0 200/, 'HTTP/1.1 200')), { outcome: 'fail', code: 'sip_protocol' });
    t.match(await ask(() => []), { outcome: 'timeout', source: 'target', code: 'response_timeout' });
  }
  t.match(await check(await freePort()), { outcome: 'fail', source: 'target', code: 'connect_refused' });
  t.match(await check(await freePort(), { transport: 'tcp' }), { code: 'connect_refused' });
});

void t.test('targets', async (t) => {
  const problem = (url: string, settings: object = {}) =>
    sipType.validateTarget({ url }, sipType.settings().parse(settings));
  for (const url of ['host.test', 'host.test:5070', 'sip:host.test', 'sip://host.test:5070', 'sips:[::1]:5061'])
    t.equal(problem(url), undefined, url);
  t.match(problem('sip:someone@host.test'), /user/);
  t.match(problem('sips:host.test', { transport: 'udp' }), /TLS/);
  t.type(problem('http://host.test'), 'string');
  for (const user of ['a b', 'a@b', 'a\r\nb', '\ud800'])
    t.equal(sipType.settings().safeParse({ user }).success, false, JSON.stringify(user));
  for (const range of ['100', '1xx', '700', '2', '200-', 'xx'])
    t.equal(sipType.settings().safeParse({ expected_status: [range] }).success, false, range);
});
