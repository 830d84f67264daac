import { leakGuard } from '@parallax/testkit';
import { decodeBatch, decodeSigned } from '@parallax/wire';
import t from 'tap';
import { silentLogger, sleep } from '../ports.ts';
import { aResult, openLog, scratchFolder } from '../testing/results.ts';
import { until } from '../testing/until.ts';
import { Publisher } from './publisher.ts';
import type { PublisherLimits } from './publisher-options.ts';

leakGuard(t);

type Sent = { readonly from: number; readonly to: number; readonly take: () => void; readonly refuse: () => void };

/** A publisher whose broker is the test: each batch is taken or refused by hand. */
async function byHand(t: { teardown(handler: () => unknown): unknown }, limits: Partial<PublisherLimits> = {}) {
  const log = await openLog(scratchFolder(t));
  const sent: Sent[] = [];
  const publisher = new Publisher({
    log,
    broker: {
      connected: true,
      publish: (_subject, payload) =>
        new Promise((resolve, reject) => {
          const signed = decodeSigned(payload);
          const batch = 'refused' in signed ? signed : decodeBatch(signed.batch);
          if ('refused' in batch) throw new Error(batch.refused);
          const from = Number(batch.header.firstSeq);
          const to = from + batch.results.length - 1;
          sent.push({ from, to, take: resolve, refuse: () => reject(new Error('no')) });
        }),
      onConnected: () => {},
      onDisconnected: () => {},
    },
    probeId: 7,
    sign: () => new Uint8Array(64),
    nowMs: () => performance.now(),
    random: () => 0.5,
    logger: silentLogger,
    limits: { holdMs: 5, backOffFirstMs: 5, backOffMostMs: 10, ...limits },
  });
  t.teardown(async () => {
    publisher.stop();
    await log.close();
  });
  publisher.start();
  const append = async (count: number): Promise<void> => {
    for (let n = 1; n <= count; n += 1) log.append(0, n, aResult(n));
    await log.flush();
  };
  return { log, publisher, sent, append, ranges: () => sent.map(({ from, to }) => `${from}-${to}`) };
}

void t.test('batches grow to what the ingest says that it takes, and no further', async (t) => {
  const { publisher, sent, append, ranges } = await byHand(t);
  const next = async (): Promise<string | undefined> => {
    const before = sent.length;
    await append(1_500);
    await until(
      'all of it is published',
      () => sent.reduce((sum, { from, to }) => sum + to - from + 1, 0) % 1_500 === 0,
    );
    for (const { take } of sent.slice(before)) take();
    return ranges()[before];
  };
  t.equal(await next(), '1-100', 'before it says anything');
  publisher.allowBatch(0);
  t.equal(await next(), '1501-1600', 'where it says nothing: an older one');
  publisher.allowBatch(500);
  t.equal(await next(), '3001-3500');
  publisher.allowBatch(1_000_000);
  t.equal(await next(), '4501-5000', 'never more than what every later one takes');
  publisher.allowBatch(1);
  t.equal(await next(), '6001-6100');
});

void t.test('no more than the window is under way', async (t) => {
  const { sent, append, ranges } = await byHand(t, { window: 2 });
  await append(450);
  await until('the window is full', () => sent.length === 2);
  await sleep(30);
  t.strictSame(ranges(), ['1-100', '101-200']);
  sent[0]?.take();
  await until('the next follows', () => sent.length === 3);
  t.equal(ranges()[2], '201-300');
});

void t.test(
  'after a refusal everything from it on is sent again in order, and late answers of before change nothing',
  async (t) => {
    const { sent, append, ranges, publisher, log } = await byHand(t);
    await append(300);
    await until('three are under way', () => sent.length === 3);
    sent[2]?.take();
    sent[0]?.refuse();
    await until('all three again', () => sent.length === 6);
    t.strictSame(ranges().slice(3), ['1-100', '101-200', '201-300']);
    sent[1]?.refuse();
    await sleep(40);
    t.equal(sent.length, 6, 'the late refusal of the second belongs to the past');
    for (const each of sent.slice(3)) each.take();
    publisher.acknowledge([{ epoch: log.epoch, shard: 0, seq: 300 }]);
    await append(1);
    await until('it goes on', () => sent.length === 7);
    t.equal(ranges()[6], '301-301');
  },
);

void t.test('what the control plane misses is sent again once, however often it asks within a second', async (t) => {
  const { sent, append, publisher, log } = await byHand(t);
  await append(200);
  await until('both are under way', () => sent.length === 2);
  for (const each of sent) each.take();
  publisher.resendFrom({ epoch: log.epoch, shard: 0, seq: 101 });
  await until('the second again', () => sent.length === 3);
  t.equal(log.streams()[0]?.acknowledged, 100, 'what is below is committed');
  publisher.resendFrom({ epoch: log.epoch, shard: 0, seq: 101 });
  await sleep(40);
  t.equal(sent.length, 3);
});

void t.test('a pause holds everything back for its time', async (t) => {
  const { sent, append, publisher } = await byHand(t);
  publisher.pause(120);
  const begun = performance.now();
  await append(100);
  await until('published after the pause', () => sent.length === 1);
  t.ok(performance.now() - begun >= 80);
});
