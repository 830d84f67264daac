import t from 'tap';
import { natsServer, quietLog } from '@parallax/testkit';
import type { TestContext } from '@parallax/testkit';
import { connectBus } from './nats-bus.ts';
import { ensureResultsStream, messagesPerSubject, resultsStream, resultSubjects } from './results-stream.ts';

const nats = await natsServer(t);

async function openBus(test: TestContext) {
  const bus = await connectBus({ servers: nats.url, name: 'test', log: quietLog });
  test.teardown(() => bus.close());
  return bus;
}

async function eventually(check: () => Promise<boolean> | boolean): Promise<void> {
  for (const until = performance.now() + 30_000; performance.now() < until; ) {
    if (await check()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('not within 30 s');
}

t.test('a request is answered by what a listener returns, and by nothing when nobody listens', async (t) => {
  const bus = await openBus(t);
  const listening = bus.listen('ask.sum', (message) => ({ sum: (message as number[]).reduce((a, b) => a + b, 0) }));
  t.same(await bus.ask('ask.sum', [1, 2, 3], 1_000), { sum: 6 });
  t.equal(await bus.ask('ask.nobody', {}, 1_000), undefined);
  listening.stop();
  t.equal(await bus.ask('ask.sum', [1], 1_000), undefined);
});

t.test('a listener that fails, or is sent rubbish, answers nothing and goes on', async (t) => {
  const bus = await openBus(t);
  bus.listen('fails', (message) => {
    if (message === 'fail') throw new Error('no');
    return { fine: true };
  });
  t.equal(await bus.ask('fails', 'fail', 50), undefined);
  bus.connection.publish('fails', 'no json');
  t.same(await bus.ask('fails', 'go on', 1_000), { fine: true });
});

t.test('hints vanish while the broker is away, and flow again when it is back', async (t) => {
  const bus = await openBus(t);
  const heard: unknown[] = [];
  bus.listen('hint', (message) => {
    heard.push(message);
  });
  bus.hint('hint', 1);
  await eventually(() => heard.length === 1);
  await nats.kill();
  await eventually(async () => (await bus.ask('hint', 'away', 50)) === undefined);
  await new Promise((resolve) => setTimeout(resolve, 20));
  bus.hint('hint', 2);
  await nats.start();
  await eventually(() => {
    bus.hint('hint', 3);
    return heard.includes(3);
  });
  t.notOk(heard.includes(2), 'what was hinted meanwhile is not sent later');
});

t.test('the stream takes exactly the subjects of the probes that exist, and follows them', async (t) => {
  const bus = await openBus(t);
  const takes = async (subject: string): Promise<boolean> => {
    const answer = await bus.connection.request(subject, 'x', { timeout: 1_000 }).catch(() => undefined);
    return answer?.json<{ stream?: string }>().stream === resultsStream;
  };
  await ensureResultsStream(bus.connection, { shards: 2, probeIds: [7] });
  t.same(await Promise.all(['results.7.0', 'results.7.1', 'results.7.2', 'results.8.0'].map(takes)), [
    true,
    true,
    false,
    false,
  ]);
  await ensureResultsStream(bus.connection, { shards: 2, probeIds: [8, 7] });
  await ensureResultsStream(bus.connection, { shards: 2, probeIds: [7, 8] });
  t.same(await Promise.all(['results.7.0', 'results.8.1', 'results.9.0'].map(takes)), [true, true, false]);
  await ensureResultsStream(bus.connection, { shards: 2, probeIds: [8] });
  t.same(await Promise.all(['results.7.0', 'results.8.1'].map(takes)), [false, true]);
  t.same(resultSubjects(1, []), ['results.0.0'], 'without probes there is a subject that nobody may publish on');
});

t.test('a full subject refuses new messages instead of forgetting old ones, and leaves the others alone', async (t) => {
  const bus = await openBus(t);
  await ensureResultsStream(bus.connection, { shards: 1, probeIds: [1, 2] });
  for (let count = 0; count < messagesPerSubject; count += 1) bus.connection.publish('results.1.0', String(count));
  const publish = async (subject: string) =>
    (await bus.connection.request(subject, 'x', { timeout: 2_000 })).json<{ error?: object }>();
  t.ok((await publish('results.1.0')).error, 'the probe learns that it was refused');
  t.notOk((await publish('results.2.0')).error);
});
