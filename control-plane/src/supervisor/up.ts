import { mkdirSync } from 'node:fs';
import { get } from 'node:http';
import path from 'node:path';
import {
  chooseDataFolder,
  databaseAccount,
  findNatsServer,
  lockFolder,
  openDataFolder,
  prepareNats,
  preparePostgres,
  privateFolder,
  runProcess,
  type ProcessSpec,
  type SignalStep,
} from '@parallax/embedded';
import {
  controlPlaneSettings,
  explicitSettings,
  readSettings,
  SettingsError,
  type ControlPlaneSettings,
} from '@parallax/settings';
import type { Logger, Shutdown } from '@parallax/telemetry';
import { startChild, type Child, type ChildOptions, type ChildPlan } from './child.ts';
import {
  dialled,
  enrolmentAddress,
  environmentOfAgent,
  environmentOfServe,
  localRegion,
  settingsOfUp,
  type Ports,
} from './environment.ts';
import { startGuard } from './guard.ts';
import { endLeftovers, recordsFolder } from './leftovers.ts';
import type { DatabaseUrls, InstallationInput, ProcessCommand, UpParts } from './parts.ts';
import { choosePorts, systemPorts, type PortRequest } from './ports.ts';
import { recallPorts, rememberPorts } from './remembered-ports.ts';
import { forgetRunning, writeRunning } from './running-file.ts';

export type UpOptions = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder of the checkout; `data` in it is the default data folder. */
  readonly checkout: string;
  readonly parts: UpParts;
  /** Progress for people, one line each. */
  readonly print: (line: string) => void;
  /** Every line that a child writes, with the child's name. */
  readonly onChildLine: (child: string, line: string) => void;
  readonly log: Logger;
  /** Its stop ends all children, the last started first. */
  readonly shutdown: Shutdown;
};

export type UpResult = { readonly url: string; readonly dataDir: string; readonly children: readonly Child[] };

/** Everything must have ended 10 s after the signal. */
export const upStopDeadlineMs = 9_700;

const appStopSteps: readonly SignalStep[] = [{ signal: 'SIGTERM', waitMs: 8_000 }];
const registerWithinMs = 30_000;
/** In the order in which they stop, together below `upStopDeadlineMs`; the agents end side by side. */
const stopWithinMs = { agent: 2_000, serve: 3_500, nats: 1_500, postgres: 2_000 };
type Part = keyof typeof stopWithinMs;
const stages = Object.keys(stopWithinMs);

/**
 * Runs the whole product on one machine: PostgreSQL, nats-server, the control plane and local agents, each a process of its own that
 * is restarted when it ends. Resolves when all of it is ready. When something does not come up, or the stop begins meanwhile, it
 * rejects; the caller stops what runs with `shutdown.stop`.
 */
export async function up(options: UpOptions): Promise<UpResult> {
  const { env, parts, print, log, shutdown } = options;
  const given = readSettings(controlPlaneSettings, env);
  if (!given.roles.includes('api') && given.metricsPort === undefined) {
    throw new SettingsError([
      'PARALLAX_ROLES is without api, so PARALLAX_METRICS_PORT must be set: there it is asked whether the control plane is ready',
    ]);
  }
  const { folder: dataDir, isRelocated } = chooseDataFolder({ named: given.dataDir, checkout: options.checkout });
  openDataFolder(dataDir, given.databaseUrl === undefined ? databaseAccount() : undefined);
  print(
    isRelocated
      ? `data folder: ${dataDir} (PostgreSQL's account cannot enter ${options.checkout})`
      : `data folder: ${dataDir}`,
  );

  const lock = await lockFolder(dataDir);
  shutdown.onShutdown('data folder', () => lock.release());
  shutdown.signal.addEventListener('abort', () => lock.markStopping());
  privateFolder(path.join(dataDir, 'run'), undefined);
  await endLeftovers(dataDir, log);
  const settings = settingsOfUp(given, dataDir, await ports(given, dataDir, options));

  const guard = startGuard((reason) => {
    if (!shutdown.signal.aborted) log.warn({ reason }, 'what ends the other processes with this one has ended itself');
  });
  const children: Child[] = [];
  const run: Run = async (name, part, prepare, onStop = (stop) => shutdown.onShutdown(name, stop)) => {
    shutdown.signal.throwIfAborted();
    const startedMs = performance.now();
    const plan: ChildPlan = { name, prepare, stopWithinMs: stopWithinMs[part], record: recordOf(dataDir, name) };
    const onProcess: ChildOptions['onProcess'] = (running) =>
      guard.set(name, running === undefined ? undefined : { ...running, stage: stages.indexOf(part) });
    const starting = startChild(plan, { log, onProcess }, shutdown.signal);
    // Registered before it is there, so that whatever was started is stopped even when the start is cut off.
    onStop(() => starting.then((child) => child.stop()).catch(() => {}));
    children.push(await starting);
    print(`${name} is ready (${((performance.now() - startedMs) / 1_000).toFixed(1)} s)`);
  };

  const databaseUrls = await database(settings, options, run);
  const input: InstallationInput = { settings, databaseUrls };
  shutdown.signal.throwIfAborted();
  const prepared = await parts.prepareInstallation(input);
  if (settings.natsUrl === undefined) {
    let material = prepared.nats;
    let isFirst = true;
    const binary = natsBinary({ ...env, PARALLAX_NATS_SERVER: given.natsServer }, dataDir);
    await run('nats-server', 'nats', async () => {
      // Later starts need the revocations of that moment.
      if (!isFirst) material = (await parts.prepareInstallation(input)).nats;
      isFirst = false;
      const { spec } = await prepareNats({
        binary,
        dataDir,
        host: settings.natsHost,
        port: settings.natsPort,
        log,
        ...material,
      });
      return spec;
    });
  }
  let isFirstServe = true;
  await run('control plane', 'serve', () => {
    const spec = serveSpec(options, input, isFirstServe);
    isFirstServe = false;
    return Promise.resolve(spec);
  });
  writeRunning(dataDir, {
    http_url: settings.publicUrl ?? '',
    // What the operator named may hold a password, which no file of ours keeps.
    database_urls: settings.databaseUrl === undefined ? databaseUrls : null,
    nats: settings.natsUrl === undefined ? { host: dialled(settings.natsHost), port: settings.natsPort } : null,
    enrolment_address: settings.enrolmentPublicAddress ?? enrolmentAddress(settings),
  });
  shutdown.onShutdown('running file', () => forgetRunning(dataDir));
  await startAgents(options, input, run);
  return { url: settings.publicUrl ?? '', dataDir, children };
}

type Run = (
  name: string,
  part: Part,
  prepare: () => Promise<ProcessSpec>,
  onStop?: (stop: () => Promise<void>) => void,
) => Promise<void>;

async function ports(given: ControlPlaneSettings, dataDir: string, options: UpOptions): Promise<Ports> {
  const explicit = explicitSettings(controlPlaneSettings, options.env);
  const earlier = recallPorts(dataDir);
  const request = (name: keyof Ports, key: string, host: string, wanted: number): PortRequest => ({
    name,
    host,
    wanted,
    isExplicit: explicit.has(key),
    earlier: earlier[name],
  });
  const requests = [
    request('http', 'httpPort', given.httpHost, given.httpPort),
    request('grpc', 'grpcPort', given.grpcHost, given.grpcPort),
    request('enrolment', 'enrolmentPort', given.grpcHost, given.enrolmentPort),
    ...(given.natsUrl === undefined ? [request('nats', 'natsPort', given.natsHost, given.natsPort)] : []),
  ];
  const chosen = await choosePorts(requests, systemPorts);
  for (const { name, port, isReplaced } of chosen) {
    if (isReplaced) options.print(`the usual port for ${name} is taken, so it is ${port}`);
  }
  rememberPorts(dataDir, Object.fromEntries(chosen.filter((one) => one.isReplaced).map((one) => [one.name, one.port])));
  const portOf = (name: keyof Ports, fallback: number) => chosen.find((one) => one.name === name)?.port ?? fallback;
  return {
    http: portOf('http', given.httpPort),
    grpc: portOf('grpc', given.grpcPort),
    enrolment: portOf('enrolment', given.enrolmentPort),
    nats: portOf('nats', given.natsPort),
  };
}

async function database(settings: ControlPlaneSettings, options: UpOptions, run: Run): Promise<DatabaseUrls> {
  const { databaseUrl, databaseApiUrl, databaseWorkerUrl } = settings;
  if (databaseUrl !== undefined) {
    return {
      owner: databaseUrl,
      api: databaseApiUrl ?? withUser(databaseUrl, 'parallax_api'),
      worker: databaseWorkerUrl ?? withUser(databaseUrl, 'parallax_worker'),
    };
  }
  const dataDir = settings.dataDir ?? '';
  let urlOf: ((database: string, user?: string) => string) | undefined;
  await run('PostgreSQL', 'postgres', async () => {
    const { spec, url } = await preparePostgres({ dataDir, durable: true, log: options.log });
    urlOf = url;
    return spec;
  });
  if (urlOf === undefined) throw new Error('PostgreSQL started without saying where');
  return {
    owner: urlOf('postgres'),
    api: urlOf('postgres', 'parallax_api'),
    worker: urlOf('postgres', 'parallax_worker'),
  };
}

/** The same place and parameters, another login; a password of the owner is not another role's. */
function withUser(url: string, user: string): string {
  return url.replace(/^([a-z]+:\/\/)(?:[^/@]*@)?/i, `$1${user}@`);
}

function natsBinary(env: UpOptions['env'], dataDir: string): string {
  const found = findNatsServer(env, { dataDir });
  if (found !== undefined) return found.path;
  throw new Error(
    'nats-server 2.9.10 or newer is not installed: run npm start, which fetches it, or apt-get install nats-server, or brew install nats-server, or set PARALLAX_NATS_SERVER',
  );
}

function serveSpec(options: UpOptions, { settings, databaseUrls }: InstallationInput, isFirst: boolean): ProcessSpec {
  const { parts, checkout, env } = options;
  const readiness = readinessUrl(settings, parts.readinessPath);
  return {
    name: 'control plane',
    ...parts.serve,
    env: environmentOfServe(env, settings, databaseUrls),
    cwd: checkout,
    // Later, while the database or the broker is away, any answer will do: a new start would mend nothing.
    readiness: { check: () => answers(readiness, isFirst), everyMs: 50, timeoutMs: 60_000 },
    stopSteps: appStopSteps,
    onLine: (line) => options.onChildLine('control plane', line),
  };
}

/** Without the API it is asked where the metrics are. */
function readinessUrl(settings: ControlPlaneSettings, pathname: string): string {
  const isAtApi = settings.roles.includes('api') || settings.metricsPort === undefined;
  const host = dialled(isAtApi ? settings.httpHost : settings.metricsHost);
  const port = isAtApi ? settings.httpPort : settings.metricsPort;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}${pathname}`;
}

/** By node:http: `fetch` loads a library of its own first and takes 4 ms of a core for each answer that nobody listens, twenty times a second. */
function answers(url: string, mustBeWell: boolean): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const asked = get(url, { agent: false, signal: AbortSignal.timeout(2_000) }, (response) => {
      const { statusCode = 0 } = response;
      response.once('error', reject).once('end', () => resolve(!mustBeWell || (statusCode >= 200 && statusCode < 300)));
      response.resume();
    });
    asked.once('error', reject);
  });
}

async function startAgents(options: UpOptions, input: InstallationInput, run: Run): Promise<void> {
  const count = input.settings.localProbes ?? 1;
  const stops: (() => Promise<void>)[] = [];
  options.shutdown.onShutdown('local probes', () => Promise.all(stops.map((stop) => stop())));
  for (let number = 1; number <= count; number++) {
    options.shutdown.signal.throwIfAborted();
    const name = `local-${number}`;
    const stateDir = path.join(input.settings.dataDir ?? '', 'probes', name);
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    if (!options.parts.isEnrolled(stateDir)) await register(options, input, name, stateDir);
    const env = environmentOfAgent(options.env, input.settings, { name, stateDir });
    await run(
      `probe ${name}`,
      'agent',
      () => Promise.resolve(agentSpec(options, name, 'run', env)),
      (stop) => stops.push(stop),
    );
  }
}

async function register(options: UpOptions, input: InstallationInput, name: string, stateDir: string): Promise<void> {
  const joinToken = await options.parts.createJoinToken({ ...input, name, region: localRegion });
  const env = environmentOfAgent(options.env, input.settings, { name, stateDir, joinToken });
  const running = await runProcess(agentSpec(options, name, 'register', env), { signal: options.shutdown.signal });
  const unwanted = AbortSignal.any([options.shutdown.signal, AbortSignal.timeout(registerWithinMs)]);
  unwanted.addEventListener('abort', () => void running.stop(stopWithinMs.agent), { once: true });
  const exit = await running.exited;
  if (exit.code !== 0) throw new Error(`probe ${name} could not be registered; its lines above say why`);
}

function agentSpec(
  options: UpOptions,
  name: string,
  subcommand: 'register' | 'run',
  env: Record<string, string>,
): ProcessSpec {
  const { command, args }: ProcessCommand = options.parts.agent;
  return {
    name: `probe ${name}`,
    command,
    args: [...args, subcommand],
    env,
    cwd: options.checkout,
    // It dials the control plane by itself and goes on when that is away, so to run is to be ready.
    readiness: { check: () => Promise.resolve(true), everyMs: 50, timeoutMs: 5_000 },
    stopSteps: appStopSteps,
    onLine: (line) => options.onChildLine(`probe ${name}`, line),
  };
}

function recordOf(dataDir: string, name: string): string {
  return path.join(recordsFolder(dataDir), `${name.replaceAll(' ', '-')}.json`);
}
