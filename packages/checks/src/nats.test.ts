import { createUser } from '@nats-io/nkeys';
import t from 'tap';
import { nats } from './nats.ts';
import { runCheck } from './run.ts';
import { issue } from './testing/certificates.ts';
import { listenRaw, testContext, until } from './testing/context.ts';
import { startNats } from './testing/servers/nats.ts';

const check = (port: number, settings: object = {}, overrides = {}) =>
  runCheck('nats', { url: `127.0.0.1:${port}` }, settings, testContext(overrides));

void t.test('a real server without passwords is up, and a message comes back', async (t) => {
  const server = await startNats(t);
  if (server === undefined) return;
  t.match(await check(server.port), {
    outcome: 'ok',
    phases: { dns: Number, connect: Number, first_byte: Number, transfer: Number },
    evidence: { details: { version: /^\d/, jetstream: false } },
  });
  t.match(await check(server.port, { subject: 'checks.round.trip' }), { outcome: 'ok' });
  t.match(await check(server.port, { tls: 'starttls' }), { code: 'broker_tls_required', source: 'target' });
  await server.stop();
  t.match(await check(server.port), { outcome: 'fail', code: 'connect_refused', source: 'target' });
});

void t.test('users, tokens and keys are told from strangers, and permissions are seen', async (t) => {
  const key = createUser();
  const seed = Buffer.from(key.getSeed()).toString();
  const server = await startNats(t, {
    config: `authorization { users = [
      { user: anna, password: "correct-horse" },
      { user: bob, password: "battery-staple", permissions: { publish: ["open.>"], subscribe: ["open.>"] } },
      { nkey: ${key.getPublicKey()} }
    ] }`,
  });
  if (server === undefined) return;
  t.match(await check(server.port, { username: 'anna', password: 'correct-horse', subject: 'a.b' }), { outcome: 'ok' });
  const wrong = await check(server.port, { username: 'anna', password: 'wrong-horse' });
  t.match(wrong, { outcome: 'fail', code: 'broker_auth', source: 'target', message: /Authorization Violation/ });
  t.notMatch(JSON.stringify(wrong), /wrong-horse/);
  t.match(await check(server.port), { code: 'broker_auth' });
  t.match(await check(server.port, { nkey_seed: seed }), { outcome: 'ok' });
  t.match(await check(server.port, { nkey_seed: Buffer.from(createUser().getSeed()).toString() }), {
    code: 'broker_auth',
  });
  const bob = { username: 'bob', password: 'battery-staple' };
  t.match(await check(server.port, { ...bob, subject: 'open.x' }), { outcome: 'ok' });
  t.match(await check(server.port, { ...bob, subject: 'closed.x' }), { outcome: 'fail', code: 'broker_denied' });
});

void t.test('a server behind TLS is verified', async (t) => {
  const authority = await issue({ name: 'Test authority', authority: true });
  const leaf = await issue({ name: 'nats', by: authority, addresses: ['127.0.0.1'] });
  const server = await startNats(t, {
    config: 'tls { cert_file: "c.pem", key_file: "k.pem" }\nauthorization { token: "t0ken-x" }',
    files: {
      'c.pem': leaf.cert,
      'k.pem': leaf.key,
    },
  });
  if (server === undefined) return;
  const trusted = { tls: 'starttls', ca_certificates: authority.cert, token: 't0ken-x' };
  t.match(await check(server.port, { ...trusted, subject: 'x' }), { outcome: 'ok', phases: { tls: Number } });
  t.match(await check(server.port, { tls: 'starttls', token: 't0ken-x' }), { outcome: 'fail', code: /^tls_/ });
  t.match(await check(server.port, { tls: 'none' }), { code: 'broker_tls_required' });
});

void t.test('a wrong protocol, a lost message and an echoed password are reported safely', async (t) => {
  const web = await listenRaw((socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'));
  const deaf = await listenRaw((socket) => {
    socket.write('INFO {"connect_urls":["127.0.0.1:1"]}\r\n');
    socket.on('data', () => socket.write('PONG\r\n'));
  });
  const echo = await listenRaw((socket) => {
    socket.write('INFO {}\r\n');
    socket.on('data', (piece) => socket.write(`-ERR 'no ${piece.toString().replaceAll(/[\r\n]/g, ' ')}'\r\n`));
  });
  for (const peer of [web, deaf, echo]) t.teardown(peer.stop);
  t.match(await check(web.port), { outcome: 'fail', code: 'broker_protocol', source: 'target' });
  t.match(await check(deaf.port, { subject: 'x' }), { code: 'broker_message', message: /did not come back/ });
  const echoed = await check(echo.port, { username: 'u', password: 's3cret"word' });
  t.match(echoed, { outcome: 'fail', code: 'broker_protocol' });
  t.notMatch(JSON.stringify(echoed), /s3cret/);
  await until(() => deaf.connections.size === 0, 'all connections are closed');
});

void t.test('large messages of others on the subject and a subject with an odd name mislead nobody', async (t) => {
  const busy = await listenRaw((socket) => {
    socket.write('INFO {}\r\n');
    socket.on('data', (piece) => {
      const [, own] = /\r\nPUB x \d+\r\n(\S+)\r\n/.exec(piece.toString()) ?? [];
      if (own === undefined) return socket.write('PONG\r\n');
      const other = Buffer.alloc(900_000, 'y').toString();
      return socket.write(`MSG x 1 900000\r\n${other}\r\nMSG x 1 ${own.length}\r\n${own}\r\nPONG\r\n`);
    });
  });
  const strict = await listenRaw((socket) => {
    socket.write('INFO {}\r\n');
    socket.on('data', (piece) => {
      const said = `-ERR 'Permissions Violation for Subscription to "authentication"'\r\n`;
      socket.write(piece.includes('SUB ') ? said : 'PONG\r\n');
    });
  });
  for (const peer of [busy, strict]) t.teardown(peer.stop);
  t.match(await check(busy.port, { subject: 'x' }), { outcome: 'ok' });
  t.match(await check(strict.port, { subject: 'authentication' }), { outcome: 'fail', code: 'broker_denied' });
});

void t.test('settings and targets that cannot be used are refused', async (t) => {
  const defaults = nats.settings().parse({});
  for (const url of ['http://a:1', 'nats://u:p@a', 'a b'])
    t.type(nats.validateTarget({ url }, defaults), 'string', url);
  for (const url of ['nats://example.com', 'tls://example.com:4443', 'example.com', '[::1]:4222'])
    t.equal(nats.validateTarget({ url }, defaults), undefined, url);
  for (const subject of ['a b', 'a.*', '>', 'a..b', 'a\r\nPUB x'])
    t.equal(nats.settings().safeParse({ subject }).success, false, subject);
  t.equal(nats.settings().safeParse({ username: 'a', token: 'b' }).success, false);
  t.equal(nats.settings().safeParse({ jwt: 'abc' }).success, false);
});
