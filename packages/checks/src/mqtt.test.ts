import t from 'tap';
import { mqtt } from './mqtt.ts';
import { runCheck } from './run.ts';
import { issue } from './testing/certificates.ts';
import { listenRaw, testContext, until } from './testing/context.ts';
import { startMosquitto } from './testing/servers/mosquitto.ts';

const check = (port: number, settings: object = {}, overrides = {}) =>
  runCheck('mqtt', { url: `127.0.0.1:${port}` }, settings, testContext(overrides));

void t.test('a real broker is up in both versions and with every quality of service', async (t) => {
  const broker = await startMosquitto(t);
  if (broker === undefined) return;
  for (const version of ['3.1.1', '5']) {
    t.match(await check(broker.port, { version }), {
      outcome: 'ok',
      phases: { dns: Number, connect: Number, first_byte: Number, transfer: Number },
    });
    for (const qos of [0, 1, 2])
      t.match(await check(broker.port, { version, qos, topic: 'checks/round/trip' }), { outcome: 'ok' }, `qos ${qos}`);
  }
  await broker.stop();
  t.match(await check(broker.port), { outcome: 'fail', code: 'connect_refused', source: 'target' });
});

void t.test('a wrong password and a closed topic are told apart', async (t) => {
  const broker = await startMosquitto(t, {
    config: 'allow_anonymous false\npassword_file FOLDER/users\nacl_file FOLDER/acl',
    files: {
      users: 'anna:correct-horse\nbob:battery-staple\n',
      acl: 'user anna\ntopic readwrite #\nuser bob\ntopic read open/#\n',
    },
  });
  if (broker === undefined) return;
  for (const version of ['3.1.1', '5']) {
    const anna = { version, username: 'anna', password: 'correct-horse' };
    t.match(await check(broker.port, { ...anna, topic: 'x' }), { outcome: 'ok' }, version);
    const wrong = await check(broker.port, { ...anna, password: 'wrong-horse' });
    t.match(wrong, { outcome: 'fail', code: 'broker_auth', source: 'target' }, version);
    t.notMatch(JSON.stringify(wrong), /wrong-horse/);
    t.match(await check(broker.port, { version }), { outcome: 'fail', code: 'broker_auth' }, version);
    const bob = { version, username: 'bob', password: 'battery-staple', topic: 'open/x' };
    const lost = await check(broker.port, bob, { timeoutMs: 400 });
    if (version === '5') t.match(lost, { outcome: 'fail', code: 'broker_denied', message: /open\/x/ });
    else t.match(lost, { outcome: 'timeout', code: 'broker_message', message: /open\/x did not come back/ });
  }
});

void t.test('a broker behind TLS is verified', async (t) => {
  const authority = await issue({ name: 'Test authority', authority: true });
  const leaf = await issue({ name: 'broker', by: authority, addresses: ['127.0.0.1'] });
  const broker = await startMosquitto(t, {
    config: 'allow_anonymous true\ncertfile FOLDER/c.pem\nkeyfile FOLDER/k.pem',
    files: {
      'c.pem': leaf.cert,
      'k.pem': leaf.key,
    },
  });
  if (broker === undefined) return;
  const url = `mqtts://127.0.0.1:${broker.port}`;
  t.match(await runCheck('mqtt', { url }, { ca_certificates: authority.cert, topic: 'x' }, testContext()), {
    outcome: 'ok',
    phases: { tls: Number },
  });
  t.match(await check(broker.port, { tls: 'implicit' }), { outcome: 'fail', code: /^tls_/, source: 'target' });
  t.match(await check(broker.port), { outcome: 'fail', code: /^(broker_closed|broker_protocol|connect_reset)$/ });
});

void t.test('what is no broker fails, and nothing is left', async (t) => {
  const web = await listenRaw((socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')));
  const full = await listenRaw((socket) => socket.once('data', () => socket.end(Buffer.from('20020003', 'hex'))));
  const deaf = await listenRaw((socket) => socket.resume());
  for (const peer of [web, full, deaf]) t.teardown(peer.stop);
  t.match(await check(web.port), { outcome: 'fail', code: /^broker_(protocol|closed)$/, source: 'target' });
  t.match(await check(full.port), { outcome: 'fail', code: 'broker_unavailable', source: 'target' });
  t.match(await check(deaf.port, {}, { timeoutMs: 100 }), { outcome: 'timeout', code: 'response_timeout' });
  for (const peer of [web, full, deaf]) await until(() => peer.connections.size === 0, 'all connections are closed');
});

void t.test('packets that are cut, lie or come without being asked for end the check and nothing else', async (t) => {
  const connack = { '3.1.1': '20020000', '5': '2003000000' };
  const cases: [string, '3.1.1' | '5', string, object][] = [
    ['PUBREL without a number', '3.1.1', '6200', { code: 'broker_protocol' }],
    ['PUBREC without a number', '5', '5000', { code: 'broker_protocol' }],
    ['properties beyond the end', '5', '90040001ff00', { code: 'broker_protocol' }],
    ['a length of five bytes', '3.1.1', '30ffffffffff', { code: 'broker_protocol' }],
    ['a topic beyond the end', '3.1.1', '3002ffff', { code: 'broker_protocol' }],
    ['a packet of a client', '3.1.1', '82020001', { code: 'broker_protocol' }],
    ['quality of service 3', '3.1.1', '3602000161', { code: 'broker_protocol' }],
    ['a refused subscription', '3.1.1', '9003000180', { code: 'broker_denied' }],
    ['a refused message', '5', '9004000100014004000287 00'.replace(' ', ''), { code: 'broker_denied' }],
    ['a session that is taken over', '5', 'e0018e', { code: 'broker_denied', message: /session taken over/ }],
    ['a broker that shuts down', '5', 'e0018b', { code: 'broker_unavailable' }],
  ];
  for (const [what, version, answer, expected] of cases) {
    const peer = await listenRaw((socket) => {
      socket.once('data', () => socket.write(Buffer.from(connack[version], 'hex')));
      // Byte by byte, so that every packet is met in parts.
      socket.on('data', (piece: Buffer) => {
        if (piece[0] === 0x82) for (const byte of Buffer.from(answer, 'hex')) socket.write(Buffer.from([byte]));
      });
    });
    const outcome = await check(peer.port, { version, topic: 'x', qos: 2 });
    t.match(outcome, { outcome: 'fail', source: 'target', ...expected }, what);
    await peer.stop();
  }
});

void t.test('settings and targets that cannot be used are refused', async (t) => {
  const defaults = mqtt.settings().parse({});
  for (const url of ['http://a:1', 'mqtt://u:p@a', 'a b'])
    t.type(mqtt.validateTarget({ url }, defaults), 'string', url);
  for (const url of ['mqtt://example.com', 'mqtts://example.com', 'example.com:1883', '[::1]'])
    t.equal(mqtt.validateTarget({ url }, defaults), undefined, url);
  const nameless = mqtt.settings().parse({ password: 'p' });
  t.match(mqtt.validateTarget({ url: 'example.com' }, nameless), /user name/);
  t.equal(mqtt.validateTarget({ url: 'example.com' }, { ...nameless, version: '5' }), undefined);
  for (const topic of ['a/+', '#', '', 'a\0b']) t.equal(mqtt.settings().safeParse({ topic }).success, false, topic);
});
