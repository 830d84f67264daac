import { fork } from 'node:child_process';
import path from 'node:path';
import { createEd25519Pair, ed25519PublicKey } from '@parallax/pki';
import type { Plan } from './measure.ts';
import type { PublishAnswer, PublishCommitted, PublishOrder } from './publish-cost.ts';
import { nodeOptions } from './world.ts';
import type { World } from './world.ts';

/** Another probe than that of the agent, so that their subjects differ. */
const probeId = 8;
/** A control plane does it every 250 ms: hearing of it is no part of what is measured, nor is waiting for it. */
const acknowledgeEveryMs = 10;

/** Processor time per result, µs, of publishing results that are on disk, and of signing alone: one number for each counted round. */
export async function measurePublishing(plan: Plan, folder: string, world: World): Promise<PublishAnswer> {
  const { seed } = createEd25519Pair();
  const publicKey = ed25519PublicKey(seed);
  const child = fork(path.join(import.meta.dirname, 'publish-cost.ts'), {
    execArgv: nodeOptions(),
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  let committed: PublishCommitted | undefined;
  const ingest = world.broker.take(probeId, publicKey, (position) => {
    committed = position;
    for (const stream of ingest.streams.values()) stream.results.clear();
  });
  const acknowledging = setInterval(() => {
    if (committed !== undefined && child.connected) child.send(committed);
    committed = undefined;
  }, acknowledgeEveryMs);
  const order: PublishOrder = {
    folder,
    probeId,
    seed: Buffer.from(seed).toString('base64'),
    authorityDer: Buffer.from(world.broker.authorityDer).toString('base64'),
    address: world.broker.address,
    ...world.broker.credentials(probeId, publicKey),
    results: plan.published,
    warmUpRounds: plan.publishWarmUps,
    rounds: plan.publishRounds,
  };
  try {
    return await new Promise<PublishAnswer>((resolve, reject) => {
      child.once('message', (answer: PublishAnswer) => resolve(answer));
      child.once('close', () => reject(new Error('the process that publishes has ended')));
      child.send(order);
    });
  } finally {
    clearInterval(acknowledging);
    child.kill('SIGTERM');
    await ended;
  }
}
