// A process that makes one scheduled report, to be killed. Arguments: URLs of the database as JSON, the sealing key in base64.
import { quietLog } from '@parallax/testkit';
import { testBus } from '../../monitoring/testing.ts';
import { createSealer } from '../../platform/crypto/seal.ts';
import { openDatabase } from '../../platform/database/pools.ts';
import type { DatabaseUrls } from '../../platform/database/pools.ts';
import { makeNextRun } from './making/maker.job.ts';

const [urls = '', key = ''] = process.argv.slice(2);
const database = await openDatabase(JSON.parse(urls) as DatabaseUrls, { api: 1, worker: 3 });
const context = {
  database,
  sealer: createSealer(Buffer.from(key, 'base64')),
  publicUrl: 'https://parallax.example',
  bus: testBus().bus,
  now: Date.now,
};
await makeNextRun(context, quietLog);
process.exit(0);
