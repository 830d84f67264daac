import t from 'tap';
import { message, text } from './postgres/messages.ts';
import { postgres } from './postgres.ts';
import { runCheck } from './run.ts';
import { listenRaw, testContext, until } from './testing/context.ts';
import { startPostgres } from './testing/servers/postgres.ts';

const check = (port: number, settings: object = {}, overrides = {}) =>
  runCheck('postgres', { url: `127.0.0.1:${port}` }, settings, testContext(overrides));

void t.test('a real server: every way of authentication, the query and its result', async (t) => {
  const { port, ca, stop } = await startPostgres(t);
  const login = { username: 'scrammed', password: 'right one', database: 'postgres' };

  const good = await check(port, { ...login, query: 'SELECT count(*) FROM kept', expected_value: '1' });
  t.match(good, { outcome: 'ok', evidence: { details: { server_version: /^\d/ } } });
  t.same(
    Object.keys(good.phases),
    ['dns', 'connect', 'tls', 'first_byte', 'transfer'],
    'TLS is taken where it is offered',
  );
  for (const username of ['md5_user', 'plain', 'trusted', 'tls_only'])
    t.match(await check(port, { ...login, username }), { outcome: 'ok' }, username);
  t.match(await check(port, { ...login, tls: 'starttls', ca_certificates: ca }), { outcome: 'ok' });
  t.match(await check(port, { ...login, tls: 'starttls' }), {
    outcome: 'fail',
    code: /^tls_/,
    evidence: { certificate: {} },
  });
  t.notOk((await check(port, { ...login, tls: 'none' })).phases.tls);
  t.match(await check(port, { ...login, username: 'plain', tls: 'none' }), { outcome: 'ok' });

  for (const username of ['scrammed', 'md5_user', 'plain', 'nobody_known']) {
    const wrong = await check(port, { ...login, username, password: 'wrong one' });
    const code = username === 'nobody_known' ? 'db_refused' : 'db_auth_failed';
    t.match(wrong, { outcome: 'fail', source: 'target', code }, username);
    t.notMatch(JSON.stringify(wrong), 'wrong one');
  }
  t.match(await check(port, { username: 'scrammed', database: 'postgres' }), { code: 'db_auth_failed' }, 'no password');
  t.match(await check(port, { ...login, username: 'tls_only', tls: 'none' }), { code: 'db_refused' });
  t.match(await check(port, { ...login, database: 'missing' }), { code: 'db_unknown_database' });

  const ask = (query: string, more: object = {}) => check(port, { ...login, query, ...more });
  t.match(await ask('SELECT n FROM kept', { expected_value: '8' }), {
    outcome: 'fail',
    code: 'db_wrong_result',
    message: 'The value is "7", expected is "8".',
    evidence: { address: '127.0.0.1', port, details: { rows: 1 } },
  });
  t.match(await ask("SELECT 'All Fine'", { expected_pattern: { pattern: '^all', ignore_case: true } }), {
    outcome: 'ok',
  });
  t.match(await ask("SELECT 'All Fine'", { expected_pattern: { pattern: '^all' } }), { code: 'db_wrong_result' });
  t.match(await ask('SELECT NULL', { expected_value: '' }), { message: 'The value is NULL, expected is "".' });
  t.match(await ask('SELECT generate_series(1, 3)', { min_rows: 4 }), { code: 'db_wrong_result' });
  t.match(await ask('SELECT generate_series(1, 3)', { max_rows: 2 }), { code: 'db_wrong_result' });
  t.match(await ask('SELECT generate_series(1, 1000)', { min_rows: 1000 }), { outcome: 'ok' });
  t.match(await ask('SELECT generate_series(1, 1000000)'), { code: 'db_result_too_large' });
  t.match(await ask("SELECT repeat('x', 2000000)"), { code: 'db_result_too_large' });
  t.match(await ask("SELECT repeat('x', 10000) FROM generate_series(1, 500)"), { code: 'db_result_too_large' });
  t.match(await ask('SELECT * FROM absent'), { code: 'db_query_failed', message: /absent.*42P01/ });
  t.match(await ask('COPY kept TO STDOUT'), { code: 'db_query_failed' });

  for (const change of ['DELETE FROM kept', 'CREATE TABLE t (n int)', 'COMMIT; DELETE FROM kept', 'SELECT 1; SELECT 2'])
    t.match(await ask(change), { outcome: 'fail', code: 'db_query_failed' }, `${change} is refused`);
  t.match(await ask('SELECT count(*) FROM kept', { expected_value: '1' }), { outcome: 'ok' }, 'nothing was changed');

  t.match(await check(port, { ...login, query: 'SELECT pg_sleep(10)' }, { timeoutMs: 300 }), {
    outcome: 'timeout',
    source: 'target',
    code: 'response_timeout',
  });
  await stop();
  t.match(await check(port, login), { outcome: 'fail', source: 'target', code: 'connect_refused' });
});

/** A server that says these messages, one after each that it hears. */
function scripted(answers: readonly (Buffer | string)[]) {
  return listenRaw((socket) => {
    let at = 0;
    socket.on('data', () => {
      const answer = answers[at++];
      if (answer !== undefined) socket.write(answer);
    });
  });
}

const number = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const error = (state: string, sentence: string) =>
  message('E', text(`C${state}`), text(`M${sentence}`), Buffer.alloc(1));

void t.test('what a server may answer that is no login', async (t) => {
  const cases: [string, (Buffer | string)[], object, object][] = [
    ['no TLS', ['N'], { tls: 'starttls' }, { code: 'db_tls_missing' }],
    ['more than one byte before TLS', ['Smore'], {}, { code: 'db_protocol' }],
    ['a clear password without TLS', ['N', message('R', number(3))], {}, { code: 'db_auth_unsupported' }],
    [
      'a password asked for again and again',
      ['N', ...Array.from({ length: 6 }, () => message('R', number(5), Buffer.alloc(4)))],
      {},
      { code: 'db_protocol' },
    ],
    ['Kerberos', ['N', message('R', number(7))], {}, { code: 'db_auth_unsupported' }],
    ['too many sessions', ['N', error('53300', 'too many clients')], {}, { code: 'db_unavailable' }],
    ['starting up', ['N', error('57P03', 'starting up')], {}, { code: 'db_unavailable' }],
    ['another protocol', ['N', 'HTTP/1.1 400 Bad Request\r\n\r\n'], {}, { code: 'db_protocol' }],
    ['the password itself', ['N', error('XX000', 'you said secret!')], {}, { message: /you said \[redacted\]/ }],
    [
      'a transaction that is none',
      ['N', Buffer.concat([message('R', number(0)), message('Z', Buffer.from('I'))]), message('Z', Buffer.from('I'))],
      {},
      { code: 'db_query_failed' },
    ],
    [
      'a SCRAM login that proves nothing',
      ['N', message('R', number(10), text('SCRAM-SHA-256'), Buffer.alloc(1)), message('R', number(0))],
      {},
      { code: 'db_auth_failed' },
    ],
    [
      'SCRAM that would take minutes',
      [
        'N',
        message('R', number(10), text('SCRAM-SHA-256'), Buffer.alloc(1)),
        message('R', number(11), Buffer.from('r=x,s=eA==,i=999999999')),
      ],
      {},
      { code: 'db_auth_unsupported' },
    ],
  ];
  for (const [what, answers, settings, expected] of cases) {
    const peer = await scripted(answers);
    t.match(
      await check(peer.port, { password: 'secret', ...settings }),
      { outcome: 'fail', source: 'target', ...expected },
      what,
    );
    await until(() => peer.connections.size === 0, 'the connection is closed');
    await peer.stop();
  }
});

void t.test('a server that lets the password be hashed beyond the deadline is late by its own fault', async (t) => {
  const peer = await listenRaw((socket) => {
    let isAsked = false;
    socket.on('data', (heard: Buffer) => {
      const [, nonce] = /n=,r=(\S+)/.exec(heard.toString('latin1')) ?? [];
      if (heard.includes('c=biws')) return;
      if (nonce !== undefined) socket.write(message('R', number(11), Buffer.from(`r=${nonce}x,s=eA==,i=200000`)));
      else if (!isAsked) socket.write('N');
      else socket.write(message('R', number(10), text('SCRAM-SHA-256'), Buffer.alloc(1)));
      isAsked = true;
    });
  });
  t.teardown(peer.stop);
  // So many that they wait for each other.
  const late = () => check(peer.port, { password: 'secret' }, { timeoutMs: 50 });
  for (const outcome of await Promise.all(Array.from({ length: 16 }, late)))
    t.match(outcome, { outcome: 'timeout', source: 'target' });
});

void t.test('targets and settings that cannot be checked are refused', async (t) => {
  for (const url of [
    '',
    '/var/run/postgresql',
    'mysql://db',
    'postgres://u:p@db',
    'postgres://db/name',
    'postgres://db?host=/tmp',
  ])
    t.type(postgres.validateTarget({ url }, postgres.settings().parse({})), 'string', url);
  for (const url of ['db', 'db:5433', 'postgres://db', 'postgresql://db:1/', '[::1]:5432'])
    t.equal(postgres.validateTarget({ url }, postgres.settings().parse({})), undefined, url);
  for (const settings of [{ query: '' }, { query: 'a\0b' }, { tls: 'maybe' }, { host: '/tmp' }, { min_rows: 1001 }])
    t.equal(postgres.settings().safeParse(settings).success, false);
});
