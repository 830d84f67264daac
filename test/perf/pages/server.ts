import { createLogger } from '@parallax/telemetry';
import type { Context } from '../../../control-plane/src/context.ts';
import { testContext } from '../../../control-plane/src/identity/testing.ts';
import { eventsSubject } from '../../../control-plane/src/platform/bus/subjects.ts';
import { openDatabase } from '../../../control-plane/src/platform/database/pools.ts';
import type { DatabaseUrls } from '../../../control-plane/src/platform/database/pools.ts';
import { buildHttpServer } from '../../../control-plane/src/platform/http/server.ts';
import {
  keptPages,
  preparedPages,
  servePagesWhileAway,
  statusPagesCapability,
} from '../../../control-plane/src/reporting/status-pages/index.ts';
import { loopBus } from '../../../control-plane/src/testing/loop-bus.ts';

// Serves status pages as a process of the product does, by itself so that its processor time is not mixed with that of readers. It says its port;
// `hint`: something has happened; `memory`: how many bytes it holds. While the database is away at its start it shows pages as they were kept.
const { urls, dataDir, port } = JSON.parse(process.env['BENCH_PAGES'] ?? '{}') as {
  urls: DatabaseUrls;
  dataDir: string;
  port: number;
};
const publicUrl = 'http://127.0.0.1';
const log = createLogger({ name: 'pages', level: 'error', destination: process.stderr });
const bus = loopBus();
process.on('message', (message) => {
  if (message === 'hint') bus.hint(eventsSubject, {});
  if (message === 'memory') process.send?.({ bytes: usedBytes() });
});
process.once('disconnect', () => process.exit(0));
const database = await openDatabase(urls, { api: 4, worker: 2 }).catch(() => undefined);
if (database === undefined) await serveKept();
else await serve(testContext(database, { bus, log, publicUrl, dataDir }));

async function serve(context: Context): Promise<void> {
  const app = await buildHttpServer([], {
    log,
    publicUrl,
    trustedProxies: [],
    prepared: preparedPages(context),
    // No route is asked.
    authenticate: async () => undefined,
    limit: async () => undefined,
  });
  for (const service of statusPagesCapability.services ?? []) await service.start(context, log);
  await app.listen({ host: '127.0.0.1', port });
  const address = app.server.address();
  process.send?.({ port: typeof address === 'object' && address !== null ? address.port : 0 });
}

async function serveKept(): Promise<void> {
  const pages = await keptPages(dataDir, log);
  if (pages === undefined) throw new Error('no page was kept');
  const { signal } = new AbortController();
  const reach = (): Promise<never> => Promise.reject(new Error('the database stays away'));
  const quiet = { info: () => undefined, warn: () => undefined };
  const serving = servePagesWhileAway(
    {
      host: '127.0.0.1',
      port,
      publicUrl,
      trustedProxies: [],
      pages,
      hosts: { prefixOf: () => undefined },
      reach,
      signal,
      log: quiet,
    },
    new Error('away'),
  );
  process.send?.({ port });
  await serving;
}

function usedBytes(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
