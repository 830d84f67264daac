import { routeOfNothing } from './nothing.ts';
import { quietLog } from '@parallax/testkit';
import { capabilities } from '../../../control-plane/src/capabilities.ts';
import { createRequestGuards } from '../../../control-plane/src/identity/access/index.ts';
import { testContext } from '../../../control-plane/src/identity/testing.ts';
import { testBus } from '../../../control-plane/src/monitoring/testing.ts';
import { openDatabase } from '../../../control-plane/src/platform/database/pools.ts';
import { buildHttpServer } from '../../../control-plane/src/platform/http/server.ts';

// The API in a process of its own, so that its processor time is not mixed with that of the client.
const urls = JSON.parse(process.env['BENCH_DATABASE_URLS'] ?? '{}') as { owner: string; api: string; worker: string };
const database = await openDatabase(urls, { api: 4, worker: 2 });
const context = testContext(database, { bus: testBus().bus });
const routes = capabilities.flatMap((capability) => capability.routes?.(context) ?? []);
const app = await buildHttpServer([...routes, routeOfNothing], {
  log: quietLog,
  publicUrl: context.publicUrl,
  trustedProxies: [],
  corsOrigins: undefined,
  ...createRequestGuards(context),
});
await app.listen({ host: '127.0.0.1', port: 0 });
const address = app.server.address();
process.send?.({ port: typeof address === 'object' && address !== null ? address.port : 0 });
process.once('disconnect', () => process.exit(0));
