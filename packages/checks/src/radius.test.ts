import { createHash, createHmac } from 'node:crypto';
import { createSocket } from 'node:dgram';
import t, { type Test } from 'tap';
import { radius as radiusType } from './radius.ts';
import { runCheck } from './run.ts';
import { testContext } from './testing/context.ts';
import { startFreeradius } from './testing/servers/freeradius.ts';

const secret = 'between us';
const login = { secret, username: 'alice', password: 'open sesame, but longer than one block' };
const check = (port: number, settings: object = login, overrides = {}) =>
  runCheck('radius', { url: `127.0.0.1:${port}` }, settings, testContext(overrides));

void t.test('a real server accepts, rejects and says that it is there', async (t) => {
  const server = await startFreeradius(t);
  if (server === undefined) return;
  const { port } = server;
  const accepted = await check(port);
  t.match(accepted, {
    outcome: 'ok',
    evidence: { address: '127.0.0.1', port, details: { reply: 'Access-Accept', reply_message: /Hello alice/ } },
  });
  t.strictSame(Object.keys(accepted.phases), ['dns', 'first_byte']);
  t.notMatch(JSON.stringify(accepted), /sesame|between us/, 'a password is not shown, even when the server says it');
  const rejected = await check(port, { ...login, password: 'not this one' });
  t.match(rejected, { outcome: 'fail', source: 'target', code: 'radius_reject' });
  t.notMatch(JSON.stringify(rejected), /not this one/);
  t.match(await check(port, { ...login, password: 'not this one', expected_reply: 'reject' }), { outcome: 'ok' });
  t.match(await check(port, { ...login, expected_reply: 'reject' }), { outcome: 'fail', code: 'response_mismatch' });
  t.match(await check(port, { request: 'status', secret }), {
    outcome: 'ok',
    evidence: { details: { reply: 'Access-Accept' } },
  });
  t.match(await check(port, { ...login, secret: 'not this one' }, { timeoutMs: 500 }), {
    outcome: 'timeout',
    source: 'target',
    code: 'response_timeout',
    message: /secret/,
  });
  await server.stop();
  t.match(await check(port), { outcome: 'fail', source: 'target', code: 'connect_refused' });
});

type Answer = { code: number; attributes?: Buffer; secret?: string; shift?: number; sign?: boolean; cut?: number };

/** A server written from RFC 2865: its answer is signed with this secret. */
async function scripted(t: Test, answer: Answer, heard: Buffer[] = []) {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    heard.push(query);
    const content = Buffer.concat([
      answer.attributes ?? Buffer.alloc(0),
      answer.sign === true ? Buffer.concat([Buffer.from([80, 18]), Buffer.alloc(16)]) : Buffer.alloc(0),
    ]);
    const packet = Buffer.concat([
      Buffer.from([answer.code, ((query[1] ?? 0) + (answer.shift ?? 0)) & 0xff, 0, 0]),
      query.subarray(4, 20),
      content,
    ]);
    packet.writeUInt16BE(packet.length + (answer.cut ?? 0), 2);
    const key = answer.secret ?? secret;
    if (answer.sign === true) packet.set(createHmac('md5', key).update(packet).digest(), packet.length - 16);
    packet.set(createHash('md5').update(packet).update(key).digest(), 4);
    socket.send(packet, from.port, from.address);
  });
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve);
  });
  t.teardown(() => new Promise<void>((resolve) => socket.close(() => resolve())));
  return socket.address().port;
}

void t.test('answers of a scripted server', async (t) => {
  const ask = async (answer: Answer, settings: object = {}) =>
    check(await scripted(t, answer), { ...login, ...settings }, { timeoutMs: 400 });
  t.match(await ask({ code: 2 }), { outcome: 'ok', evidence: { details: { message_authenticator: false } } });
  t.match(await ask({ code: 2, sign: true }), {
    outcome: 'ok',
    evidence: { details: { message_authenticator: true } },
  });
  t.match(await ask({ code: 2 }, { require_message_authenticator: true }), { code: 'radius_protocol' });
  t.match(await ask({ code: 2, sign: true }, { require_message_authenticator: true }), { outcome: 'ok' });
  t.match(await ask({ code: 2, secret: 'another' }), { outcome: 'fail', code: 'radius_secret', source: 'target' });
  t.match(
    await ask({ code: 2, attributes: Buffer.from(`5012${'00'.repeat(16)}`, 'hex') }),
    { code: 'radius_secret' },
    'a wrong code',
  );
  t.match(await ask({ code: 3 }), { code: 'radius_reject' });
  t.match(await ask({ code: 3 }, { expected_reply: 'any' }), { outcome: 'ok' });
  t.match(await ask({ code: 11 }), { code: 'response_mismatch', message: /Access-Challenge/ });
  t.match(await ask({ code: 11 }, { expected_reply: 'challenge' }), { outcome: 'ok' });
  t.match(await ask({ code: 5 }, { expected_reply: 'any' }), { code: 'radius_protocol' });
  t.match(
    await ask({ code: 5 }, { request: 'status' }),
    { outcome: 'ok' },
    'the accounting port says that it is there',
  );
  t.match(await ask({ code: 5 }, { request: 'status', expected_reply: 'reject' }), { code: 'radius_protocol' });
  t.match(await ask({ code: 2, shift: 1 }), { outcome: 'fail', code: 'radius_protocol' }, 'another number');
  t.match(await ask({ code: 2, cut: 4 }), { code: 'radius_protocol' }, 'shorter than it says');
  t.match(
    await ask({ code: 2, attributes: Buffer.from([18, 1]) }),
    { code: 'radius_protocol' },
    'an attribute of no length',
  );
});

void t.test('the request hides the password and is signed', async (t) => {
  const heard: Buffer[] = [];
  await check(await scripted(t, { code: 2 }, heard));
  const query = heard[0] ?? Buffer.alloc(0);
  t.equal(query[0], 1);
  t.equal(query.readUInt16BE(2), query.length);
  t.notOk(query.includes('sesame'));
  t.ok(query.includes('alice'));
  const signed = Buffer.from(query);
  t.same([...signed.subarray(20, 22)], [80, 18], 'the code comes first');
  const code = Buffer.from(signed.subarray(22, 38));
  signed.fill(0, 22, 38);
  t.same(createHmac('md5', secret).update(signed).digest(), code);
});

void t.test('settings that are not enough', async (t) => {
  const problem = (settings: object) =>
    radiusType.validateTarget({ url: 'radius.test' }, radiusType.settings().parse(settings));
  t.equal(problem(login), undefined);
  t.equal(problem({ request: 'status', secret }), undefined);
  t.match(problem({}), /secret/);
  t.match(problem({ secret, username: 'a' }), /password/);
  t.equal(radiusType.settings().safeParse({ password: 'ü'.repeat(65) }).success, false);
});
