import path from 'node:path';
import { ed25519PublicKey, signEd25519 } from '@parallax/pki';
import { maxBatchResults } from '@parallax/wire';
import { silentLogger } from '../../../probe-agent/src/ports.ts';
import { BrokerConnection } from '../../../probe-agent/src/results/broker.ts';
import { ResultLog } from '../../../probe-agent/src/results/log.ts';
import { Publisher } from '../../../probe-agent/src/results/publisher.ts';
import { aResult } from '../../../probe-agent/src/testing/results.ts';

/* A process of its own: results that are on disk already are read, put into batches, signed, published and acknowledged. */

/** What the bench asks for. Bytes in base64. */
export type PublishOrder = {
  readonly folder: string;
  readonly probeId: number;
  readonly seed: string;
  readonly authorityDer: string;
  readonly address: string;
  readonly jwt: string;
  readonly expiresAtMs: number;
  readonly results: number;
  /** Rounds that are not counted: in them the code is compiled. */
  readonly warmUpRounds: number;
  readonly rounds: number;
};

/** What each counted round cost, µs a result: all of it, and as many signatures of as many bytes by themselves. */
export type PublishAnswer = { readonly costs: readonly number[]; readonly signing: readonly number[] };
/** What is committed and so may be freed, from the bench to this process. */
export type PublishCommitted = { readonly epoch: number; readonly shard: number; readonly seq: number };

process.on('disconnect', () => process.exit(0));
process.once('message', (order: PublishOrder) => {
  void measure(order);
});

async function measure(order: PublishOrder): Promise<void> {
  const seed = new Uint8Array(Buffer.from(order.seed, 'base64'));
  let lastSigned: Uint8Array = new Uint8Array(0);
  let signatures = 0;
  const sign = (content: Uint8Array): Uint8Array => {
    lastSigned = content;
    signatures += 1;
    return signEd25519(seed, content);
  };
  const log = await ResultLog.open({
    folder: path.join(order.folder, 'publish-log'),
    bootId: 'bench',
    monotonicUs: () => Math.round(performance.now() * 1_000),
    wallMs: Date.now,
    logger: silentLogger,
    onFatal: (error) => {
      throw error;
    },
  });
  const broker = new BrokerConnection({
    probeId: order.probeId,
    signingPublicKey: ed25519PublicKey(seed),
    sign,
    authorityDer: Buffer.from(order.authorityDer, 'base64'),
    requestCredentials: () => undefined,
    random: Math.random,
    wallMs: Date.now,
    logger: silentLogger,
  });
  broker.setAddress(order.address);
  broker.setCredentials({ jwt: order.jwt, expiresAtMs: order.expiresAtMs });
  broker.start();
  const publisher = new Publisher({
    log,
    broker,
    probeId: order.probeId,
    sign,
    nowMs: () => performance.now(),
    random: Math.random,
    logger: silentLogger,
    limits: { overtakeResults: Infinity },
  });
  process.on('message', (committed: PublishCommitted) => publisher.acknowledge([committed]));
  await until(() => broker.connected);
  publisher.allowBatch(maxBatchResults);
  publisher.start();
  const costs: number[] = [];
  const signing: number[] = [];
  for (let round = -order.warmUpRounds; round < order.rounds; round += 1) {
    publisher.pause(60_000);
    const startUs = Date.now() * 1_000;
    for (let index = 0; index < order.results; index += 1)
      log.append(0, index, aResult(1 + (index % 10_000), { effectiveUs: startUs + index * 100 }));
    await log.flush();
    signatures = 0;
    const before = process.cpuUsage();
    publisher.pause(0);
    publisher.wake();
    await until(() => log.waiting.results === 0);
    const cost = usSince(before);
    const beforeSigning = process.cpuUsage();
    for (let index = signatures; index > 0; index -= 1) signEd25519(seed, lastSigned);
    const signingCost = usSince(beforeSigning);
    if (round < 0) continue;
    costs.push(cost / order.results);
    signing.push(signingCost / order.results);
  }
  publisher.stop();
  await broker.stop();
  await log.close();
  process.send?.({ costs, signing } satisfies PublishAnswer);
  process.disconnect();
}

function usSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}
