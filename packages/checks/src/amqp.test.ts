import t from 'tap';
import { amqp } from './amqp.ts';
import { long, longText, methodFrame, methods, octet, short, shortText, table } from './amqp/frames.ts';
import { runCheck } from './run.ts';
import { listenRaw, testContext, until } from './testing/context.ts';
import { startRabbitmq } from './testing/servers/rabbitmq.ts';

const check = (port: number, settings: object = {}, overrides = {}) =>
  runCheck('amqp', { url: `127.0.0.1:${port}` }, settings, testContext(overrides));

void t.test('a real RabbitMQ is up, and a message comes back', { timeout: 150_000 }, async (t) => {
  const broker = await startRabbitmq(t);
  if (broker === undefined) return;
  t.match(await check(broker.port, {}, { timeoutMs: 20_000 }), {
    outcome: 'ok',
    phases: { dns: Number, connect: Number, first_byte: Number, transfer: Number },
    evidence: { details: { product: 'RabbitMQ', version: /^\d/ } },
  });
  const wrong = await check(broker.port, { password: 'wrong-horse' });
  t.match(wrong, { outcome: 'fail', code: 'broker_auth', source: 'target', message: /ACCESS_REFUSED/ });
  t.notMatch(JSON.stringify(wrong), /wrong-horse/);
  t.match(await check(broker.port, { vhost: 'nowhere' }), { outcome: 'fail', code: 'broker_denied' });
  t.match(await check(broker.port, { queue: 'nothing' }), { code: 'broker_topic', message: /NOT_FOUND/ });
  await broker.stop();
  t.match(await check(broker.port), { outcome: 'fail', code: 'connect_refused', source: 'target' });
});

type Scripted = { readonly after?: Buffer; readonly mechanisms?: string };

/** A broker written from the specification: greets, lets everybody in and answers what `after` says to the first method of channel 1. */
function scripted({ after = Buffer.alloc(0), mechanisms = 'PLAIN AMQPLAIN' }: Scripted) {
  return listenRaw((socket) => {
    const start = [octet(0), octet(9), table({ product: 'Scripted', version: '1' }), longText(mechanisms)];
    socket.once('data', () => {
      socket.write(methodFrame(0, methods.start, ...start, longText('en_US')));
      socket.once('data', () => {
        socket.write(methodFrame(0, methods.tune, short(10), long(131_072), short(60)));
        let step = 0;
        socket.on('data', (bytes) => {
          const text = bytes.toString('latin1');
          if (step === 0 && text.includes('\0\x0a\0\x28')) {
            step = 1;
            socket.write(methodFrame(0, methods.openOk, shortText('')));
          } else if (step === 1) {
            step = 2;
            socket.write(methodFrame(1, methods.channelOpenOk, longText('')));
          } else if (step === 2) {
            step = 3;
            socket.write(after);
          }
        });
      });
    });
  });
}

const queueOk = (name: string, messages: number, consumers: number) =>
  methodFrame(1, methods.queueDeclareOk, shortText(name), long(messages), long(consumers));

void t.test('the length and the consumers of a queue are judged', async (t) => {
  const peer = await scripted({ after: queueOk('jobs', 120, 1) });
  t.teardown(peer.stop);
  const only = { queue: 'jobs', round_trip: false };
  t.match(await check(peer.port, only), { outcome: 'ok', evidence: { details: { messages: 120, consumers: 1 } } });
  t.match(await check(peer.port, { ...only, max_messages: 119 }), {
    outcome: 'fail',
    code: 'broker_topic',
    source: 'target',
    message: /120 messages/,
  });
  t.match(await check(peer.port, { ...only, min_consumers: 2 }), { code: 'broker_topic', message: /1 consumers/ });
});

void t.test('a lost message, a missing login and other protocols are told', async (t) => {
  const empty = Buffer.concat([queueOk('q', 0, 0), methodFrame(1, methods.getEmpty, shortText(''))]);
  const loses = await scripted({ after: empty });
  const external = await scripted({ mechanisms: 'EXTERNAL' });
  const refused = methodFrame(
    1,
    methods.channelClose,
    short(403),
    shortText("ACCESS_REFUSED - no queue 'login' s3cret-word"),
  );
  const denies = await scripted({ after: refused });
  const newer = await listenRaw((socket) => socket.once('data', () => socket.end('AMQP\0\x01\0\0')));
  const web = await listenRaw((socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')));
  for (const peer of [loses, external, denies, newer, web]) t.teardown(peer.stop);
  t.match(await check(loses.port), { outcome: 'fail', code: 'broker_message', source: 'target' });
  t.match(await check(external.port), { outcome: 'fail', code: 'broker_auth', message: /EXTERNAL/ });
  const denied = await check(denies.port, { password: 's3cret-word' });
  t.match(denied, { outcome: 'fail', code: 'broker_denied', message: /\[redacted\]/ });
  t.notMatch(JSON.stringify(denied), /s3cret-word/);
  t.match(await check(newer.port), { outcome: 'fail', code: 'broker_protocol', message: /1-0-0/ });
  t.match(await check(web.port), { outcome: 'fail', code: 'broker_protocol' });
  for (const peer of [loses, denies]) await until(() => peer.connections.size === 0, 'all connections are closed');
});

void t.test('settings and targets that cannot be used are refused', async (t) => {
  const defaults = amqp.settings().parse({});
  for (const url of ['http://a:1', 'amqp://u:p@a', 'a b'])
    t.type(amqp.validateTarget({ url }, defaults), 'string', url);
  for (const url of ['amqp://example.com', 'amqps://example.com', 'example.com:5672', '[::1]'])
    t.equal(amqp.validateTarget({ url }, defaults), undefined, url);
  t.equal(amqp.settings().safeParse({ queue: 'q'.repeat(256) }).success, false);
  t.equal(amqp.settings().safeParse({ vhost: 'a\0b' }).success, false);
});
