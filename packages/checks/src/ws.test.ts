import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Socket } from 'node:net';
import { lateness } from '@parallax/testkit/time-taken';
import t, { type Test } from 'tap';
import { WebSocketServer } from 'ws';
import { runCheck } from './run.ts';
import { issue } from './testing/certificates.ts';
import { listen, listenRaw, testContext, until } from './testing/context.ts';
import { startWebSocket } from './testing/servers/websocket.ts';
import { ws, wss } from './ws.ts';
import { wsSettings } from './ws/settings.ts';

const check = (url: string, settings: object = {}, overrides = {}) =>
  runCheck('ws', { url }, settings, testContext(overrides));

/** A scripted peer that agrees to the upgrade and then does as it is told. */
async function scripted(t: Test, then: (socket: Socket) => void, more = '') {
  const peer = await listenRaw((socket) => {
    socket.once('data', (request: Buffer) => {
      const key = /Sec-WebSocket-Key: (\S+)/.exec(request.toString())?.[1] ?? '';
      const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n${more}\r\n`,
      );
      then(socket);
    });
  });
  t.teardown(peer.stop);
  return `ws://127.0.0.1:${peer.port}/`;
}

void t.test('an upgrade is enough, and the connection is closed in good order', async (t) => {
  const codes: number[] = [];
  const { url, connections } = await startWebSocket(t, (socket) => socket.on('close', (code) => codes.push(code)));
  const outcome = await check(url('/path?q=1'));
  t.equal(outcome.outcome, 'ok');
  t.same(Object.keys(outcome.phases), ['dns', 'connect', 'first_byte', 'transfer']);
  await until(() => codes.length === 1 && connections.size === 0, 'the connection was closed');
  t.same(codes, [1000]);
  t.equal((await check(url().replace('ws://', ''))).outcome, 'ok', 'a missing scheme is that of the protocol');
});

void t.test('what is sent arrives, and what comes back is looked through', async (t) => {
  const { url } = await startWebSocket(t, (socket) => {
    socket.send('welcome');
    socket.on('message', (data, isBinary) => {
      const bytes = Buffer.isBuffer(data) ? data : Buffer.alloc(0);
      socket.send(isBinary ? Buffer.concat([Buffer.from([0xff, 0]), bytes]) : `echo ${bytes.toString()}`, {
        binary: isBinary,
      });
    });
  });
  t.equal((await check(url(), { send: 'Grüße', expect: 'echo Grüße' })).outcome, 'ok');
  t.equal((await check(url(), { send: 'x', expect: { pattern: '^ECHO X$', ignore_case: true } })).outcome, 'ok');
  t.equal((await check(url(), { expect: 'welcome' })).outcome, 'ok', 'a message may come unasked');
  t.equal((await check(url(), { send: 'only sent' })).outcome, 'ok');
  t.equal((await check(url(), { send: '01 02', expect: 'ff 00 01 02', payload_format: 'hex' })).outcome, 'ok');
  t.match(await check(url(), { send: 'x', expect: 'never' }, { timeoutMs: 150 }), {
    outcome: 'timeout',
    source: 'target',
    code: 'response_mismatch',
    evidence: { body: 'welcomeecho x', details: { messages: 2 } },
  });
});

void t.test('a server that says nothing, closes or stops is told apart', async (t) => {
  const silent = await startWebSocket(t, () => undefined);
  t.match(await check(silent.url(), { expect: 'x' }, { timeoutMs: 150 }), {
    outcome: 'timeout',
    code: 'response_timeout',
  });
  const closing = await startWebSocket(t, (socket) => socket.close(1013, 'try later'));
  t.match(await check(closing.url(), { expect: 'x' }), {
    outcome: 'fail',
    source: 'target',
    code: 'ws_closed',
    message: /1013 \(try later\)/,
    evidence: { details: { close_code: 1013 } },
  });
  const breaking = await startWebSocket(t, (socket) => socket.terminate());
  t.match(await check(breaking.url(), { expect: 'x' }), { outcome: 'fail', code: 'ws_closed' });
  await silent.stop();
  t.match(await check(silent.url()), { outcome: 'fail', source: 'target', code: 'connect_refused' });
});

void t.test('a proxy may add fields of its own to the upgrade', async (t) => {
  const url = await scripted(t, () => undefined, 'Upgrade: h2c\r\nConnection: keep-alive\r\n');
  t.match(await check(url), { outcome: 'ok' });
});

void t.test('what is sent into a connection that is reset has not arrived', async (t) => {
  const url = await scripted(t, (socket) => socket.resetAndDestroy());
  t.match(await check(url, { send: 'x' }), { outcome: 'fail', source: 'target', code: 'ws_closed' });
});

void t.test('an answer that is no upgrade fails with its status', async (t) => {
  const { url } = await startWebSocket(t, () => undefined, {
    verifyClient: (_info, done) => done(false, 403, 'no entry'),
  });
  t.match(await check(url()), {
    outcome: 'fail',
    source: 'target',
    code: 'ws_upgrade',
    message: /403/,
    evidence: { status: 403, body: 'no entry' },
  });
  const web = await listen(createServer((_request, response) => response.writeHead(302, { Location: '/' }).end()));
  t.teardown(web.stop);
  t.match(await check(`ws://127.0.0.1:${web.port}/`), { code: 'ws_upgrade', evidence: { status: 302 } });
});

void t.test('credentials and headers go along and come back in no outcome', async (t) => {
  let seen: Record<string, unknown> = {};
  const { url } = await startWebSocket(
    t,
    (socket) => socket.send(Buffer.from(`\xff ${JSON.stringify(seen)} pässwort`, 'utf8')),
    {
      verifyClient: ({ req }: { req: IncomingMessage }) => {
        seen = req.headers;
        return req.headers.authorization !== 'Bearer wrongtoken';
      },
    },
  );
  await check(url(), { username: 'user', password: 'pass', headers: { Origin: 'https://example.com' } });
  t.match(seen, {
    authorization: `Basic ${Buffer.from('user:pass').toString('base64')}`,
    origin: 'https://example.com',
  });
  t.match(await check(url(), { bearer_token: 'wrongtoken' }), { code: 'ws_upgrade', evidence: { status: 401 } });
  const settings = {
    bearer_token: 'canarytoken',
    secret_headers: { 'X-Key': 'canarykey' },
    headers: { Cookie: 'a=canarycookie' },
  };
  const outcome = await check(url(), { ...settings, expect: 'never' }, { timeoutMs: 150 });
  t.match(seen, { authorization: 'Bearer canarytoken', 'x-key': 'canarykey', cookie: 'a=canarycookie' });
  t.match(outcome.evidence?.body, 'redacted');
  t.notMatch(JSON.stringify(outcome), /canary/);
  const binary = await startWebSocket(t, (socket) => socket.send(Buffer.from('fe00c3ff2d2d', 'hex')));
  t.equal((await check(binary.url(), { expect: '2d2d', payload_format: 'hex' })).outcome, 'ok');
  const raw = await startWebSocket(t, (socket) =>
    socket.send(Buffer.concat([Buffer.from([0xff, 0]), Buffer.from('pässwort')])),
  );
  const shown = await check(raw.url(), { username: 'u', password: 'pässwort', expect: 'x' }, { timeoutMs: 150 });
  t.notMatch(shown.evidence?.body, Buffer.from('sswort').toString('hex'), 'nor written in another way');
});

void t.test('the subprotocol has to be one of those that were offered', async (t) => {
  const { url } = await startWebSocket(t, () => undefined, {
    handleProtocols: (offered) => (offered.has('two') ? 'two' : false),
  });
  const { trace, steps } = tracing();
  t.match(await check(url(), { subprotocols: ['one', 'two'] }, { trace }), {
    outcome: 'ok',
    evidence: { details: { subprotocol: 'two' } },
  });
  t.match(steps.join('\n'), /upgrade the server speaks WebSocket \(two\)/);
  t.match(await check(url(), { subprotocols: ['one'] }), { outcome: 'fail', code: 'ws_subprotocol' });
  const unasked = await scripted(t, () => undefined, 'Sec-WebSocket-Protocol: mqtt\r\n');
  t.match(await check(unasked), { outcome: 'fail', code: 'ws_subprotocol' });
});

function tracing() {
  const steps: string[] = [];
  return { steps, trace: (step: string, detail: string) => steps.push(`${step} ${detail}`) };
}

void t.test('a peer that breaks the rules of the protocol is no good', async (t) => {
  const wrongKey = await listenRaw((socket) =>
    socket.once('data', () =>
      socket.write(
        'HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: eA==\r\n\r\n',
      ),
    ),
  );
  t.teardown(wrongKey.stop);
  t.match(await check(`ws://127.0.0.1:${wrongKey.port}/`), { outcome: 'fail', code: 'ws_protocol' });
  const extension = await scripted(t, () => undefined, 'Sec-WebSocket-Extensions: permessage-deflate\r\n');
  t.match(await check(extension), { outcome: 'fail', code: 'ws_protocol' });
  for (const bytes of ['c10161', '818537fa213d7f9f4d5158', '8101ff', '89fe0100']) {
    const url = await scripted(t, (socket) => socket.write(Buffer.from(bytes, 'hex')));
    t.match(
      await check(url, { expect: 'x' }),
      { outcome: 'fail', code: 'ws_protocol', message: /broke the rules/ },
      bytes,
    );
  }
  const pings = await scripted(t, (socket) => socket.write(Buffer.alloc(2 * 200, Buffer.from('8900', 'hex'))));
  t.match(await check(pings, { expect: 'x' }), { code: 'ws_protocol', message: /pings/ });
  const endless = await scripted(t, (socket) => {
    const many = Buffer.alloc(3 * 2000, Buffer.from('810161', 'hex'));
    socket.on('drain', () => socket.write(many)).write(many);
  });
  t.match(await check(endless, { expect: 'x' }), {
    outcome: 'fail',
    code: 'response_mismatch',
    message: /1000 messages/,
  });
});

void t.test('pings are answered while it waits, and what came with the upgrade counts', async (t) => {
  const url = await scripted(t, (socket) => {
    socket.write(Buffer.from('8902686989026869', 'hex'));
    socket.on('data', (frame: Buffer) => {
      if (frame[0] === 0x8a && frame.length >= 8) socket.write(Buffer.from('8104706f6e67', 'hex'));
    });
  });
  t.equal((await check(url, { expect: 'pong' })).outcome, 'ok');
  const early = await scripted(t, (socket) => socket.write(Buffer.from('81056561726c79', 'hex')));
  t.equal((await check(early, { expect: 'early' })).outcome, 'ok');
});

void t.test('a server that never closes holds a check up for a moment only', async (t) => {
  const url = await scripted(t, () => undefined);
  const { result: outcome, late } = await lateness(1500, () => check(url));
  t.equal(outcome.outcome, 'ok');
  t.ok(late < 0);
  t.ok(outcome.total < 200_000, 'which is no part of its time');
});

void t.test('wss verifies the certificate and shows its own', async (t) => {
  const authority = await issue({ name: 'Authority', authority: true });
  const own = await issue({ name: 'server', addresses: ['127.0.0.1'], by: authority });
  const client = await issue({ name: 'client', by: authority });
  const web = createSecureServer({ cert: own.cert, key: own.key, ca: authority.cert, requestCert: true });
  const peer = await listen(web);
  t.teardown(peer.stop);
  new WebSocketServer({ server: web }).on('connection', (socket) => socket.send('hello'));
  const url = `wss://127.0.0.1:${peer.port}/`;
  const shown = { ca_certificates: authority.cert, client_certificate: client.cert, client_key: client.key };
  const secure = (settings: object) => runCheck('wss', { url }, settings, testContext());
  const good = await secure({ ...shown, expect: 'hello' });
  t.equal(good.outcome, 'ok');
  t.ok((good.phases.tls ?? 0) > 0);
  t.match(await secure({ expect: 'hello' }), {
    outcome: 'fail',
    code: 'tls_untrusted',
  });
  t.match(await secure({ ca_certificates: authority.cert }), { code: 'tls_client_certificate' });
  t.match(await secure({ ...shown, warn_days_before_expiry: 365 }), { outcome: 'warn', code: 'tls_expires_soon' });
});

void t.test('targets and settings that cannot be checked are refused', async (t) => {
  for (const url of ['http://a.test/', 'ws://u:p@a.test/', 'ws://', 'ws://a b/', `ws://a/${'x'.repeat(2048)}`])
    t.type(ws.validateTarget({ url }), 'string', url.slice(0, 40));
  t.type(wss.validateTarget({ url: 'ws://a.test/' }), 'string');
  t.equal(wss.validateTarget({ url: 'a.test:8443/x' }), undefined);
  for (const bad of [
    { headers: { 'Sec-WebSocket-Key': 'x' } },
    { headers: { Upgrade: 'x' } },
    { subprotocols: ['a b'] },
    { send: '' },
    { payload_format: 'hex', send: 'xyz' },
    { payload_format: 'hex', expect: { pattern: 'a' } },
    { username: 'a', bearer_token: 'b' },
    { unknown: 1 },
  ])
    t.notOk(wsSettings().safeParse(bad).success, JSON.stringify(bad));
  t.match(await check('ws://10.1.2.3/'), { outcome: 'fail', code: 'address_denied' });
});
