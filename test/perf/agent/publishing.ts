import { fork } from 'node:child_process';
import path from 'node:path';
import { createEd25519Pair, ed25519PublicKey } from '@parallax/pki';
import type { Plan } from './measure.ts';
import type { PublishAnswer, PublishCommitted, PublishOrder } from './publish-cost.ts';
import type { World } from './world.ts';

/** Another probe than that of the agent, so that their subjects differ. */
const probeId = 8;

/** Processor time per result, µs, of publishing results that are on disk: one number for each round. */
export async function measurePublishing(plan: Plan, folder: string, world: World): Promise<readonly number[]> {
  const { seed } = createEd25519Pair();
  const publicKey = ed25519PublicKey(seed);
  const child = fork(path.join(import.meta.dirname, 'publish-cost.ts'), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const ingest = world.broker.take(probeId, publicKey, (position) => {
    if (child.connected) child.send(position satisfies PublishCommitted);
    for (const stream of ingest.streams.values()) stream.results.clear();
  });
  const order: PublishOrder = {
    folder,
    probeId,
    seed: Buffer.from(seed).toString('base64'),
    authorityDer: Buffer.from(world.broker.authorityDer).toString('base64'),
    address: world.broker.address,
    ...world.broker.credentials(probeId, publicKey),
    results: plan.published,
    rounds: plan.publishRounds,
  };
  try {
    return await new Promise<readonly number[]>((resolve, reject) => {
      child.once('message', (answer: PublishAnswer) => resolve(answer.costs));
      child.once('close', () => reject(new Error('the process that publishes has ended')));
      child.send(order);
    });
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
}
