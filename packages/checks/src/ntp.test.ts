import { createSocket } from 'node:dgram';
import t, { type Test } from 'tap';
import { ntp } from './ntp.ts';
import { fromNtpTime, readNtpReply, referenceName } from './ntp/packet.ts';
import { runCheck } from './run.ts';
import { testContext } from './testing/context.ts';
import { startChronyd } from './testing/servers/chronyd.ts';

const check = (port: number, settings: object = {}, overrides = {}) =>
  runCheck('ntp', { url: `127.0.0.1:${port}` }, settings, testContext(overrides));

/** The timestamp of NTP for a time in milliseconds. */
function ntpTime(ms: number): bigint {
  const seconds = Math.floor(ms / 1000);
  return ((BigInt(seconds) + 2_208_988_800n) << 32n) | BigInt(Math.floor(((ms - seconds * 1000) / 1000) * 2 ** 32));
}

type Script = {
  readonly stratum?: number;
  readonly leap?: number;
  readonly aheadMs?: number;
  readonly reference?: string;
};

/** A time server written from RFC 5905; `change` makes its answer wrong. */
async function scripted(t: Test, script: Script, change: (reply: Buffer) => readonly Buffer[] = (reply) => [reply]) {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const reply = Buffer.alloc(48);
    reply.writeUInt8(((script.leap ?? 0) << 6) | (4 << 3) | 4, 0);
    reply.writeUInt8(script.stratum ?? 2, 1);
    reply.writeInt8(-20, 3);
    reply.write(script.reference ?? '\x7f\x7f\x01\x01', 12, 'latin1');
    query.copy(reply, 24, 40, 48);
    const now = ntpTime(Date.now() + (script.aheadMs ?? 0));
    reply.writeBigUInt64BE(now, 32);
    reply.writeBigUInt64BE(now, 40);
    for (const each of change(reply)) socket.send(each, from.port, from.address);
  });
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve);
  });
  t.teardown(() => new Promise<void>((resolve) => socket.close(() => resolve())));
  return socket.address().port;
}

void t.test('the offset of a server, ahead and behind', async (t) => {
  const right = await scripted(t, {});
  const good = await check(right, { samples: 3 });
  t.match(good, {
    outcome: 'ok',
    phases: { dns: Number, first_byte: Number },
    evidence: { address: '127.0.0.1', details: { stratum: 2, leap: 0, version: 4, reference: '127.127.1.1' } },
  });
  t.ok(Math.abs(Number(good.evidence?.details?.['offset_ms'])) < 100, 'both clocks are the same one');
  const ahead = await scripted(t, { aheadMs: 5000 });
  const wrong = await check(ahead);
  t.match(wrong, { outcome: 'fail', source: 'target', code: 'ntp_offset', message: /ahead/ });
  t.ok(Math.abs(Number(wrong.evidence?.details?.['offset_ms']) - 5000) < 100);
  t.match(await check(ahead, { fail_offset_ms: 10_000 }), { outcome: 'ok' });
  t.match(await check(ahead, { fail_offset_ms: 0, warn_offset_ms: 1000 }), { outcome: 'warn', code: 'ntp_offset' });
  t.match(await check(await scripted(t, { aheadMs: -5000 })), { code: 'ntp_offset', message: /behind/ });
});

void t.test('kiss of death, unsynchronised clocks, far strata', async (t) => {
  let questions = 0;
  const kissing = await scripted(t, { stratum: 0, reference: 'RATE' }, (reply) => {
    questions += 1;
    return [reply];
  });
  t.match(await check(kissing, { samples: 4 }), {
    outcome: 'fail',
    code: 'ntp_kiss',
    message: /RATE: it is asked too often/,
    evidence: { details: { stratum: 0, reference: 'RATE' } },
  });
  t.equal(questions, 1, 'who is told to stop stops');
  for (const reference of ['\0\0\0\0', '\x7f\x7f\x01\x01'])
    t.match(
      await check(await scripted(t, { stratum: 0, leap: 3, reference })),
      { outcome: 'fail', code: 'ntp_unsynchronised' },
      'chronyd without a time has stratum 0 and kisses nobody',
    );
  t.match(await check(await scripted(t, { leap: 3 })), { outcome: 'fail', code: 'ntp_unsynchronised' });
  t.match(await check(await scripted(t, { stratum: 16 })), { outcome: 'fail', code: 'ntp_unsynchronised' });
  t.match(await check(await scripted(t, { stratum: 4 }), { max_stratum: 3 }), { outcome: 'fail', code: 'ntp_stratum' });
});

void t.test('forged, short and foreign answers do not count', async (t) => {
  const forged = await scripted(t, {}, (reply) => {
    const foreign = Buffer.from(reply);
    foreign.writeUInt32BE(0, 24);
    const client = Buffer.from(reply);
    client.writeUInt8((4 << 3) | 3, 0);
    return [Buffer.from('garbage'), foreign, client, reply.subarray(0, 40), reply];
  });
  t.match(await check(forged), { outcome: 'ok' });
  const garbage = await scripted(t, {}, () => [Buffer.alloc(48, 0xff)]);
  t.match(await check(garbage, {}, { timeoutMs: 100 }), { outcome: 'fail', code: 'response_mismatch' });
  const silent = await scripted(t, {}, () => []);
  t.match(await check(silent, {}, { timeoutMs: 100 }), { outcome: 'timeout', code: 'response_timeout' });
});

void t.test('the fields of a packet', async (t) => {
  t.equal(readNtpReply(Buffer.alloc(48)), undefined);
  t.equal(referenceName({ reference: Buffer.from('GPS\0'), stratum: 1 }), 'GPS');
  t.equal(referenceName({ reference: Buffer.from([10, 0, 0, 1]), stratum: 2 }), '10.0.0.1');
  const now = Date.UTC(2026, 0, 1);
  t.ok(Math.abs(fromNtpTime(ntpTime(now + 0.5), now) - now - 0.5) < 0.001);
  const later = Date.UTC(2040, 0, 1);
  t.equal(fromNtpTime(ntpTime(later) & 0xffff_ffff_ffff_ffffn, later), later, 'the era after 2036');
  t.match(ntp.validateTarget({ url: 'http://a' }, ntp.settings().parse({})), /not taken/);
  t.equal(ntp.validateTarget({ url: 'time.example.com' }, ntp.settings().parse({})), undefined, 'port 123 by default');
});

void t.test('a real chronyd', async (t) => {
  const server = await startChronyd(t);
  if (server === undefined) return;
  const { port } = server;
  const outcome = await check(port, { samples: 2 });
  t.match(outcome, { outcome: 'ok', evidence: { details: { stratum: 7, version: 4, leap: 0 } } });
  t.ok(Math.abs(Number(outcome.evidence?.details?.['offset_ms'])) < 200);
  t.match(await check(port, { max_stratum: 3 }), { outcome: 'fail', code: 'ntp_stratum', source: 'target' });
  await server.stop();
  t.match(await check(port), { outcome: 'fail', code: 'connect_refused', source: 'target' });
});
