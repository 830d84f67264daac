import { createConnection } from 'node:net';
import t from 'tap';
import { redis } from './redis.ts';
import { runCheck } from './run.ts';
import { listenRaw, testContext, until } from './testing/context.ts';
import { startRedis } from './testing/servers/redis.ts';

const check = (url: string, settings: object = {}, overrides = {}) =>
  runCheck('redis', { url }, settings, testContext(overrides));

/** Says commands of one line each to a server, as whoever fills it does. */
function fill(port: number, lines: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ port, host: '127.0.0.1' });
    let answers = '';
    socket.on('error', reject);
    socket.on('data', (piece) => {
      answers += String(piece);
      if (answers.split('\r\n').length > lines.length) socket.end();
    });
    socket.on('close', () => resolve());
    socket.write(lines.map((line) => `${line}\r\n`).join(''));
  });
}

void t.test('a real server: login, PING and a key', async (t) => {
  const real = await startRedis(t);
  if (real === undefined) return;
  const { port, tlsPort, ca, password, stop } = real;
  const url = `127.0.0.1:${port}`;
  await fill(port, [`AUTH "${password}"`, 'SET state fine', 'LPUSH list a', 'SELECT 3', 'SET third yes']);

  const good = await check(url, { password });
  t.match(good, { outcome: 'ok' });
  t.same(Object.keys(good.phases), ['dns', 'connect', 'first_byte', 'transfer']);
  t.match(await check(`redis://${url}`, { username: 'default', password, key: 'state', expected_value: 'fine' }), {
    outcome: 'ok',
  });
  t.match(await check(url, { password, key: 'third', database: 3, expected_pattern: { pattern: '^y' } }), {
    outcome: 'ok',
  });
  t.match(await check(url, { password, key: 'state', expected_value: 'bad' }), {
    outcome: 'fail',
    source: 'target',
    code: 'db_wrong_result',
    message: 'The value is "fine", expected is "bad".',
    evidence: { address: '127.0.0.1', port },
  });
  t.match(await check(url, { password, key: 'absent' }), { code: 'db_wrong_result' });
  t.match(await check(url, { password, key: 'list' }), { code: 'db_query_failed' });
  t.match(await check(url, { password, database: 999 }), { code: 'db_unknown_database' });
  t.match(await check(url), { outcome: 'fail', code: 'db_auth_failed' }, 'no password');
  for (const wrong of [{ password: 'wrong one' }, { username: 'nobody', password: 'wrong one' }]) {
    const outcome = await check(url, wrong);
    t.match(outcome, { outcome: 'fail', source: 'target', code: 'db_auth_failed' });
    t.notMatch(JSON.stringify(outcome), 'wrong one');
  }
  t.match(await check(url, { username: 'limited', password: 'limited' }), { outcome: 'ok' });
  t.match(await check(url, { username: 'limited', password: 'limited', key: 'state' }), { code: 'db_query_failed' });

  const secure = `rediss://127.0.0.1:${tlsPort}`;
  const inside = await check(secure, { password, ca_certificates: ca });
  t.match(inside, { outcome: 'ok' });
  t.same(Object.keys(inside.phases), ['dns', 'connect', 'tls', 'first_byte', 'transfer']);
  t.match(await check(secure, { password }), { outcome: 'fail', code: /^tls_/, evidence: { certificate: {} } });
  t.match(await check(`127.0.0.1:${tlsPort}`, { password, tls: 'implicit', verify_tls: false }), { outcome: 'ok' });
  t.match(await check(`rediss://${url}`, { password }, { timeoutMs: 200 }), { code: 'tls_timeout' }, 'no TLS there');

  await stop();
  t.match(await check(url, { password }), { outcome: 'fail', source: 'target', code: 'connect_refused' });
});

void t.test('what a server may answer that is not good', async (t) => {
  const cases: [string, string, object][] = [
    ['-MISCONF Errors writing to the AOF file\r\n', 'a full disk', { code: 'db_unavailable' }],
    ['-LOADING Redis is loading the dataset in memory\r\n', 'loading', { code: 'db_unavailable' }],
    ['-DENIED Redis is running in protected mode\r\n', 'protected', { code: 'db_refused' }],
    ['-ERR max number of clients reached\r\n', 'full', { code: 'db_unavailable' }],
    ['-MOVED 3999 127.0.0.1:6381\r\n', 'another node', { code: 'db_query_failed', message: /another node/ }],
    ['-ERR you said secret\r\n', 'the password', { message: /you said \[redacted\]/ }],
    ['+PANG\r\n', 'another text', { code: 'db_protocol' }],
    ['*1\r\n', 'an array', { code: 'db_protocol' }],
    ['$9999999999\r\n', 'a text without end', { code: 'db_result_too_large' }],
    ['$x\r\n', 'no length', { code: 'db_protocol' }],
    ['HTTP/1.1 400 Bad Request\r\n', 'another protocol', { code: 'db_protocol' }],
  ];
  for (const [answer, what, expected] of cases) {
    const peer = await listenRaw((socket) => socket.on('data', () => socket.write(answer)));
    const outcome = await check(`127.0.0.1:${peer.port}`, { password: 'secret' });
    t.match(outcome, { outcome: 'fail', source: 'target', ...expected }, what);
    await until(() => peer.connections.size === 0, 'the connection is closed');
    await peer.stop();
  }
  const inPieces = await listenRaw((socket) =>
    socket.on('data', () => {
      for (const [at, byte] of Array.from('$4\r\nPONG\r\n').entries()) setTimeout(() => socket.write(byte), at * 3);
    }),
  );
  t.teardown(inPieces.stop);
  t.match(await check(`127.0.0.1:${inPieces.port}`), { outcome: 'ok' }, 'in pieces');
});

void t.test('targets and settings that cannot be checked are refused', async (t) => {
  for (const url of ['', '/run/redis.sock', 'unix:///run/redis.sock', 'redis://:p@db', 'redis://db/3'])
    t.type(redis.validateTarget({ url }, redis.settings().parse({})), 'string', url);
  for (const url of ['db', 'db:6380', 'redis://db', 'rediss://db:1'])
    t.equal(redis.validateTarget({ url }, redis.settings().parse({})), undefined, url);
  for (const settings of [{ expected_value: 'x' }, { database: -1 }, { tls: 'auto' }, { path: '/tmp/s' }])
    t.equal(redis.settings().safeParse(settings).success, false);
});

void t.test('a secret that lies where a value is cut is not shown in part', async (t) => {
  const password = 'correct-horse-battery';
  const real = await listenRaw((socket) => {
    const value = `${'x'.repeat(90)}${password}`;
    socket.on('data', (asked) => {
      const said = String(asked);
      const isValue = /GET/i.test(said);
      socket.write(isValue ? `$${value.length}\r\n${value}\r\n` : /PING/i.test(said) ? '+PONG\r\n' : '+OK\r\n');
    });
  });
  t.teardown(real.stop);
  const outcome = await check(`127.0.0.1:${real.port}`, { password, key: 'state', expected_value: 'fine' });
  t.match(outcome, { code: 'db_wrong_result' });
  t.notMatch(JSON.stringify(outcome), 'correct-h');
});
