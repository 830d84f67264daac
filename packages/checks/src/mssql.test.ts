import { Connection } from 'tedious';
import t, { type Test } from 'tap';
import { mssql } from './mssql.ts';
import { runCheck } from './run.ts';
import { issue } from './testing/certificates.ts';
import { listenRaw, testContext, until } from './testing/context.ts';
import { type MssqlOptions, mssqlTokens as tokens, startMssql } from './testing/servers/mssql.ts';

const check = (port: number, settings: object = {}, overrides = {}) =>
  runCheck('mssql', { url: `127.0.0.1:${port}` }, settings, testContext(overrides));

const authority = await issue({ name: 'Data authority', authority: true });
const issued = await issue({ name: 'db', by: authority, addresses: ['127.0.0.1'] });
const login = { username: 'reader', password: 'right one', database: 'shop' };

const guard = (username: string, password: string, database: string) => {
  if (password !== login.password || username !== login.username)
    return tokens.error(18456, `Login failed for user '${username}'.`);
  if (database === 'missing')
    return Buffer.concat([tokens.error(4060, 'Cannot open database.'), tokens.error(18456, 'Login failed.')]);
  return tokens.welcome();
};

const peer = (t: Test, options: Partial<MssqlOptions> = {}) =>
  startMssql(t, { key: issued.key, cert: issued.cert, login: guard, ...options });

const int4 = (value: number) => {
  const bytes = Buffer.from([4, 0, 0, 0, 0]);
  bytes.writeInt32LE(value, 1);
  return bytes;
};
const oneRow = () => tokens.result([0x26, 4], [int4(7)]);

void t.test('the scripted peer is one that the library tedious logs in to', async (t) => {
  const { port } = await peer(t);
  const connection = new Connection({
    server: '127.0.0.1',
    authentication: { type: 'default', options: { userName: login.username, password: login.password } },
    options: { port, encrypt: true, trustServerCertificate: true, connectTimeout: 3000, serverName: 'db' },
  });
  await new Promise<void>((resolve, reject) => {
    connection.connect((error) => (error === undefined ? resolve() : reject(error)));
  });
  t.pass('logged in');
  const ended = new Promise((resolve) => connection.once('end', resolve));
  connection.close();
  await ended;
});

void t.test('login inside TLS, the query and its result', async (t) => {
  let asked = '';
  const { port, connections, stop } = await peer(t, {
    batch: (statements) => {
      asked = statements;
      return oneRow();
    },
  });
  const good = await check(port, { ...login, query: "SELECT 'it''s' FROM t", expected_value: '7' });
  t.match(good, { outcome: 'ok', evidence: { details: { server_version: '16.0.4100' } } });
  t.same(Object.keys(good.phases), ['dns', 'connect', 'tls', 'first_byte', 'transfer']);
  t.match(asked, /BEGIN TRANSACTION;\nEXEC sp_executesql N'SELECT ''it''''s'' FROM t';\nIF @@TRANCOUNT > 0 ROLLBACK/);
  t.match(await check(port, { ...login, tls: 'starttls', ca_certificates: authority.cert }), { outcome: 'ok' });
  t.match(await check(port, { ...login, tls: 'starttls' }), { code: /^tls_/, evidence: { certificate: {} } });
  t.notOk((await check(port, { ...login, tls: 'none' })).phases.tls);
  t.match(await check(port, { ...login, expected_value: '8' }), {
    outcome: 'fail',
    source: 'target',
    code: 'db_wrong_result',
    message: 'The value is "7", expected is "8".',
    evidence: { address: '127.0.0.1', port, details: { rows: 1 } },
  });
  for (const wrong of [{ ...login, password: 'wrong one' }, { username: 'sa' }]) {
    const outcome = await check(port, wrong);
    t.match(outcome, { outcome: 'fail', source: 'target', code: 'db_auth_failed' });
    t.notMatch(JSON.stringify(outcome), 'wrong one');
  }
  t.match(await check(port, { ...login, database: 'missing' }), { code: 'db_unknown_database' });
  await until(() => connections.size === 0, 'all connections are closed');
  await stop();
  t.match(await check(port, login), { outcome: 'fail', source: 'target', code: 'connect_refused' });
});

void t.test('an availability group that has servers for readers is good', async (t) => {
  const routed = () => Buffer.concat([tokens.routing(), tokens.welcome()]);
  const primary = await peer(t, { login: (_u, _p, _d, isReadOnly) => (isReadOnly ? routed() : tokens.welcome()) });
  t.match(await check(primary.port, login), { outcome: 'ok' });
  t.match(await check(primary.port, { ...login, application_intent: 'read_only' }), { code: 'db_refused' });
  const secondary = await peer(t, {
    login: (_u, _p, _d, isReadOnly) => (isReadOnly ? tokens.welcome() : tokens.error(978, 'Read only.')),
  });
  t.match(await check(secondary.port, { ...login, application_intent: 'read_only' }), { outcome: 'ok' });
  t.match(await check(secondary.port, login), { code: 'db_refused', message: /application_intent/ });
});

void t.test('values of every type become text', async (t) => {
  const utf16 = (text: string) => {
    const bytes = Buffer.from(text, 'utf16le');
    return Buffer.concat([Buffer.from([bytes.length & 0xff, bytes.length >> 8]), bytes]);
  };
  const collation = [9, 4, 0xd0, 0, 52];
  const parts = Buffer.from(
    'fe ff ff ff ff ff ff ff 02 00 00 00 41 00 02 00 00 00 42 00 00 00 00 00'.replaceAll(' ', ''),
    'hex',
  );
  const cases: [string, number[], Buffer, string][] = [
    ['int', [0x26, 4], int4(-7), '-7'],
    ['tinyint', [0x30], Buffer.from([255]), '255'],
    ['bigint', [0x7f], Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), '-1'],
    ['bit', [0x68, 1], Buffer.from([1, 1]), '1'],
    ['float', [0x6d, 8], Buffer.from([8, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f]), '1.5'],
    ['decimal', [0x6c, 5, 5, 2], Buffer.from([5, 0, 0x39, 0x30, 0, 0]), '-123.45'],
    ['small decimal', [0x6a, 5, 5, 2], Buffer.from([5, 1, 5, 0, 0, 0]), '0.05'],
    ['nvarchar', [0xe7, 40, 0, ...collation], utf16('Grüße'), 'Grüße'],
    ['nvarchar(max)', [0xe7, 0xff, 0xff, ...collation], parts, 'AB'],
    ['varchar', [0xa7, 40, 0, ...collation], Buffer.from([2, 0, 0x47, 0xfc]), 'Gü'],
    ['binary', [0xad, 2, 0], Buffer.from([2, 0, 0xca, 0xfe]), '0xcafe'],
  ];
  for (const [what, type, value, expected] of cases) {
    const { port, stop } = await peer(t, { batch: () => tokens.result(type, [value]) });
    t.equal((await check(port, { ...login, tls: 'none', expected_value: expected })).message, undefined, what);
    await stop();
  }
  const nothing = await peer(t, { batch: () => tokens.result([0x26, 4], [Buffer.from([0])]) });
  t.match(await check(nothing.port, { ...login, expected_value: 'x' }), { message: /is NULL/ });
});

void t.test('what a server may answer that is not good', async (t) => {
  const long = () =>
    tokens.result(
      [0x26, 4],
      Array.from({ length: 1001 }, () => int4(1)),
    );
  const huge = () => Buffer.alloc(1_100_000, 0xd1);
  const cases: [string, Partial<MssqlOptions>, object, object][] = [
    ['no TLS', { encryption: 2 }, {}, { code: 'db_tls_missing' }],
    ['nothing but TLS', { encryption: 3 }, { tls: 'none' }, { code: 'db_refused' }],
    ['too busy, in other words', { login: () => tokens.error(10928, 'Resource ID.') }, {}, { code: 'db_unavailable' }],
    ['too busy', { login: () => tokens.error(40501, 'The service is busy.') }, {}, { code: 'db_unavailable' }],
    [
      'another server',
      { login: () => Buffer.concat([tokens.routing(), tokens.welcome()]) },
      {},
      { code: 'db_refused' },
    ],
    ['no acknowledgement', { login: () => tokens.done }, {}, { code: 'db_protocol' }],
    [
      'the password itself',
      { login: () => tokens.error(1, 'you said right one') },
      {},
      { message: /you said \[redacted\]/ },
    ],
    [
      'an error',
      { batch: () => tokens.error(208, 'Invalid object name') },
      {},
      { code: 'db_query_failed', message: /208/ },
    ],
    ['too many rows', { batch: long }, {}, { code: 'db_result_too_large' }],
    ['too many bytes', { batch: huge }, {}, { code: 'db_result_too_large' }],
    ['rows without columns', { batch: () => Buffer.from([0xd1, 0xd1]) }, {}, { code: 'db_protocol' }],
    ['a token that is cut', { batch: () => Buffer.from([0xaa, 0xff]) }, {}, { code: 'db_protocol' }],
  ];
  for (const [what, options, settings, expected] of cases) {
    const { port, connections, stop } = await peer(t, options);
    t.match(await check(port, { ...login, ...settings }), { outcome: 'fail', source: 'target', ...expected }, what);
    await until(() => connections.size === 0, 'the connection is closed');
    await stop();
  }
  const foreign = await listenRaw((socket) =>
    socket.on('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')),
  );
  t.teardown(foreign.stop);
  t.match(await check(foreign.port), { outcome: 'fail', code: 'db_protocol' }, 'another protocol');
});

void t.test('targets and settings that cannot be checked are refused', async (t) => {
  for (const url of ['', 'db\\instance', 'mssql://u:p@db', 'mssql://db/name', 'db,1433', 'np:db'])
    t.type(mssql.validateTarget({ url }, mssql.settings().parse({})), 'string', url);
  for (const url of ['db', 'db:1434', 'mssql://db', 'sqlserver://db:1'])
    t.equal(mssql.validateTarget({ url }, mssql.settings().parse({})), undefined, url);
  for (const settings of [{ query: '' }, { tls: 'maybe' }, { password: 'x'.repeat(129) }])
    t.equal(mssql.settings().safeParse(settings).success, false);
});
