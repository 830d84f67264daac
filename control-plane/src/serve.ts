import { randomUUID } from 'node:crypto';
import { sourceAddresses } from '@parallax/checks';
import { createMetrics } from '@parallax/telemetry/metrics';
import type { Metrics } from '@parallax/telemetry/metrics';
import type { Logger, Shutdown } from '@parallax/telemetry';
import type { ControlPlaneSettings } from '@parallax/settings';
import { buildApp } from './app.ts';
import { capabilities } from './capabilities.ts';
import { channelSettings } from './channel-settings.ts';
import { databaseUrls } from './database-urls.ts';
import { limitsWith } from './identity/plans/index.ts';
import { externalBroker, openInstallation, startKeyWatch } from './installation/index.ts';
import { keySource } from './key-source.ts';
import { startOwnListeners } from './own-listeners.ts';
import { places } from './places.ts';
import { connectBus } from './platform/bus/nats-bus.ts';
import { startDatabaseClock } from './platform/clock/database-clock.ts';
import type { DatabaseClock } from './platform/clock/database-clock.ts';
import { openDatabase } from './platform/database/pools.ts';
import type { Database, DatabaseUrls } from './platform/database/pools.ts';
import { healthPages } from './platform/health/index.ts';
import { createMailer } from './platform/mail/index.ts';
import { createOutboundClients } from './platform/outbound-http/index.ts';
import { startOutboxWorker } from './platform/outbox/worker.ts';
import { createDeliveryMetrics } from './response/channels/index.ts';
import { startReplicaRegister } from './platform/replicas/job.ts';
import type { ReplicaRegister } from './platform/replicas/job.ts';
import type { Context } from './context.ts';
import { signInSettings } from './sign-in-settings.ts';
import { keptHosts, keptPages, servePagesWhileAway } from './reporting/status-pages/index.ts';
import { stopTogether } from './stop-together.ts';
import { version } from './version.ts';

/** Requests that are under way at the stop get so long; the stop as a whole has 8 s. */
const answerWithinMs = 6_000;

/**
 * Starts one control-plane process with its roles and returns when it serves. Everything that was started is registered with
 * `shutdown`, which ends it in reverse order.
 * @param databaseUrl of the owner's login
 * @param namedShards the number of shards when it was named, which must be that of the installation
 * @throws InstallationError when the installation was not prepared, or with another key or number of shards
 */
export async function serve(
  settings: ControlPlaneSettings,
  databaseUrl: string,
  log: Logger,
  shutdown: Shutdown,
  namedShards?: number,
): Promise<void> {
  const broker = externalBroker(settings);
  const limits = limitsWith(settings.limits);
  const mailer = createMailer(settings, dataDirOf(settings), log);
  const signIn = signInSettings(settings);
  const channels = channelSettings(settings);
  const replica = `${process.pid}-${randomUUID().slice(0, 8)}`;
  let serving: Context | undefined;
  const metrics = await listenForMetrics(settings, shutdown, () => serving);
  const { publicUrl, natsUrl, ownListeners, ...where } = places(settings);
  const { database, clock } = await reachDatabase(() => openDatabaseAndClock(databaseUrls(settings, databaseUrl)), {
    settings,
    publicUrl,
    log,
    shutdown,
  });
  shutdown.onShutdown('database', () => database.close());
  shutdown.onShutdown('clock', () => clock.stop());
  const source = keySource(settings);
  const installation = await openInstallation({
    ...source,
    pool: database.worker,
    nowMs: clock.now(),
    ...(namedShards === undefined ? {} : { shards: namedShards }),
  });
  const replicas = await joinReplicas({ settings, pool: database.worker, replica, ownListeners, log, shutdown });
  const keys = await startKeyWatch({
    pool: database.worker,
    signals: database.signals,
    ring: installation.sealer,
    source,
    replica,
    log,
  });
  shutdown.onShutdown('keys', () => keys.stop());
  const bus = await connectBus({
    servers: natsUrl,
    authorityPem: installation.authority.certificatePem,
    credentials: (broker?.access ?? installation.nats).controlPlaneCredentials(clock.now()),
    name: `control-plane ${replica}`,
    log,
  });
  shutdown.onShutdown('broker', () => bus.close());

  const context: Context = {
    database,
    bus,
    sealer: installation.sealer,
    mailer,
    log,
    replica,
    now: clock.now,
    publicUrl,
    shards: installation.shards,
    limits,
    signIn,
    defaultPlan: settings.defaultPlan,
    ...where,
    deniedListeners: replicas.listeners,
    externalBroker: broker,
    allowedPrivateTargets: settings.allowedPrivateTargets ?? [],
    administratorPrivateTargets: settings.administratorPrivateTargets ?? [],
    allowedPrivateHooks: settings.allowedPrivateHooks ?? [],
    canaries: settings.canaries ?? [],
    dnsServers: settings.dnsServers,
    outbound: createOutboundClients({
      allowedPrivateTargets: settings.allowedPrivateHooks ?? [],
      deniedListeners: replicas.listeners,
      now: clock.now,
      version,
    }),
    deliveryMetrics: createDeliveryMetrics(metrics?.registry),
    channels,
    version,
    dataDir: dataDirOf(settings),
  };
  const parts = stopTogether(shutdown, log);
  await startServices(context, settings, parts);
  if (settings.roles.includes('api')) await startApi(context, settings, parts);
  serving = context;
  log.info({ replica, roles: settings.roles, url: publicUrl }, 'serving');
}

/** Metrics and the pages of health, where the settings have a port for them: they answer from the first moment of the start. */
async function listenForMetrics(
  settings: ControlPlaneSettings,
  shutdown: Shutdown,
  serving: () => Context | undefined,
): Promise<Metrics | undefined> {
  const { metricsHost: host, metricsPort: port } = settings;
  if (port === undefined) return undefined;
  const metrics = createMetrics({ program: 'control-plane' });
  const listener = await metrics.listen({
    host,
    port,
    pages: healthPages(() => (shutdown.signal.aborted ? 'it is stopping' : (serving() ?? 'it is starting'))),
  });
  shutdown.onShutdown('metrics', () => listener.close());
  return metrics;
}

function dataDirOf({ dataDir = './data' }: ControlPlaneSettings): string {
  return dataDir;
}

/** The pools are opened anew by each attempt: slonik asks the database for its types before it hands out a pool. */
async function openDatabaseAndClock(urls: DatabaseUrls): Promise<{ database: Database; clock: DatabaseClock }> {
  const database = await openDatabase(urls, { api: 16, worker: 16 });
  try {
    return { database, clock: await startDatabaseClock(database.worker) };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Starts what needs the database first. Where status pages were kept and it cannot be reached, they are shown until it can. */
async function reachDatabase<Started>(
  start: () => Promise<Started>,
  given: {
    readonly settings: ControlPlaneSettings;
    readonly publicUrl: string;
    readonly log: Logger;
    readonly shutdown: Shutdown;
  },
): Promise<Started> {
  try {
    return await start();
  } catch (error) {
    const { settings, publicUrl, log, shutdown } = given;
    const pages = settings.roles.includes('api') ? await keptPages(dataDirOf(settings), log) : undefined;
    if (pages === undefined) throw error;
    const { httpHost: host, httpPort: port, trustedProxies = [] } = settings;
    const hosts = await keptHosts(dataDirOf(settings), log);
    const where = { host, port, publicUrl, trustedProxies, hosts };
    return servePagesWhileAway({ ...where, pages, reach: start, signal: shutdown.signal, log }, error);
  }
}

/** Tells the other replicas where this one listens and what it calls from, and learns the same of them. */
async function joinReplicas(given: {
  readonly settings: ControlPlaneSettings;
  readonly pool: Database['worker'];
  readonly replica: string;
  readonly ownListeners: ReturnType<typeof places>['ownListeners'];
  readonly log: Logger;
  readonly shutdown: Shutdown;
}): Promise<ReplicaRegister> {
  const { settings, pool, replica, ownListeners, log, shutdown } = given;
  const own = await startOwnListeners({ places: ownListeners, log });
  shutdown.onShutdown('own listeners', () => own.stop());
  const replicas = await startReplicaRegister({
    pool,
    name: replica,
    roles: settings.roles,
    ownListeners: own.current,
    sourceAddresses: async () => settings.publicAddress ?? sourceAddresses(),
    log,
  });
  shutdown.onShutdown('replicas', () => replicas.stop());
  return replicas;
}

async function startServices(
  context: Context,
  settings: ControlPlaneSettings,
  shutdown: Pick<Shutdown, 'onShutdown'>,
): Promise<void> {
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

async function startApi(
  context: Context,
  settings: ControlPlaneSettings,
  shutdown: Pick<Shutdown, 'onShutdown'>,
): Promise<void> {
  const app = await buildApp(context, {
    trustedProxies: settings.trustedProxies ?? [],
    allowedHosts: settings.allowedHosts,
    corsOrigins: settings.corsOrigins,
  });
  await app.listen({ host: settings.httpHost, port: settings.httpPort });
  shutdown.onShutdown('http', () => closeHttp(app));
}

/** What is under way is answered, unless that takes too long. */
async function closeHttp(app: Awaited<ReturnType<typeof buildApp>>): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), answerWithinMs);
  await app.close();
  clearTimeout(timer);
}
