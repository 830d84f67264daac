import { constants, generateKeyPairSync, privateDecrypt } from 'node:crypto';
import t from 'tap';
import { packet } from './mysql/greeting.ts';
import { text } from './mysql/packets.ts';
import { mysql } from './mysql.ts';
import { runCheck } from './run.ts';
import { issue } from './testing/certificates.ts';
import { listenRaw, testContext, until } from './testing/context.ts';
import { startMariadb } from './testing/servers/mariadb.ts';

const check = (port: number, settings: object = {}, overrides = {}) =>
  runCheck('mysql', { url: `127.0.0.1:${port}` }, settings, testContext(overrides));

void t.test('a real server: login, the query and its result', async (t) => {
  const authority = await issue({ name: 'Data authority', authority: true });
  const certificate = await issue({ name: 'db', by: authority, addresses: ['127.0.0.1'] });
  const real = await startMariadb(t, { certificate });
  if (real === undefined) return;
  const { port, stop } = real;
  const ca = authority.cert;
  const login = { username: 'native', password: 'right one', database: 'shop' };

  const good = await check(port, { ...login, query: 'SELECT n FROM kept', expected_value: '7' });
  t.match(good, { outcome: 'ok', evidence: { details: { server_version: /MariaDB/ } } });
  t.same(
    Object.keys(good.phases),
    ['dns', 'connect', 'tls', 'first_byte', 'transfer'],
    'TLS is taken where it is offered',
  );
  t.match(await check(port, { username: 'empty' }), { outcome: 'ok' });
  t.match(await check(port, { ...login, username: 'tls_only', database: undefined }), { outcome: 'ok' });
  t.match(await check(port, { ...login, tls: 'starttls', ca_certificates: ca }), { outcome: 'ok' });
  t.match(await check(port, { ...login, tls: 'starttls' }), {
    outcome: 'fail',
    code: /^tls_/,
    evidence: { certificate: {} },
  });
  t.notOk((await check(port, { ...login, tls: 'none' })).phases.tls);

  for (const wrong of [
    { ...login, password: 'wrong one' },
    { username: 'native' },
    { username: 'nobody', password: 'wrong one' },
    { ...login, username: 'tls_only', tls: 'none' },
  ]) {
    const outcome = await check(port, wrong);
    t.match(outcome, { outcome: 'fail', source: 'target', code: 'db_auth_failed' });
    t.notMatch(JSON.stringify(outcome), 'wrong one');
  }
  t.match(await check(port, { ...login, database: 'missing' }), { code: 'db_unknown_database' });

  const ask = (query: string, more: object = {}) => check(port, { ...login, query, ...more });
  t.match(await ask('SELECT n FROM kept', { expected_value: '8' }), {
    outcome: 'fail',
    code: 'db_wrong_result',
    message: 'The value is "7", expected is "8".',
    evidence: { address: '127.0.0.1', port, details: { rows: 1 } },
  });
  t.match(await ask('SELECT NULL', { expected_value: '' }), { message: 'The value is NULL, expected is "".' });
  t.match(
    await ask("SELECT repeat('x', 300)", { expected_value: 'x'.repeat(300) }),
    { outcome: 'ok' },
    'a longer length',
  );
  t.match(await ask('SELECT n FROM kept WHERE n = 9', { min_rows: 1 }), { code: 'db_wrong_result' });
  t.match(await ask('SELECT seq FROM seq_1_to_1000', { min_rows: 1000, expected_value: '1' }), { outcome: 'ok' });
  t.match(await ask('SELECT seq FROM seq_1_to_1000000'), { code: 'db_result_too_large' });
  t.match(await ask("SELECT repeat('x', 2000000)"), { code: 'db_result_too_large' });
  t.match(await ask("SELECT repeat('x', 10000) FROM seq_1_to_500"), { code: 'db_result_too_large' });
  t.match(await ask('SELECT * FROM absent'), { code: 'db_query_failed', message: /absent.*1146/ });

  for (const change of [
    'DELETE FROM kept',
    'DROP TABLE kept',
    'CREATE TABLE t (n int)',
    'SELECT 1; DELETE FROM kept',
    "LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE kept",
  ])
    t.match(await ask(change), { outcome: 'fail', code: 'db_query_failed' }, `${change} is refused`);
  t.match(await ask('SELECT count(*) FROM kept', { expected_value: '1' }), { outcome: 'ok' }, 'nothing was changed');

  t.match(await check(port, { ...login, query: 'SELECT sleep(10)' }, { timeoutMs: 300 }), {
    outcome: 'timeout',
    source: 'target',
    code: 'response_timeout',
  });
  await stop();
  t.match(await check(port, login), { outcome: 'fail', source: 'target', code: 'connect_refused' });
});

const nonce = Buffer.from('abcdefghijklmnopqrst');
const tlsFlag = 0x800;

/** The greeting of a server, sequence 0. */
function greeting(plugin: string, flags = 0, version = '8.0.1') {
  const fixed = Buffer.alloc(31);
  nonce.copy(fixed, 4, 0, 8);
  fixed.writeUInt16LE(flags, 13);
  fixed.writeUInt8(21, 20);
  return packet(0, Buffer.from([10]), text(version), fixed, nonce.subarray(8), Buffer.alloc(1), text(plugin));
}

const error = (sequence: number, number: number, sentence: string) =>
  packet(sequence, Buffer.from([0xff, number & 0xff, number >> 8]), Buffer.from(`#HY000${sentence}`));
const ok = (sequence: number) => packet(sequence, Buffer.alloc(7));

/** A server that speaks first and then answers each packet that it hears by the next of the list. */
function scripted(first: Buffer, answers: readonly ((heard: Buffer) => Buffer)[]) {
  return listenRaw((socket) => {
    let at = 0;
    socket.write(first);
    socket.on('data', (heard: Buffer) => {
      const answer = answers[at++];
      if (answer !== undefined) socket.write(answer(heard));
    });
  });
}

void t.test('the password is encrypted with the key of the server, where TLS was switched off', async (t) => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = publicKey.export({ type: 'spki', format: 'pem' }) as string;
  let seen = '';
  const peer = await scripted(greeting('caching_sha2_password'), [
    () => packet(2, Buffer.from([1, 4])),
    (heard) => {
      t.same([...heard.subarray(4)], [2], 'the key is asked for');
      return packet(4, Buffer.from([1]), Buffer.from(pem));
    },
    (heard) => {
      const hidden = privateDecrypt({ key: privateKey, padding: constants.RSA_PKCS1_OAEP_PADDING }, heard.subarray(4));
      seen = Buffer.from(hidden.map((byte, at) => byte ^ (nonce[at % 20] ?? 0))).toString();
      return ok(6);
    },
    () => ok(1),
    () => ok(1),
    () => ok(1),
  ]);
  t.teardown(peer.stop);
  t.match(await check(peer.port, { password: 'secret', tls: 'none' }), { outcome: 'ok' });
  t.equal(seen, 'secret\0');
  t.match(
    await check(peer.port, { password: 'secret' }),
    { code: 'db_auth_unsupported' },
    'unless it was only missing',
  );
});

void t.test('what a server may answer that is no login', async (t) => {
  const native = greeting('mysql_native_password');
  const cases: [string, Buffer, (() => Buffer)[], object, object][] = [
    ['no TLS', native, [], { tls: 'starttls' }, { code: 'db_tls_missing' }],
    [
      'more than a greeting before TLS',
      Buffer.concat([greeting('x', tlsFlag), ok(2)]),
      [],
      {},
      { code: 'db_protocol' },
    ],
    ['too many sessions', error(0, 1040, 'Too many connections'), [], {}, { code: 'db_unavailable' }],
    ['a host that is not let in', error(0, 1130, 'Host is not allowed'), [], {}, { code: 'db_refused' }],
    ['another protocol', Buffer.from('SSH-2.0-OpenSSH_9.2\r\n'), [], {}, { code: 'db_protocol' }],
    [
      'the password itself',
      native,
      [() => error(2, 9999, 'you said secret')],
      {},
      { message: /you said \[redacted\]/ },
    ],
    [
      'the clear password without TLS',
      native,
      [() => packet(2, Buffer.from([0xfe]), text('mysql_clear_password'))],
      {},
      { code: 'db_auth_unsupported' },
    ],
    [
      'a login that is not known',
      native,
      [() => packet(2, Buffer.from([0xfe]), text('auth_gssapi_client'))],
      {},
      { code: 'db_auth_unsupported', message: /auth_gssapi_client/ },
    ],
    [
      'an end that counts from the start',
      native,
      [() => ok(2), () => error(0, 4031, 'The client was disconnected by the server because of inactivity.')],
      {},
      { code: 'db_unavailable', message: /inactivity/ },
    ],
    ['another number', native, [() => ok(7)], {}, { code: 'db_protocol' }],
    [
      'TiDB and a statement that changes something',
      greeting('mysql_native_password', 0, '8.0.11-TiDB-v7.5.0'),
      [() => ok(2)],
      { query: 'DELETE FROM t' },
      { code: 'db_query_failed', message: /TiDB/ },
    ],
    [
      'a file of this machine',
      native,
      [() => ok(2), () => packet(1, Buffer.from([0xfb]), Buffer.from('/etc/passwd'))],
      {},
      { code: 'db_query_failed' },
    ],
  ];
  for (const [what, first, answers, settings, expected] of cases) {
    const peer = await scripted(first, answers);
    const outcome = await check(peer.port, { password: 'secret', ...settings });
    t.match(outcome, { outcome: 'fail', source: 'target', ...expected }, what);
    await until(() => peer.connections.size === 0, 'the connection is closed');
    await peer.stop();
  }
  const switched = await scripted(native, [
    () => packet(2, Buffer.from([0xfe]), text('caching_sha2_password'), nonce, Buffer.alloc(1)),
    () => Buffer.concat([packet(4, Buffer.from([1, 3])), ok(5)]),
    () => ok(1),
    () => ok(1),
    () => ok(1),
  ]);
  t.teardown(switched.stop);
  t.match(await check(switched.port, { password: 'secret' }), { outcome: 'ok' }, 'another login is followed');
});

void t.test('TiDB, which has no read-only session, and a server with an odd default login are good', async (t) => {
  const asked: string[] = [];
  const tiDb = await scripted(greeting('mysql_native_password', 0, '8.0.11-TiDB-v7.5.0'), [
    () => ok(2),
    (heard) => {
      asked.push(heard.toString('latin1', 5));
      return ok(1);
    },
    (heard) => {
      asked.push(heard.toString('latin1', 5));
      return ok(1);
    },
  ]);
  t.teardown(tiDb.stop);
  t.match(await check(tiDb.port, { password: 'secret', tls: 'none' }), { outcome: 'ok' });
  t.match(asked, [/^SET SESSION max_execution_time/, 'SELECT 1']);
  let login = '';
  const odd = await scripted(greeting('tidb_sm3_password'), [
    (heard) => {
      login = heard.toString('latin1');
      return ok(2);
    },
    () => ok(1),
    () => ok(1),
    () => ok(1),
  ]);
  t.teardown(odd.stop);
  t.match(await check(odd.port, { password: 'secret' }), { outcome: 'ok' });
  t.ok(login.includes('root\0\x14') && login.endsWith('mysql_native_password\0'), 'an answer of a login that is known');
});

void t.test('targets and settings that cannot be checked are refused', async (t) => {
  for (const url of ['', '/run/mysqld/mysqld.sock', 'postgres://db', 'mysql://u:p@db', 'mysql://db/name'])
    t.type(mysql.validateTarget({ url }, mysql.settings().parse({})), 'string', url);
  for (const url of ['db', 'db:3307', 'mysql://db', 'mariadb://db:1/'])
    t.equal(mysql.validateTarget({ url }, mysql.settings().parse({})), undefined, url);
  for (const settings of [{ query: '' }, { socket: '/tmp/s' }, { tls: 'maybe' }])
    t.equal(mysql.settings().safeParse(settings).success, false);
});
