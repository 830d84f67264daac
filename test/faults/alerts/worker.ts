// A worker that decides, bundles and sends webhooks until it is killed. It waits, with everything loaded, until it is told to begin and how far its
// clock is ahead (ms). Arguments: URLs of the database as JSON, the receiver.
import { once } from 'node:events';
import { openDatabase } from '../../../control-plane/src/platform/database/pools.ts';
import type { DatabaseUrls } from '../../../control-plane/src/platform/database/pools.ts';
import { createOutboundClients } from '../../../control-plane/src/platform/outbound-http/index.ts';
import { bundleOnce } from '../../../control-plane/src/response/alerts/bundling/job.ts';
import type { AlertParts } from '../../../control-plane/src/response/alerts/channels-gateway.ts';
import { planOnce } from '../../../control-plane/src/response/alerts/planning/job.ts';
import { createSender } from '../../../control-plane/src/response/alerts/sending/job.ts';
import { createIo } from '../../../control-plane/src/response/channels/io.ts';
import { channelOf } from '../../../control-plane/src/response/channels/registry.ts';
import { asText, compose } from '../../../control-plane/src/response/messages/index.ts';

// Nobody waits for it any more.
process.once('disconnect', () => process.exit());
const [urls = '', receiver = ''] = process.argv.slice(2);
const webhook = channelOf('webhook');
if (webhook === undefined) throw new Error('there are no webhooks');
const database = await openDatabase(JSON.parse(urls) as DatabaseUrls, { api: 1, worker: 3 });
process.send?.('ready');
const [aheadMs] = (await once(process, 'message')) as [number];
const now = (): number => Date.now() + aheadMs;

const outbound = createOutboundClients({
  allowedPrivateTargets: ['127.0.0.0/8'],
  deniedListeners: () => [],
  now,
  version: 'test',
});
const publicUrl = 'https://parallax.example';
const channelParts = {
  outbound,
  baseUrls: {},
  now,
  publicUrl,
  messengerBotToken: undefined,
  mail: async () => undefined,
};
const parts: AlertParts = {
  compose,
  asText: (message) => asText(message, { most: 4_000 }),
  channels: {
    keysOf:
      async () =>
      (_, { channel, target }) =>
        `${channel}:${target}`,
    maskTarget: () => '…',
    // Each in a message of its own, as services are told that know a repetition by its key; but one after the other, as people are.
    keepsOpen: () => true,
    keepingOpen: [],
    usable: async (_, targets) => new Set(targets.keys()),
    deliver: async ({ target: { target } }, message) => {
      const startedMs = performance.now();
      const destinations = [{ key: target, name: target, url: `${receiver}${target}` }];
      const settings = webhook.settings.parse({ destinations });
      const content = webhook.render(message, settings, target);
      await webhook.send(content, { settings, target, message }, createIo(webhook, channelParts, { secrets: [] }));
      return { ok: true, latencyMs: performance.now() - startedMs, reference: null };
    },
  },
};
const sender = createSender({
  pool: database.worker,
  parts,
  publicUrl,
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
