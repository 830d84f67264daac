import { createSocket } from 'node:dgram';
import t, { type Test } from 'tap';
import { runCheck } from './run.ts';
import { snmp as snmpType } from './snmp.ts';
import { ber, berInteger, berOid } from './net/ber.ts';
import { testContext } from './testing/context.ts';
import { startSnmpd } from './testing/servers/snmpd.ts';

const check = (port: number, settings: object = {}, overrides = {}) =>
  runCheck('snmp', { url: `127.0.0.1:${port}` }, settings, testContext(overrides));

const name = '1.3.6.1.2.1.1.5.0';
const authUser = { version: '3', username: 'reader', auth_protocol: 'sha1', auth_password: 'authenticate me' };
const privUser = {
  version: '3',
  username: 'secret',
  auth_protocol: 'sha256',
  auth_password: 'authenticate me',
  priv_protocol: 'aes',
  priv_password: 'encrypt me too',
};

void t.test('a real agent, in all three versions', async (t) => {
  const server = await startSnmpd(t);
  if (server === undefined) return;
  const { port } = server;
  for (const version of ['1', '2c']) {
    const outcome = await check(port, { version });
    t.match(outcome, { outcome: 'ok', evidence: { details: { kind: 'TimeTicks', value: /^\d+$/ } } }, version);
    t.strictSame(Object.keys(outcome.phases), ['dns', 'first_byte']);
    t.match(await check(port, { version, oid: '1.3.6.1.2.1.1.99.0' }), {
      outcome: 'fail',
      code: 'snmp_no_such_object',
    });
  }
  t.match(await check(port, { oid: name, expected_value: 'box.test s3cret' }), { outcome: 'ok' });
  t.match(await check(port, { oid: name, expected_pattern: { pattern: '^box\\.' } }), { outcome: 'ok' });
  t.match(await check(port, { oid: name, expected_pattern: { pattern: '^fox' } }), {
    outcome: 'fail',
    code: 'response_mismatch',
    source: 'target',
  });
  const echoed = await check(port, { oid: name, community: 's3cret', expected_value: 'box' });
  t.match(echoed, { outcome: 'fail', code: 'response_mismatch' });
  t.notMatch(JSON.stringify(echoed), /s3cret/, 'a community is not shown, even when the agent says it');
  t.match(await check(port, { oid: '1.3.6.1.2.1.1.7.0', min_value: 72, max_value: 72 }), { outcome: 'ok' });
  t.match(await check(port, { oid: '1.3.6.1.2.1.1.7.0', min_value: 73 }), {
    code: 'response_mismatch',
    message: /below 73/,
  });
  t.match(await check(port, { oid: '1.3.6.1.2.1.1.7.0', max_value: 71 }), {
    code: 'response_mismatch',
    message: /above 71/,
  });
  t.match(await check(port, { oid: name, max_value: 71 }), { code: 'response_mismatch', message: /no number/ });
  t.match(await check(port, { community: 'unknown' }, { timeoutMs: 400 }), {
    outcome: 'timeout',
    source: 'target',
    code: 'response_timeout',
    message: /community/,
  });
  const asked = { oid: name, expected_value: 'box.test s3cret' };
  t.match(await check(port, { ...asked, version: '3', username: 'open' }), { outcome: 'ok' }, 'noAuthNoPriv');
  t.match(await check(port, { ...asked, ...authUser }), { outcome: 'ok' }, 'SHA-1');
  t.match(
    await check(port, { ...asked, ...authUser, username: 'old', auth_protocol: 'md5' }),
    { outcome: 'ok' },
    'MD5',
  );
  t.match(await check(port, { ...asked, ...privUser }), { outcome: 'ok' }, 'SHA-256 with AES');
  const refusals: Array<[object, RegExp]> = [
    [{ ...authUser, auth_password: 'not this one' }, /authentication password or protocol wrong/],
    [{ ...authUser, username: 'nobody' }, /does not know this user/],
    [{ ...privUser, priv_password: 'not this one' }, /could not decrypt|does not answer|in time|no answer/],
    [{ version: '3', username: 'reader' }, /not allow/],
    [{ ...authUser, priv_protocol: 'aes', priv_password: 'encrypt me too' }, /level of security/],
  ];
  for (const [settings, message] of refusals) {
    const outcome = await check(port, settings, { timeoutMs: 1000 });
    t.match(outcome, { outcome: /fail|timeout/, source: 'target', message });
    t.notMatch(JSON.stringify(outcome), /not this one|authenticate me|encrypt me/);
  }
  await server.stop();
  t.match(await check(port), { outcome: 'fail', source: 'target', code: 'connect_refused' });
});

/** An agent that answers each datagram as the script says. */
async function agent(t: Test, answer: (query: Buffer) => Buffer) {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => socket.send(answer(query), from.port, from.address));
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve);
  });
  t.teardown(() => new Promise<void>((resolve) => socket.close(() => resolve())));
  return socket.address().port;
}

/** The number of the request stands behind the community "public" and the head of the PDU. */
function requestNumber(query: Buffer): number {
  const at = query.indexOf('public') + 'public'.length + 2;
  return query.readIntBE(at + 2, query[at + 1] ?? 0);
}

const uptime = berOid('1.3.6.1.2.1.1.3.0');
const response = (number: number, status: number, binding: Buffer) =>
  ber(
    0x30,
    berInteger(1),
    ber(0x04, 'public'),
    ber(0xa2, berInteger(number), berInteger(status), berInteger(0), ber(0x30, binding)),
  );

void t.test('answers of a scripted agent', async (t) => {
  const bind = (value: Buffer, oid = uptime) => ber(0x30, oid, value);
  const ask = async (answer: (number: number) => Buffer, settings: object = {}) =>
    check(await agent(t, (query) => answer(requestNumber(query))), settings, { timeoutMs: 400 });
  const value = (bytes: Buffer) => ask((number) => response(number, 0, bind(bytes)));
  const shown = async (bytes: Buffer) => (await value(bytes)).evidence?.details?.['value'];
  t.equal(await shown(berInteger(-300)), '-300');
  t.equal(await shown(ber(0x46, Buffer.from('00ffffffffffffffff', 'hex'))), '18446744073709551615');
  t.equal(await shown(ber(0x40, Buffer.from([192, 0, 2, 1]))), '192.0.2.1');
  t.equal(await shown(ber(0x04, Buffer.from([0, 255]))), '00ff');
  t.equal(await shown(ber(0x04, 'LaserJet\0')), 'LaserJet', 'the end of a C string is no part of it');
  t.equal(await shown(ber(0x04, Buffer.from([0]))), '00');
  t.equal(await shown(ber(0x44, Buffer.from('9f78043e6147ae', 'hex'))), '0.22', 'a load average of net-snmp');
  t.equal(await shown(ber(0x44, Buffer.from('9f7804', 'hex'))), '9f7804');
  t.equal(await shown(berOid('1.3.6.1.4.1.8072.3.2.10')), '1.3.6.1.4.1.8072.3.2.10');
  t.equal(String(await shown(ber(0x04, 'x'.repeat(5000)))).length, 500);
  t.match(await value(ber(0x81)), { code: 'snmp_no_such_object', message: /noSuchInstance/ });
  t.match(await ask((number) => response(number, 5, bind(ber(0x05)))), { code: 'snmp_error', message: /genErr/ });
  t.match(await ask((number) => response(number, 16, bind(ber(0x05)))), { code: 'snmp_credentials' });
  t.match(
    await ask((number) => response(number + 1, 0, bind(berInteger(1)))),
    { code: 'snmp_protocol' },
    'a foreign number',
  );
  t.match(await ask((number) => response(number, 0, bind(berInteger(1), berOid('1.3.6.1')))), {
    code: 'snmp_protocol',
  });
  t.match(await ask(() => Buffer.from('302902010104', 'hex')), { code: 'snmp_protocol', outcome: 'fail' }, 'cut');
  t.match(await ask(() => Buffer.alloc(100, 'never')), { code: 'snmp_protocol' });
  t.match(await ask(() => Buffer.alloc(0)), { outcome: 'fail', code: 'snmp_protocol' });
});

void t.test('settings that do not go together', async (t) => {
  const problem = (settings: object) =>
    snmpType.validateTarget({ url: 'agent.test' }, snmpType.settings().parse(settings));
  t.equal(problem({}), undefined);
  t.equal(problem(authUser), undefined);
  t.equal(problem(privUser), undefined);
  t.match(problem({ version: '3' }), /username/);
  t.match(problem({ version: '3', username: 'a', auth_protocol: 'sha1' }), /auth_password/);
  t.match(problem({ ...authUser, priv_protocol: 'aes' }), /priv_password/);
  t.match(problem({ version: '3', username: 'a', priv_protocol: 'aes' }), /authentication/);
  for (const oid of ['1', '1.40.1', '3.1', '1.3.a', '1.3.01', '1.3.99999999999', '1..3', `1.3${'.1'.repeat(200)}`])
    t.equal(snmpType.settings().safeParse({ oid }).success, false, oid);
  t.equal(snmpType.settings().safeParse({ oid: '.1.3.6' }).success, true);
});
