import { createSocket } from 'node:dgram';
import t from 'tap';
import { openUdp } from './net/udp.ts';
import { runCheck } from './run.ts';
import { Stop } from './stop.ts';
import { testContext } from './testing/context.ts';
import { startDatagrams } from './testing/servers/datagrams.ts';
import { udp } from './udp.ts';

const check = (port: number, settings: object, overrides = {}) =>
  runCheck('udp', { url: `udp://127.0.0.1:${port}` }, settings, testContext(overrides));

void t.test('a datagram is answered as expected, in text and in hexadecimal digits', async (t) => {
  const echo = await startDatagrams(t, (bytes) => Buffer.concat([Buffer.from('re: '), bytes]));
  t.match(await check(echo.port, { send: 'ping', expect: 're: ping' }), {
    outcome: 'ok',
    phases: { dns: Number, first_byte: Number },
    evidence: { address: '127.0.0.1', port: echo.port, body: 're: ping' },
  });
  t.match(await check(echo.port, { send: '00 ff', expect: '20 00ff', payload_format: 'hex' }), {
    outcome: 'ok',
    evidence: { body: '72653a2000ff' },
  });
  t.match(await check(echo.port, {}), { outcome: 'ok' }, 'any answer will do');
});

void t.test('a lost datagram is sent again, as often as is asked for', async (t) => {
  let seen = 0;
  const lossy = await startDatagrams(t, () => {
    seen += 1;
    return seen === 2 ? 'pong' : undefined;
  });
  t.match(await check(lossy.port, { send: 'ping' }, { timeoutMs: 1200 }), { outcome: 'ok' });
  seen = 2;
  t.match(await check(lossy.port, { tries: 1 }, { timeoutMs: 700 }), { outcome: 'timeout', code: 'response_timeout' });
  t.equal(seen, 3, 'sent once');
});

void t.test('silence, another answer, a closed port and a denied address', async (t) => {
  const silent = await startDatagrams(t, () => undefined);
  t.match(await check(silent.port, {}, { timeoutMs: 100 }), {
    outcome: 'timeout',
    code: 'response_timeout',
    source: 'target',
  });
  const other = await startDatagrams(t, () => 'no');
  t.match(await check(other.port, { expect: 'yes' }, { timeoutMs: 100 }), {
    outcome: 'fail',
    code: 'response_mismatch',
    source: 'target',
    evidence: { body: 'no' },
  });
  const flood = await startDatagrams(t, () => Array.from({ length: 600 }, () => 'no'));
  t.match(await check(flood.port, { expect: 'yes' }, { timeoutMs: 1000 }), { code: 'response_mismatch' });
  await silent.stop();
  t.match(await check(silent.port, { send: 'x' }), { outcome: 'fail', code: 'connect_refused', source: 'target' });
  t.match(await runCheck('udp', { url: '10.0.0.1:53' }, {}, testContext()), { code: 'address_denied' });
  t.match(await runCheck('udp', { url: '2852039166:53' }, {}, testContext()), { code: 'address_denied' });
});

void t.test('what comes from another port is not heard, and the end of the check ends the question', async (t) => {
  const stranger = createSocket('udp4');
  await new Promise<void>((resolve) => {
    stranger.bind(0, '127.0.0.1', resolve);
  });
  t.teardown(() => new Promise<void>((resolve) => stranger.close(() => resolve())));
  const asked = createSocket('udp4');
  asked.on('message', (_bytes, from) => {
    stranger.send('forged', from.port, from.address, () => asked.send('true', from.port, from.address));
  });
  await new Promise<void>((resolve) => {
    asked.bind(0, '127.0.0.1', resolve);
  });
  t.teardown(() => new Promise<void>((resolve) => asked.close(() => resolve())));
  const stop = new Stop();
  const opened = await openUdp({ address: '127.0.0.1', port: asked.address().port }, testContext({ signal: stop }));
  if (!opened.ok) throw new Error(opened.failure.message);
  const heard: string[] = [];
  const accept = (bytes: Buffer) => {
    heard.push(bytes.toString());
    return bytes;
  };
  t.match(await opened.channel.ask({ message: Buffer.from('q'), accept }), { ok: true, tookUs: Number });
  t.same(heard, ['true']);
  const second = opened.channel.ask({ message: Buffer.from('q'), accept: () => undefined, repeatAfterMs: 0 });
  stop.abort();
  t.match(await second, { ok: false, failure: { code: /^response_/ } });
  opened.channel.close();
  opened.channel.close();
});

void t.test('settings and targets', async (t) => {
  const parse = (settings: object) => udp.settings().safeParse(settings).success;
  t.ok(parse({ send: '0aff', payload_format: 'hex' }));
  for (const wrong of [{ send: 'xyz', payload_format: 'hex' }, { send: '' }, { tries: 0 }, { other: 1 }])
    t.equal(parse(wrong), false, JSON.stringify(wrong));
  t.equal(udp.validateTarget({ url: '[::1]:53' }, udp.settings().parse({})), undefined);
  for (const url of ['example.com', 'tcp://example.com:1', 'example.com:0'])
    t.type(udp.validateTarget({ url }, udp.settings().parse({})), 'string', url);
});
