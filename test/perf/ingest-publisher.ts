import { connect } from '@nats-io/transport-node';
import { result, message } from '../../control-plane/src/monitoring/check-results/ingest/testing/fixture.ts';
import { batchRows, permutation, positionUs } from './ingest-load.ts';
import type { PublisherOrder } from './ingest-load.ts';

/* A process of its own, so that its time is not counted: signs batches of three probes and publishes them, a window at a time. */

type Progress = { readonly committedMessages: number };

let committed = 0;
let wake: () => void = () => undefined;
process.on('SIGTERM', () => process.exit(0));
process.on('disconnect', () => process.exit(0));
process.once('message', (order: PublisherOrder) => {
  process.on('message', (progress: Progress) => {
    committed = progress.committedMessages;
    wake();
  });
  void publish(order);
});

async function publish({ natsUrl, startUs, windowMessages, monitors, probes }: PublisherOrder): Promise<void> {
  const connection = await connect({ servers: natsUrl });
  const senders = probes.map(({ id, seed }) => ({
    probe: { id, region: '', seed: Buffer.from(seed, 'base64') },
    order: permutation(monitors, id),
  }));
  // The stream learns its subjects when the ingest has started.
  for (const { probe } of senders) {
    for (;;) {
      const answer = await connection
        .request(`results.${probe.id}.0`, batch(probe, 0), { timeout: 1_000 })
        .catch(() => undefined);
      if (answer?.json<{ stream?: string }>().stream === 'RESULTS') break;
    }
  }
  function batch(probe: (typeof senders)[number]['probe'], number: number): Uint8Array {
    const sender = senders.find((one) => one.probe === probe);
    const results = Array.from({ length: batchRows }, (_, index) => {
      const position = number * batchRows + index;
      return result(sender?.order[position % monitors.length] ?? 1, startUs + positionUs(position), {
        totalUs: 20_000 + ((position * 7919) % 9_000),
      });
    });
    return message(probe, { epoch: 1, shard: 0, firstSeq: number * batchRows + 1 }, results);
  }
  for (let number = 1; ; number += 1) {
    for (const { probe } of senders) {
      while (number * senders.length - committed >= windowMessages) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      // Without waiting for the broker's acknowledgement: what it did not take would show as a gap, and the count would not add up.
      connection.publish(`results.${probe.id}.0`, batch(probe, number));
    }
  }
}
