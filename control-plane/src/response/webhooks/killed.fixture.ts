// A worker that sends webhooks until it is killed. Arguments: URLs of the database as JSON, the sealing key in base64, how far its clock is ahead (ms),
// and which of its lives this is: receivers see it as the version, and the database as the owner of leases.
import { createSealer } from '../../platform/crypto/seal.ts';
import { openDatabase } from '../../platform/database/pools.ts';
import type { DatabaseUrls } from '../../platform/database/pools.ts';
import { createOutboundClients } from '../../platform/outbound-http/index.ts';
import { Sender } from './sending/sender.job.ts';

const [urls = '', key = '', ahead = '0', life = '0'] = process.argv.slice(2);
const database = await openDatabase(JSON.parse(urls) as DatabaseUrls, { api: 1, worker: 3 });
const now = (): number => Date.now() + Number(ahead);
const denied: readonly never[] = [];
const { guarded } = createOutboundClients({
  allowedPrivateTargets: ['127.0.0.1/32'],
  deniedListeners: () => denied,
  now,
  version: life,
});
const sender = new Sender({
  pool: database.worker,
  client: guarded,
  sealer: createSealer(Buffer.from(key, 'base64')),
  replica: `life ${life}`,
  now,
  log: { error: (...given: readonly unknown[]) => console.error(...given) },
});
for (;;) {
  if ((await sender.begin()) === 0) await new Promise((resolve) => setTimeout(resolve, 20));
}
