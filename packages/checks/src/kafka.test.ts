import t from 'tap';
import { kafka } from './kafka.ts';
import { apis, int16, int32 } from './kafka/wire.ts';
import { runCheck } from './run.ts';
import { issue } from './testing/certificates.ts';
import { listen, listenRaw, testContext, until } from './testing/context.ts';
import { speakKafka, startKafka } from './testing/servers/kafka.ts';
import tls from 'node:tls';

const check = (port: number, settings: object = {}, overrides = {}) =>
  runCheck('kafka', { url: `127.0.0.1:${port}` }, settings, testContext(overrides));

void t.test('a broker is up in every version of its answer, and its facts are shown', async (t) => {
  for (const newest of [4, 5, 7, 12]) {
    const peer = await startKafka(t, { metadataVersions: [0, newest] });
    t.match(await check(peer.port, { topic: 'orders', min_in_sync: 3 }), {
      outcome: 'ok',
      phases: { dns: Number, connect: Number, first_byte: Number, transfer: Number },
      evidence: { details: { brokers: 3, cluster: 'the-cluster', controller: 1, partitions: 2, under_replicated: 0 } },
    });
    await until(() => peer.connections.size === 0, 'all connections are closed');
  }
  const peer = await startKafka(t);
  t.match(await check(peer.port), { outcome: 'ok' });
  await peer.stop();
  t.match(await check(peer.port), { outcome: 'fail', code: 'connect_refused', source: 'target' });
  const future = await startKafka(t, { metadataVersions: [9, 14] });
  t.match(await check(future.port), { code: 'broker_protocol', message: /in common/ });
});

void t.test('logins by password and by SCRAM are told from wrong ones', async (t) => {
  const peer = await startKafka(t, { users: { anna: 'correct-horse' } });
  for (const method of ['plain', 'scram-sha-256']) {
    const anna = { login_method: method, username: 'anna', password: 'correct-horse' };
    t.match(await check(peer.port, anna), { outcome: 'ok' }, method);
    const wrong = await check(peer.port, { ...anna, password: 'wrong-horse' });
    t.match(wrong, { outcome: 'fail', code: 'broker_auth', source: 'target', message: /refused the cred/ }, method);
    t.notMatch(JSON.stringify(wrong), /wrong-horse/);
  }
  t.match(await check(peer.port, { login_method: 'scram-sha-512', username: 'anna', password: 'x' }), {
    code: 'broker_auth',
    message: /SCRAM-SHA-256 PLAIN/,
  });
  t.match(await check(peer.port), { outcome: 'fail', code: 'broker_auth', message: /without a login/ });
});

void t.test('a small cluster and a sick topic fail', async (t) => {
  const small = await startKafka(t, { brokers: 2 });
  t.match(await check(small.port, { min_brokers: 3 }), { code: 'broker_unavailable', message: /2 brokers/ });
  const missing = await startKafka(t, { topicError: 3, leaders: [] });
  t.match(await check(missing.port, { topic: 'x' }), { outcome: 'fail', code: 'broker_topic', source: 'target' });
  const denied = await startKafka(t, { topicError: 29, leaders: [] });
  t.match(await check(denied.port, { topic: 'x' }), { code: 'broker_denied' });
  const headless = await startKafka(t, { leaders: [0, -1, 2] });
  t.match(await check(headless.port, { topic: 'x' }), { code: 'broker_topic', message: /1 of 3 partitions/ });
  const behind = await startKafka(t, { inSync: 1 });
  t.match(await check(behind.port, { topic: 'x' }), { outcome: 'ok', evidence: { details: { under_replicated: 2 } } });
  t.match(await check(behind.port, { topic: 'x', min_in_sync: 2 }), { code: 'broker_topic', message: /1 replicas/ });
});

void t.test('a broker behind TLS is verified', async (t) => {
  const authority = await issue({ name: 'Test authority', authority: true });
  const leaf = await issue({ name: 'broker', by: authority, addresses: ['127.0.0.1'] });
  const server = tls.createServer({ cert: leaf.cert, key: leaf.key });
  server.on('secureConnection', (socket) =>
    speakKafka(
      socket.on('error', () => undefined),
      {},
    ),
  );
  const peer = await listen(server);
  t.teardown(peer.stop);
  const url = `kafkas://127.0.0.1:${peer.port}`;
  t.match(await runCheck('kafka', { url }, { ca_certificates: authority.cert }, testContext()), {
    outcome: 'ok',
    phases: { tls: Number },
  });
  t.match(await runCheck('kafka', { url }, {}, testContext()), { outcome: 'fail', code: /^tls_/ });
});

void t.test('answers that are cut, foreign or too costly are breaches of the protocol', async (t) => {
  const web = await listenRaw((socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')));
  const cut = await listenRaw((socket) =>
    socket.once('data', () => {
      const body = Buffer.concat([int32(apis.apiVersions), int16(0), int32(2_000_000_000)]);
      socket.write(Buffer.concat([int32(body.length), body]));
    }),
  );
  const foreign = await listenRaw((socket) =>
    socket.once('data', () => socket.write(Buffer.alloc(12, 1).fill(0, 0, 3))),
  );
  for (const peer of [web, cut, foreign]) {
    t.teardown(peer.stop);
    t.match(await check(peer.port), { outcome: 'fail', code: 'broker_protocol', source: 'target' });
  }
  const { scramFinal, scramFirst } = await import('./data/scram.ts');
  const first = scramFirst('a', 'abc');
  t.type(await scramFinal(first, 'r=abcdef,s=QQ==,i=9999999', 'p', {}), 'string');
  t.type(await scramFinal(first, 'r=xyzdef,s=QQ==,i=4096', 'p', {}), 'string');
});

void t.test('the proof is the one of the example in the specification', async (t) => {
  const { scramFinal, scramFirst, scramVerified } = await import('./data/scram.ts');
  // RFC 7677, section 3.
  const challenge = 'r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096';
  const final = await scramFinal(scramFirst('user', 'rOprNGfwEbeRWgbNEkqO'), challenge, 'pencil', {});
  if (typeof final === 'string') throw new Error(final);
  t.match(final.message, /,p=dHzbZapWIk4jUhN\+Ute9ytag9zjfMHgsqmmiz7AndVQ=$/);
  t.equal(scramVerified(final, 'v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4='), true);
  t.equal(scramVerified(final, 'v=AAAA'), false);
});

void t.test('settings and targets that cannot be used are refused', async (t) => {
  const defaults = kafka.settings().parse({});
  for (const url of ['http://a:1', 'kafka://u:p@a', 'a b'])
    t.type(kafka.validateTarget({ url }, defaults), 'string', url);
  for (const url of ['kafka://example.com', 'example.com:9092', '[::1]'])
    t.equal(kafka.validateTarget({ url }, defaults), undefined, url);
  t.equal(kafka.settings().safeParse({ topic: 'a b' }).success, false);
  t.equal(kafka.settings().safeParse({ password: 'a' }).success, false);
});
