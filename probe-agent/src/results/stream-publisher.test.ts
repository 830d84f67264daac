import { connect } from '@nats-io/transport-node';
import { natsServer } from '@parallax/testkit';
import t from 'tap';
import { createResultStream } from '../testing/ingest.ts';
import { StreamPublisher } from './stream-publisher.ts';

const payload = new Uint8Array([1, 2, 3]);
const now = (): number => performance.now();
const timers = (): number => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;

void t.test(
  'a message is taken when its stream says so, and every other answer is a refusal that says why',
  async (t) => {
    const server = await natsServer(t);
    const connection = await connect({ servers: `127.0.0.1:${server.port}`, reconnect: false });
    t.teardown(() => connection.close());
    await createResultStream(connection, ['results.7.*']);
    const answers: Record<string, string | undefined> = {
      empty: '',
      'no-json': 'taken',
      number: '7',
      nobody: '{"seq":1}',
      unnamed: '{"stream":"","seq":1}',
      refused: '{"error":{"code":503,"err_code":10077,"description":"maximum messages per subject exceeded"}}',
      silent: undefined,
    };
    for (const [subject, answer] of Object.entries(answers)) {
      connection.subscribe(subject, {
        callback: (_error, message) => {
          if (answer !== undefined) message.respond(answer);
        },
      });
    }
    const publisher = new StreamPublisher(connection, '_INBOX_7', now);
    const publish = (subject: string, timeoutMs = 10_000): Promise<void> =>
      publisher.publish(subject, payload, timeoutMs);
    await Promise.all([publish('results.7.0'), publish('results.7.1'), publish('results.7.0')]);
    await t.rejects(publish('results.8.0'), /no stream takes/);
    await t.rejects(publish('empty'), /is empty/);
    await t.rejects(publish('no-json'), /cannot be read/);
    await t.rejects(publish('number'), /cannot be read/);
    await t.rejects(publish('nobody'), /names no stream/);
    await t.rejects(publish('unnamed'), /names no stream/);
    await t.rejects(publish('refused'), /refused it: .*maximum messages/);
    const late = t.rejects(publish('silent', 30), /in time/);
    await publish('results.7.0');
    await late;
    await t.rejects(publish('silent', 30), /in time/, 'and again after that');
  },
);

void t.test('when the connection has ended nothing is awaited any more, and no timer is left', async (t) => {
  const server = await natsServer(t);
  const connection = await connect({ servers: `127.0.0.1:${server.port}`, reconnect: false });
  connection.subscribe('silent', { callback: () => undefined });
  const publisher = new StreamPublisher(connection, '_INBOX_7', now);
  const before = timers();
  const waiting = [1, 2, 3].map(() => publisher.publish('silent', payload, 60_000));
  t.equal(timers(), before + 1, 'one timer for all');
  publisher.fail(new Error('it is over'));
  for (const each of waiting) await t.rejects(each, /it is over/);
  t.equal(timers(), before);
  await connection.close();
  const closed = timers();
  await t.rejects(publisher.publish('silent', payload, 60_000), /closed/i);
  t.equal(timers(), closed, 'what cannot be sent is not awaited');
});
