// A worker that decides and sends until it is killed. Arguments: URLs of the database as JSON, the receiver, how far its clock is ahead (ms).
import { openDatabase } from '../../../platform/database/pools.ts';
import type { DatabaseUrls } from '../../../platform/database/pools.ts';
import { asText, compose } from '../../messages/index.ts';
import { bundleOnce } from '../bundling/job.ts';
import type { AlertParts } from '../channels-gateway.ts';
import { planOnce } from '../planning/job.ts';
import { createSender } from './job.ts';

const [urls = '', receiver = '', ahead = '0'] = process.argv.slice(2);
const database = await openDatabase(JSON.parse(urls) as DatabaseUrls, { api: 1, worker: 3 });
const now = (): number => Date.now() + Number(ahead);

const parts: AlertParts = {
  compose,
  asText: (message) => asText(message, { most: 4_000 }),
  channels: {
    keysOf:
      async () =>
      (_, { channel, target }) =>
        `${channel}:${target}`,
    maskTarget: () => '…',
    // Each in a message of its own.
    keepsOpen: () => true,
    keepingOpen: [],
    usable: async (_, targets) => new Set(targets.keys()),
    deliver: async (_, message) => {
      const startedMs = performance.now();
      const answer = await fetch(receiver, { method: 'POST', body: message.id });
      await answer.text();
      return { ok: true, latencyMs: performance.now() - startedMs, reference: null };
    },
  },
};
const sender = createSender({
  pool: database.worker,
  parts,
  publicUrl: 'https://parallax.example',
  replica: `worker ${process.pid}`,
  now,
  log: { warn: () => undefined, error: (...given: readonly unknown[]) => console.error(...given) },
});
for (;;) {
  await planOnce(database.worker, parts, now());
  await bundleOnce(database.worker, parts.channels, now());
  if ((await sender.begin()) === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  await sender.idle();
}
