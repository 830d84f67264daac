import type { Socket } from 'node:net';
import t, { type Test } from 'tap';
import { runCheck } from './run.ts';
import { socks5 } from './socks5.ts';
import { listenRaw, testContext, until } from './testing/context.ts';
import { freePort } from './testing/real-server.ts';
import { startDanted } from './testing/servers/danted.ts';

const check = (port: number, settings: object = {}, overrides = {}) =>
  runCheck('socks5', { url: `socks5://127.0.0.1:${port}` }, settings, testContext(overrides));

/** A proxy that answers each message with the next bytes of a script, and keeps what it was told. */
async function scripted(t: Test, answers: readonly (readonly number[] | 'close')[]) {
  const told: string[] = [];
  const peer = await listenRaw((socket: Socket) => {
    let at = 0;
    socket.on('data', (piece) => {
      told.push(piece.toString('hex'));
      const answer = answers[at++];
      if (answer === 'close') socket.end();
      else if (answer !== undefined) for (const byte of answer) socket.write(Buffer.from([byte]));
    });
  });
  t.teardown(peer.stop);
  return { ...peer, told };
}

const login = { username: 'ann', password: 'pässword' };
const granted = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0];

void t.test('handshake, sign-in and a connection through the proxy', async (t) => {
  const open = await scripted(t, [[5, 0], granted]);
  t.match(await check(open.port), { outcome: 'ok', phases: { dns: Number, connect: Number, first_byte: Number } });
  t.match(await check(open.port, { connect_to: '127.0.0.1:80' }), {
    outcome: 'ok',
    phases: { transfer: Number },
    evidence: { details: { method: 'none', connected_to: '127.0.0.1:80' } },
  });
  t.same(open.told, ['050100', '050100', '050100017f0000010050']);
  const closed = await scripted(t, [
    [5, 2],
    [1, 0],
    [5, 0, 0, 3, 1, 97, 0, 1],
  ]);
  t.match(await check(closed.port, { ...login, connect_to: 'www.example.test:443', resolve_at: 'proxy' }), {
    outcome: 'ok',
    evidence: { details: { method: 'username_password', connected_to: 'www.example.test:443' } },
  });
  t.same(closed.told, [
    '050102',
    `0103${Buffer.from('ann').toString('hex')}09${Buffer.from('pässword').toString('hex')}`,
    `0501000310${Buffer.from('www.example.test').toString('hex')}01bb`,
  ]);
  const careless = await scripted(t, [
    [5, 2],
    [5, 0],
  ]);
  t.match(await check(careless.port, login), { outcome: 'ok' }, 'the verdict on a password under the wrong version');
  await until(() => open.connections.size + closed.connections.size === 0, 'no connection is left');
});

void t.test('what is wrong is said with its code, and the password never', async (t) => {
  const cases: Array<[readonly (readonly number[] | 'close')[], object, string]> = [
    [[[5, 0xff]], {}, 'socks_auth_required'],
    [[[5, 0xff]], login, 'socks_auth_failed'],
    [
      [
        [5, 2],
        [1, 1],
      ],
      login,
      'socks_auth_failed',
    ],
    [[[5, 2], 'close'], login, 'socks_auth_failed'],
    [[[5, 0]], login, 'socks_protocol'],
    [[[4, 0]], {}, 'socks_protocol'],
    [
      [
        [5, 2],
        [5, 1],
      ],
      login,
      'socks_auth_failed',
    ],
    [
      [
        [5, 0],
        [5, 5, 0, 1, 0, 0],
      ],
      { connect_to: '127.0.0.1:1' },
      'socks_connect_failed',
    ],
    [
      [
        [5, 0],
        [5, 0, 0, 9, 0, 0],
      ],
      { connect_to: '127.0.0.1:1' },
      'socks_protocol',
    ],
    [['close'], {}, ''],
  ];
  for (const [answers, settings, code] of cases) {
    const { port } = await scripted(t, answers);
    const outcome = await check(port, settings);
    t.match(outcome, { outcome: 'fail', source: 'target', ...(code !== '' && { code }) }, JSON.stringify(answers));
    t.notMatch(JSON.stringify(outcome), /pässword/);
  }
  const half = await scripted(t, [
    [5, 0],
    [5, 0, 0, 1, 0],
  ]);
  t.match(await check(half.port, { connect_to: '127.0.0.1:1' }, { timeoutMs: 100 }), {
    outcome: 'timeout',
    code: 'response_timeout',
  });
});

void t.test('where the proxy shall connect to is judged before the proxy is dialled', async (t) => {
  const peer = await scripted(t, [[5, 0], granted]);
  for (const connect_to of [
    '10.0.0.1:80',
    '169.254.169.254:80',
    '2852039166:80',
    '[::ffff:10.0.0.1]:80',
    '127.0.0.1:25',
  ])
    for (const resolve_at of ['probe', 'proxy'])
      t.match(
        await check(peer.port, { connect_to, resolve_at }),
        { code: 'address_denied' },
        `${connect_to} ${resolve_at}`,
      );
  t.match(await check(peer.port, { connect_to: 'db.internal:80', resolve_at: 'proxy' }), { outcome: /fail|timeout/ });
  t.same(peer.told, []);
  t.match(await runCheck('socks5', { url: '10.0.0.1' }, {}, testContext()), { code: 'address_denied' });
  const parse = (settings: object) => socks5.settings().safeParse(settings).success;
  t.equal(parse({ username: 'a' }), false);
  t.equal(parse({ connect_to: 'example.com' }), false);
  t.equal(parse({ username: 'ä'.repeat(128), password: 'x' }), false, 'too many bytes');
  t.match(socks5.secretFields, ['password']);
});

void t.test('a real danted', async (t) => {
  const server = await startDanted(t);
  if (server === undefined) return;
  const open = server.port;
  const target = await listenRaw((socket) => socket.resume());
  t.teardown(target.stop);
  t.match(await check(open), { outcome: 'ok' });
  t.match(await check(open, { connect_to: `127.0.0.1:${target.port}` }), { outcome: 'ok' });
  t.match(await check(open, { connect_to: `127.0.0.1:${await freePort()}` }), {
    outcome: 'fail',
    source: 'target',
    code: 'socks_connect_failed',
    message: /refused/,
  });
  t.match(await check(open, { connect_to: '127.0.0.9:80' }), { code: 'socks_connect_failed', message: /rules/ });
  const locked = (await startDanted(t, { method: 'username' }))?.port ?? 0;
  t.match(await check(locked), { outcome: 'fail', code: 'socks_auth_required' });
  t.match(await check(locked, { username: 'nobody', password: 'wrong' }), {
    outcome: 'fail',
    code: 'socks_auth_failed',
  });
  await server.stop();
  t.match(await check(open), { outcome: 'fail', code: 'connect_refused', source: 'target' });
});
