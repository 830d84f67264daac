import { rmSync } from 'node:fs';
import path from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import { createEd25519Pair, signEd25519 } from '@parallax/pki';
import { leakGuard, natsServer } from '@parallax/testkit';
import type { TestNatsServer } from '@parallax/testkit';
import { errorCodes } from '@parallax/checks';
import t from 'tap';
import { silentLogger } from '../ports.ts';
import { TestIngest, consume, createResultStream } from '../testing/ingest.ts';
import { aResult, openLog, scratchFolder } from '../testing/results.ts';
import { until } from '../testing/until.ts';
import { BrokerConnection } from './broker.ts';
import type { ResultLog } from './log.ts';
import { Publisher } from './publisher.ts';
import type { PublisherLimits } from './publisher-options.ts';

leakGuard(t);

const pair = createEd25519Pair();
const sign = (content: Uint8Array): Uint8Array => signEd25519(pair.seed, content);

type Test = { teardown(handler: () => unknown): unknown };

/** A publisher on a log and a real broker. `acknowledges` false: what the ingest commits is not told to the probe. */
async function publishing(
  t: Test,
  options: { server?: TestNatsServer; log?: ResultLog; limits?: Partial<PublisherLimits>; acknowledges?: boolean } = {},
) {
  const server = options.server ?? (await natsServer(t));
  const log = options.log ?? (await openLog(scratchFolder(t)));
  const ingest = new TestIngest(pair.publicKey);
  const broker = new BrokerConnection({
    probeId: 7,
    signingPublicKey: pair.publicKey,
    sign,
    authorityDer: undefined,
    requestCredentials: () => {},
    random: Math.random,
    wallMs: Date.now,
    logger: silentLogger,
  });
  const publisher = new Publisher({
    log,
    broker,
    probeId: 7,
    sign,
    nowMs: () => performance.now(),
    random: Math.random,
    logger: silentLogger,
    limits: { holdMs: 20, publishTimeoutMs: 500, ...options.limits },
  });
  t.teardown(async () => {
    publisher.stop();
    await broker.stop();
    await log.close();
  });
  let service: NatsConnection | undefined;
  const listen = async (): Promise<void> => {
    await service?.close();
    service = await connect({ servers: `127.0.0.1:${server.port}`, reconnect: false });
    await createResultStream(service, ['results.7.*']);
    await consume(service, (message) => {
      const taken = ingest.take(message.data);
      message.ack();
      if (taken === undefined) return;
      if ('missing' in taken) publisher.resendFrom(taken.missing);
      else if (options.acknowledges !== false) publisher.acknowledge([taken.committed]);
    });
  };
  t.teardown(() => service?.close());
  await listen();
  broker.setAddress(`127.0.0.1:${server.port}`);
  broker.setCredentials({ jwt: '', expiresAtMs: Date.now() + 3_600_000 });
  publisher.start();
  publisher.sessionChanged(true);
  broker.start();
  await until('the broker is connected', () => broker.connected);
  return { server, log, ingest, broker, publisher, listen, service: () => service };
}

function append(log: ResultLog, from: number, to: number, shard = 0, urgent = false): void {
  for (let monitorId = from; monitorId <= to; monitorId += 1) log.append(shard, monitorId, aResult(monitorId), urgent);
}

const monitors = (ingest: TestIngest): number[] => ingest.all.map((result) => result.monitorId).sort((a, b) => a - b);
const upTo = (n: number): number[] => Array.from({ length: n }, (_, index) => index + 1);

void t.test('every result arrives once, in full batches, and is freed when it is committed', async (t) => {
  const { log, ingest } = await publishing(t);
  append(log, 1, 450);
  append(log, 451, 460, 3);
  await until('all have arrived', () => ingest.all.length === 460);
  t.strictSame(monitors(ingest), upTo(460));
  t.ok(ingest.batches <= 8, `${ingest.batches} batches`);
  await until('all are freed', () => log.waiting.results === 0);
  t.strictSame(ingest.refused, []);
});

void t.test('a first failure goes out at once, with its evidence', async (t) => {
  const { log, ingest } = await publishing(t, { limits: { holdMs: 60_000 } });
  append(log, 1, 3);
  const evidence = { message: 'refused', json: '{"address":"192.0.2.1"}' };
  log.append(
    0,
    4,
    aResult(4, { outcome: 'fail', source: 'target', error: errorCodes.connect_refused, evidence }),
    true,
  );
  await until('it has arrived, with what was before it', () => ingest.all.length === 4, 3_000);
  t.match(ingest.all[3], { outcome: 'fail', evidence });
});

void t.test('the broker killed again and again, once with its store wiped: none lost, none doubled', async (t) => {
  const { log, ingest, server, listen } = await publishing(t, { limits: { resendAfterMs: 400 } });
  let next = 1;
  const feed = setInterval(() => {
    append(log, next, next + 19);
    next += 20;
  }, 10);
  t.teardown(() => clearInterval(feed));
  for (let round = 0; round < 3; round += 1) {
    const reached = ingest.all.length + 100;
    await until('results flow', () => ingest.all.length > reached);
    await server.kill();
    if (round === 1) rmSync(path.join(server.dataDir, 'nats', 'jetstream'), { recursive: true, force: true });
    await server.start();
    await listen();
  }
  clearInterval(feed);
  await log.flush();
  await until('all have arrived', () => ingest.all.length >= next - 1);
  t.strictSame(monitors(ingest), upTo(next - 1));
  await until('all are freed', () => log.waiting.results === 0);
});

void t.test(
  'it goes back when the control plane misses something, and asking for it twice sends it once',
  async (t) => {
    const { log, ingest, publisher, service } = await publishing(t);
    append(log, 1, 250);
    await until('all have arrived', () => ingest.all.length === 250);
    const stream = [...ingest.streams.values()][0];
    const manager = await jetstreamManager(service() ?? (t.fail('not connected') as never));
    t.equal((await manager.streams.info('RESULTS')).state.messages, 0);
    if (stream !== undefined) {
      stream.cursor = 120;
      for (let seq = 121; seq <= 250; seq += 1) stream.results.delete(seq);
    }
    const before = ingest.batches;
    publisher.resendFrom({ epoch: log.epoch, shard: 0, seq: 121 });
    publisher.resendFrom({ epoch: log.epoch, shard: 0, seq: 121 });
    await until('the rest has arrived again', () => ingest.all.length === 250);
    t.equal(ingest.batches - before, 2);
    publisher.resendFrom({ epoch: 1, shard: 0, seq: 1 });
    publisher.resendFrom({ epoch: log.epoch, shard: 0, seq: 9_999 });
    append(log, 251, 252);
    await until('it goes on', () => ingest.all.length === 252);
  },
);

void t.test(
  'what is not acknowledged in time is published again, but only while acknowledgements could come',
  async (t) => {
    const { log, ingest, publisher } = await publishing(t, { acknowledges: false, limits: { resendAfterMs: 200 } });
    publisher.sessionChanged(false);
    append(log, 1, 50);
    await until('all have arrived', () => ingest.all.length === 50);
    const { batches } = ingest;
    await new Promise((resolve) => setTimeout(resolve, 400));
    t.equal(ingest.batches, batches, 'nothing is repeated without a session');
    publisher.sessionChanged(true);
    await until('published again', () => ingest.batches > batches);
    await until('all of it as duplicates', () => [...ingest.streams.values()][0]?.duplicates === 50);
    publisher.acknowledge([{ epoch: log.epoch, shard: 0, seq: 50 }]);
    t.equal(log.waiting.results, 0);
  },
);

void t.test('a broker that refuses (a full subject) is tried again until it takes the batch', async (t) => {
  const { log, ingest, service, listen } = await publishing(t, { limits: { backOffMostMs: 50 } });
  const manager = await jetstreamManager(service() ?? (t.fail('not connected') as never));
  await manager.streams.delete('RESULTS');
  append(log, 1, 150);
  await log.flush();
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.equal(ingest.all.length, 0);
  await listen();
  await until('all have arrived', () => ingest.all.length === 150);
});

void t.test(
  'after an outage live results overtake the backlog in a new epoch, and the backlog follows beside them',
  async (t) => {
    const { log, ingest, server, listen } = await publishing(t, {
      limits: { overtakeResults: 200, drainLeastPerSecond: 1_000 },
    });
    const before = log.epoch;
    await server.stop();
    append(log, 1, 2_000);
    await log.flush();
    await server.start();
    await until('live results go to a new epoch', () => log.epoch > before);
    await listen();
    append(log, 2_001, 2_010);
    await until('the live results have arrived', () => ingest.all.some((result) => result.monitorId === 2_010));
    t.ok(ingest.all.length < 2_010, 'before the whole of the backlog');
    await until('the backlog has arrived', () => ingest.all.length === 2_010);
    t.strictSame(monitors(ingest), upTo(2_010));
    await until('the old epoch is done with', () => log.epochs.length === 1);
  },
);

void t.test('what a restart finds in the log is published, with what was lost of it', async (t) => {
  const folder = scratchFolder(t);
  const first = await openLog(folder, { limits: { segmentBytes: 3_000, maxBytes: 9_000 } });
  for (let n = 1; n <= 200; n += 20) {
    append(first, n, n + 19);
    await first.flush();
  }
  first.enforceLimits(undefined);
  await first.flush();
  const { epoch } = first;
  await first.close();
  const log = await openLog(folder);
  append(log, 201, 210);
  const { ingest } = await publishing(t, { log });
  await until(
    'both epochs have arrived',
    () => ingest.streams.get(`${epoch}/0`)?.cursor === 200 && ingest.streams.get(`${log.epoch}/0`)?.cursor === 10,
  );
  const old = ingest.streams.get(`${epoch}/0`);
  const lost = (old?.lost ?? []).reduce((sum, range) => sum + Number(range.toSeq - range.fromSeq) + 1, 0);
  t.ok(lost > 0);
  t.equal(lost + (old?.results.size ?? 0), 200);
});

void t.test(
  'a control plane that was restored gets what is still here, is told what is lost, and what it misses is not freed meanwhile',
  async (t) => {
    const log = await openLog(scratchFolder(t), { limits: { segmentBytes: 16 * 1024 } });
    const { ingest } = await publishing(t, { log });
    for (const from of [1, 101, 201, 301]) {
      append(log, from, from + 99);
      await until('the part has arrived', () => ingest.all.length === from + 99);
    }
    await until('all is acknowledged', () => log.waiting.results === 0);
    const [stream] = [...ingest.streams.values()];
    if (stream === undefined) throw new Error('there is no stream');
    await until('the oldest segments are freed', () => log.bytes < 32 * 1024);

    // As after a restore: the cursor of the backup, and nothing of what came later.
    stream.cursor = 20;
    for (const seq of stream.results.keys()) if (seq > 20) stream.results.delete(seq);
    append(log, 401, 410);
    await until('the newest result has arrived', () => stream.cursor === 410);
    t.match(stream.lost, [{ fromSeq: 21n }]);
    const firstHeld = Number(stream.lost[0]?.toSeq) + 1;
    t.ok(firstHeld > 50 && firstHeld < 400, `what is still here is sent: from ${firstHeld}`);
    t.strictSame(monitors(ingest), [...upTo(20), ...upTo(410).slice(firstHeld - 1)]);
    await until('all is acknowledged again', () => log.waiting.results === 0);
    t.strictSame(ingest.refused, []);
  },
);

void t.test('what the control plane asks for again is kept until it is acknowledged anew', async (t) => {
  const folder = scratchFolder(t);
  const log = await openLog(folder, { limits: { segmentBytes: 16 * 1024 } });
  append(log, 1, 100);
  await log.flush();
  const [stream] = log.streams();
  if (stream === undefined) throw new Error('there is no stream');
  log.acknowledge([{ epoch: stream.epoch, shard: 0, seq: 100 }]);
  stream.rewind(30);
  append(log, 101, 400);
  await log.flush();
  log.acknowledge([{ epoch: stream.epoch, shard: 0, seq: 40 }]);
  await log.close();
  const again = await openLog(folder);
  t.teardown(() => again.close());
  const [kept] = again.streams();
  t.match(kept, { acknowledged: 40, synced: 400, lost: [] }, 'also over a restart');
});

void t.test('what was acknowledged and is asked for again waits for its acknowledgement again', async (t) => {
  const { log, ingest, publisher } = await publishing(t, { acknowledges: false });
  append(log, 1, 100);
  await until('all have arrived', () => ingest.all.length === 100);
  publisher.acknowledge([{ epoch: log.epoch, shard: 0, seq: 100 }]);
  t.equal(log.waiting.results, 0);
  publisher.resendFrom({ epoch: log.epoch, shard: 0, seq: 31 });
  t.equal(log.waiting.results, 70);
});
