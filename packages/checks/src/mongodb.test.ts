import { BSON, MongoClient } from 'mongodb';
import t from 'tap';
import { BsonError, readDocument, writeDocument } from './mongodb/bson.ts';
import { mongodb } from './mongodb.ts';
import { runCheck } from './run.ts';
import { listenRaw, testContext, until } from './testing/context.ts';
import { startMongodb } from './testing/servers/mongodb.ts';

const check = (port: number, settings: object = {}, overrides = {}) =>
  runCheck('mongodb', { url: `127.0.0.1:${port}` }, settings, testContext(overrides));

const login = { username: 'user,with=signs', password: 'right one' };
const known = { username: 'user=2Cwith=3Dsigns', password: 'right one' };

void t.test('BSON is what the official driver reads and writes', async (t) => {
  const document = {
    text: 'Grüße',
    whole: 7,
    large: 2 ** 40,
    negative: -5,
    half: 0.5,
    yes: true,
    nothing: null,
    bytes: Buffer.from([1, 2]),
    date: new Date(5),
    list: ['a', 1, { b: [2] }],
    inner: { c: {} },
    long: 2n ** 60n,
  };
  const back = BSON.deserialize(writeDocument(document), { promoteBuffers: true, useBigInt64: false });
  t.same({ ...back, long: 0 }, { ...document, long: 0 });
  t.same(readDocument(Buffer.from(BSON.serialize(document))), document);
  const good = writeDocument(document);
  for (let end = 0; end < good.length; end++)
    t.throws(() => readDocument(good.subarray(0, end)), { name: 'BsonError' });
  for (let at = 0; at < good.length; at++) {
    const spoiled = Buffer.from(good);
    spoiled[at] = 0xff;
    try {
      readDocument(spoiled);
    } catch (error) {
      t.ok(error instanceof BsonError, `byte ${at}`);
    }
  }
  let deep = {};
  for (let level = 0; level < 30; level++) deep = { deep };
  t.throws(() => readDocument(writeDocument(deep)), { name: 'BsonError' });
});

void t.test('the scripted peer is one that the official driver logs in to', async (t) => {
  for (const authMechanism of ['SCRAM-SHA-256', 'SCRAM-SHA-1'] as const) {
    const peer = await startMongodb(t, { username: 'user', password: login.password, mechanism: authMechanism });
    t.teardown(peer.stop);
    const client = new MongoClient(`mongodb://127.0.0.1:${peer.port}/?directConnection=true`, {
      auth: { username: 'user', password: login.password },
      authMechanism,
      serverApi: '1',
      serverSelectionTimeoutMS: 3000,
    });
    t.match(await client.db('admin').command({ ping: 1 }), { ok: 1 }, authMechanism);
    await client.close();
  }
});

void t.test('a server before 4.4.2, a user from before 4.0 and Amazon DocumentDB are good', async (t) => {
  const old = await startMongodb(t, { ...known, isOld: true, mechanism: 'SCRAM-SHA-1' });
  t.match(await check(old.port, { ...login, expected_role: 'primary' }), {
    outcome: 'ok',
    evidence: { details: { role: 'primary', wire_version: 21 } },
  });
  t.match(await check(old.port), { outcome: 'ok' }, 'without a login');
  t.match(await check(old.port, { ...login, password: 'wrong one' }), { code: 'db_auth_failed' });
  t.match(
    old.asked.find((command) => 'isMaster' in command),
    { saslSupportedMechs: 'admin.user,with=signs' },
  );
  const silent = { hello: { saslSupportedMechs: undefined } };
  const documentDb = await startMongodb(t, { ...known, mechanism: 'SCRAM-SHA-1', answers: silent });
  t.match(await check(documentDb.port, login), { outcome: 'ok' }, 'a server that does not say what the user has');
});

void t.test('login, ping, role and a count', async (t) => {
  const peer = await startMongodb(t, known);
  t.teardown(peer.stop);
  const { port, asked } = peer;
  const good = await check(port, login);
  t.match(good, { outcome: 'ok', evidence: { details: { role: 'primary', replica_set: 'rs0', wire_version: 21 } } });
  t.same(Object.keys(good.phases), ['dns', 'connect', 'first_byte', 'transfer']);
  t.match(await check(port), { outcome: 'ok' }, 'without a login');
  t.match(await check(port, { ...login, collection: 'orders', min_rows: 3, max_rows: 3 }), { outcome: 'ok' });
  t.match(asked.at(-1), { count: 'orders', query: {}, limit: 1000, $db: 'test' });
  const filter = JSON.stringify({ at: { $gt: { $date: '2026-01-02T03:04:05Z' } }, state: 'open' });
  t.match(await check(port, { ...login, collection: 'orders', database: 'shop', filter, min_rows: 4 }), {
    outcome: 'fail',
    source: 'target',
    code: 'db_wrong_result',
    message: 'The result has 3 rows, fewer than 4.',
    evidence: { address: '127.0.0.1', port, details: { rows: 3 } },
  });
  t.match(asked.at(-1), { query: { at: { $gt: new Date('2026-01-02T03:04:05Z') }, state: 'open' }, $db: 'shop' });
  t.match(await check(port, { ...login, expected_role: 'primary' }), { outcome: 'ok' });
  t.match(await check(port, { ...login, expected_role: 'secondary' }), { code: 'db_wrong_result' });
  for (const wrong of [
    { ...login, password: 'wrong one' },
    { username: 'nobody', password: 'wrong one' },
    { username: 'x' },
  ]) {
    const outcome = await check(port, wrong);
    t.match(outcome, { outcome: 'fail', source: 'target', code: 'db_auth_failed' });
    t.notMatch(JSON.stringify(outcome), 'wrong one');
  }
  await until(() => peer.connections.size === 0, 'all connections are closed');
  await peer.stop();
  t.match(await check(port, login), { outcome: 'fail', source: 'target', code: 'connect_refused' });
});

void t.test('what a server may answer that is not good', async (t) => {
  const refusal = (code: number, errmsg: string) => ({ ok: 0, code, errmsg });
  const cases: [string, Record<string, object>, object][] = [
    ['starting', { hello: refusal(91, 'in shutdown') }, { code: 'db_unavailable' }],
    ['no SCRAM', { saslStart: refusal(2, 'Unsupported mechanism') }, { code: 'db_auth_unsupported' }],
    ['a wrong password, as Atlas says it', { saslStart: refusal(8000, 'bad auth') }, { code: 'db_auth_failed' }],
    [
      'a proof that is none',
      { saslContinue: { payload: Buffer.from(`v=${Buffer.alloc(32).toString('base64')}`) } },
      { code: 'db_auth_failed' },
    ],
    ['a login that never ends', { saslContinue: { done: false } }, { code: 'db_auth_failed' }],
    [
      'hashing that would take minutes',
      { saslStart: { payload: Buffer.from('r=x,s=eA==,i=999999999') } },
      { code: 'db_auth_unsupported' },
    ],
    ['the password itself', { ping: refusal(1, 'you said right one') }, { message: /you said \[redacted\]/ }],
    ['no right to count', { count: refusal(13, 'not authorized') }, { code: 'db_query_failed' }],
    ['a count that is none', { count: { n: 'three' } }, { code: 'db_protocol' }],
    ['too late', { count: refusal(50, 'exceeded time limit') }, { outcome: 'timeout', code: 'response_timeout' }],
  ];
  for (const [what, answers, expected] of cases) {
    const peer = await startMongodb(t, { ...known, answers });
    const outcome = await check(peer.port, { ...login, collection: 'c' });
    t.match(outcome, { outcome: 'fail', source: 'target', ...expected }, what);
    await until(() => peer.connections.size === 0, 'the connection is closed');
    await peer.stop();
  }
  const foreign = await listenRaw((socket) =>
    socket.on('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')),
  );
  t.teardown(foreign.stop);
  t.match(await check(foreign.port), { outcome: 'fail', code: 'db_protocol' }, 'another protocol');
});

void t.test('targets and settings that cannot be checked are refused', async (t) => {
  for (const url of [
    '',
    '/tmp/mongodb.sock',
    'mongodb+srv://db',
    'mongodb://u:p@db',
    'mongodb://db/name',
    'mongodb://a,b',
  ])
    t.type(mongodb.validateTarget({ url }, mongodb.settings().parse({})), 'string', url);
  for (const url of ['db', 'db:27018', 'mongodb://db'])
    t.equal(mongodb.validateTarget({ url }, mongodb.settings().parse({})), undefined, url);
  const where = JSON.stringify({ $or: [{ $where: 'sleep(1)' }] });
  for (const settings of [
    { filter: '{}' },
    { collection: 'c', filter: '[]' },
    { collection: 'c', filter: '{' },
    { collection: 'c', filter: where },
    { collection: 'c', filter: '{"a":'.repeat(20) + '1' + '}'.repeat(20) },
    { database: 'a.b' },
    { tls: 'auto' },
  ])
    t.equal(mongodb.settings().safeParse(settings).success, false, JSON.stringify(settings));
});
