import { randomUUID } from 'node:crypto';
import { createMetrics } from '@parallax/telemetry';
import type { Logger, Shutdown } from '@parallax/telemetry';
import { decodeKey } from '@parallax/settings';
import type { ControlPlaneSettings } from '@parallax/settings';
import { buildApp } from './app.ts';
import { capabilities } from './capabilities.ts';
import { databaseUrls } from './database-urls.ts';
import { openInstallation } from './installation/index.ts';
import { places } from './places.ts';
import { connectBus } from './platform/bus/nats-bus.ts';
import { startDatabaseClock } from './platform/clock/database-clock.ts';
import { openDatabase } from './platform/database/pools.ts';
import { startOutboxWorker } from './platform/outbox/worker.ts';
import type { Context } from './context.ts';
import { version } from './version.ts';

/**
 * Starts one control-plane process with its roles and returns when it serves. Everything that was started is registered with
 * `shutdown`, which ends it in reverse order.
 * @param databaseUrl of the owner's login
 */
export async function serve(
  settings: ControlPlaneSettings,
  databaseUrl: string,
  log: Logger,
  shutdown: Shutdown,
): Promise<void> {
  const replica = `${process.pid}-${randomUUID().slice(0, 8)}`;
  if (settings.metricsPort !== undefined) {
    const listener = await createMetrics({ program: 'control-plane' }).listen({ port: settings.metricsPort });
    shutdown.onShutdown('metrics', () => listener.close());
  }
  const database = await openDatabase(databaseUrls(settings, databaseUrl), { api: 16, worker: 16 });
  shutdown.onShutdown('database', () => database.close());
  const clock = await startDatabaseClock(database.worker);
  shutdown.onShutdown('clock', () => clock.stop());
  const key = settings.keyEncryptionKey === undefined ? undefined : decodeKey(settings.keyEncryptionKey);
  const installation = await openInstallation({
    dataDir: settings.dataDir ?? './data',
    keyEncryptionKey: key,
    pool: database.worker,
    nowMs: clock.now(),
  });
  const { publicUrl, natsUrl, ...where } = places(settings);
  const bus = await connectBus({
    servers: natsUrl,
    authorityPem: installation.authority.certificatePem,
    credentials: installation.nats.controlPlaneCredentials(clock.now()),
    name: `control-plane ${replica}`,
    log,
  });
  shutdown.onShutdown('broker', () => bus.close());

  const context: Context = {
    database,
    bus,
    sealer: installation.sealer,
    log,
    replica,
    now: clock.now,
    publicUrl,
    shards: installation.shards,
    registration: settings.registration,
    defaultPlan: settings.defaultPlan,
    ...where,
    allowedPrivateTargets: settings.allowedPrivateTargets ?? [],
    version,
  };
  await startServices(context, settings, shutdown);
  if (settings.roles.includes('api')) {
    const app = await buildApp(context, settings.trustedProxies ?? []);
    await app.listen({ host: settings.httpHost, port: settings.httpPort });
    shutdown.onShutdown('http', () => app.close());
  }
  log.info({ replica, roles: settings.roles, url: publicUrl }, 'serving');
}

async function startServices(context: Context, settings: ControlPlaneSettings, shutdown: Shutdown): Promise<void> {
  for (const capability of capabilities) {
    for (const service of capability.services ?? []) {
      if (!settings.roles.includes(service.role)) continue;
      const running = await service.start(context, context.log.child({ service: service.name }));
      shutdown.onShutdown(service.name, () => running.stop());
    }
  }
  if (!settings.roles.includes('worker')) return;
  const worker = await startOutboxWorker(
    context,
    capabilities.flatMap((capability) => capability.consumers ?? []),
  );
  shutdown.onShutdown('outbox', () => worker.stop());
}
