import { createLogger } from '@parallax/telemetry';
import { testContext } from '../../../control-plane/src/identity/testing.ts';
import { eventInboxSubject } from '../../../control-plane/src/platform/bus/subjects.ts';
import { createSealer } from '../../../control-plane/src/platform/crypto/seal.ts';
import { openDatabase } from '../../../control-plane/src/platform/database/pools.ts';
import type { DatabaseUrls } from '../../../control-plane/src/platform/database/pools.ts';
import { createOutboundClients } from '../../../control-plane/src/platform/outbound-http/index.ts';
import { startEvents } from '../../../control-plane/src/response/events/events.job.ts';
import { takeEvents } from '../../../control-plane/src/response/webhooks/index.ts';
import { startWebhooks } from '../../../control-plane/src/response/webhooks/job.ts';
import { loopBus } from '../../../control-plane/src/testing/loop-bus.ts';

// What makes events and sends webhooks, as a worker of the product does, in a process of its own; each message is the hint that something happened.
const urls = JSON.parse(process.env['BENCH_DATABASE_URLS'] ?? '{}') as DatabaseUrls;
const database = await openDatabase(urls, { api: 1, worker: 16 });
const log = createLogger({ name: 'sender', level: 'warn', destination: process.stderr });
const bus = loopBus();
const denied: [] = [];
const context = testContext(database, {
  bus,
  log,
  sealer: createSealer(Buffer.from(process.env['BENCH_KEY'] ?? '', 'base64')),
  outbound: createOutboundClients({
    allowedPrivateTargets: ['127.0.0.1/32'],
    // The same as long as nothing changes, as in the product.
    deniedListeners: () => denied,
    now: Date.now,
    version: '0.0.0',
  }),
});
const services = [await startEvents(context, log, [takeEvents]), await startWebhooks(context, log)];
process.on('message', () => bus.hint(eventInboxSubject, {}));
process.send?.({});
process.once('disconnect', () => {
  // Attempts at the dead receiver take their time; nobody waits for them here.
  setTimeout(() => process.exit(0), 1_000);
  void Promise.all(services.map((service) => service.stop())).then(() => process.exit(0));
});
