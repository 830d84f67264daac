import t from 'tap';
import { runCheck } from './run.ts';
import { tcp } from './tcp.ts';
import { listenRaw, testContext, until } from './testing/context.ts';

const check = (url: string, settings: object = {}, overrides = {}) =>
  runCheck('tcp', { url }, settings, testContext(overrides));

void t.test('a port that accepts is ok and the connection is closed', async (t) => {
  const peer = await listenRaw(() => undefined);
  t.teardown(peer.stop);
  t.match(await check(`127.0.0.1:${peer.port}`), { outcome: 'ok', phases: { dns: Number, connect: Number } });
  t.match(await check(`tcp://localhost:${peer.port}`), { outcome: 'ok' });
  await until(() => peer.connections.size === 0, 'all connections are closed');
});

void t.test('a port that is closed or denied fails', async (t) => {
  const peer = await listenRaw(() => undefined);
  await peer.stop();
  t.match(await check(`127.0.0.1:${peer.port}`), {
    outcome: 'fail',
    code: 'connect_refused',
    evidence: { address: '127.0.0.1', port: peer.port },
  });
  t.match(await check('169.254.169.254:80'), { outcome: 'fail', code: 'address_denied' });
  t.match(await check('127.0.0.1:25'), { outcome: 'fail', code: 'address_denied' });
  t.match(await check('2130706433:25'), { code: 'address_denied', evidence: { address: '127.0.0.1' } });
});

void t.test('what is sent arrives and what is expected is found', async (t) => {
  const echo = await listenRaw((socket) =>
    socket.on('data', (piece) => socket.write(Buffer.concat([Buffer.from('you said '), piece]))),
  );
  t.teardown(echo.stop);
  const url = `127.0.0.1:${echo.port}`;
  t.match(await check(url, { send: 'PING\r\n', expect: 'said PING' }), {
    outcome: 'ok',
    phases: { first_byte: Number, transfer: Number },
  });
  t.match(await check(url, { send: '00 ff', expect: '00ff', payload_format: 'hex' }), { outcome: 'ok' });
  t.match(await check(url, { send: 'PING' }), { outcome: 'ok' });
  t.match(await check(url, { send: 'PING', expect: 'PONG' }, { timeoutMs: 100 }), {
    outcome: 'timeout',
    code: 'response_mismatch',
    evidence: { body: 'you said PING' },
  });
  const slow = await listenRaw((socket) => {
    for (const [at, byte] of Array.from('banner').entries()) setTimeout(() => socket.write(byte), at * 5);
  });
  t.teardown(slow.stop);
  t.match(await check(`127.0.0.1:${slow.port}`, { expect: 'anne' }), { outcome: 'ok' }, 'in pieces');
  t.match(await check(`127.0.0.1:${slow.port}`, { expect: 'other' }, { timeoutMs: 100 }), { outcome: 'timeout' });
});

void t.test('a port that says nothing is told from one that says something else', async (t) => {
  const silent = await listenRaw(() => undefined);
  t.teardown(silent.stop);
  t.match(await check(`127.0.0.1:${silent.port}`, { expect: 'a' }, { timeoutMs: 60 }), {
    outcome: 'timeout',
    code: 'response_timeout',
    evidence: { port: silent.port, body: undefined },
  });
});

void t.test('an answer that ends or floods without what is expected fails', async (t) => {
  const ends = await listenRaw((socket) => socket.end('\0\x01binary'));
  const floods = await listenRaw((socket) => {
    const more = () => void socket.write(Buffer.alloc(65536, 'x'), () => socket.destroyed || more());
    more();
  });
  t.teardown(ends.stop);
  t.teardown(floods.stop);
  t.match(await check(`127.0.0.1:${ends.port}`, { expect: 'zz' }), {
    outcome: 'fail',
    code: 'response_mismatch',
    evidence: { body: '000162696e617279' },
  });
  const flooded = await check(`127.0.0.1:${floods.port}`, { expect: 'y' });
  t.match(flooded, { outcome: 'fail', code: 'response_mismatch' });
  t.equal(flooded.evidence?.body?.length, 4096);
});

void t.test('targets and settings that cannot be checked are refused', async (t) => {
  for (const url of ['example.com', 'example.com:http', 'http://example.com:80', 'a b:1', 'a@b:1'])
    t.type(tcp.validateTarget({ url }, tcp.settings().parse({})), 'string', url);
  t.equal(tcp.validateTarget({ url: '[::1]:80' }, tcp.settings().parse({})), undefined);
  t.equal(tcp.settings().safeParse({ send: 'xyz', payload_format: 'hex' }).success, false);
  t.equal(tcp.settings().safeParse({ send: 'abc', payload_format: 'hex' }).success, false);
  t.equal(tcp.settings().safeParse({ sned: 'x' }).success, false);
});
