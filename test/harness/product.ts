import { mkdtempSync, rmSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { program } from '@parallax/testkit/program';
import { signedIn } from './api-client.ts';
import type { ApiClient } from './api-client.ts';
import { compileCache, eventually, freePorts, runToEnd, startCommand, startNode } from './processes.ts';
import { placeDatabase } from './prepared-database.ts';
import type { Started } from './processes.ts';

/** The whole product as `npm start` runs it, in a data folder of its own, with probes that the test adds. */
export type Product = {
  readonly baseUrl: string;
  readonly dataDir: string;
  readonly supervisor: Started;
  readonly environment: Readonly<Record<string, string>>;
  readonly enrolmentAddress: string;
  readonly ports: { readonly http: number; readonly grpc: number; readonly enrolment: number; readonly nats: number };
  readonly stop: () => Promise<void>;
};

/** A data folder of its own and free ports for one installation that a test makes. */
export type Installation = Pick<Product, 'baseUrl' | 'dataDir' | 'environment' | 'enrolmentAddress' | 'ports'> & {
  readonly remove: () => void;
};

/** @param more settings beside the folder and the ports */
export async function newInstallation(more: Readonly<Record<string, string>> = {}): Promise<Installation> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'parallax-product-'));
  // The account that PostgreSQL runs as must be able to pass.
  chmodSync(dataDir, 0o711);
  const [http = 0, grpc = 0, enrolment = 0, nats = 0] = await freePorts(4);
  const environment = {
    PARALLAX_DATA_DIR: dataDir,
    PARALLAX_HTTP_PORT: String(http),
    PARALLAX_GRPC_PORT: String(grpc),
    PARALLAX_ENROLMENT_PORT: String(enrolment),
    PARALLAX_NATS_PORT: String(nats),
    PARALLAX_LOCAL_PROBES: '0',
    // Receivers of messages are programs of the test.
    PARALLAX_ALLOWED_PRIVATE_HOOKS: '127.0.0.0/8,::1/128',
    ...more,
  };
  return {
    dataDir,
    environment,
    baseUrl: `http://localhost:${http}`,
    enrolmentAddress: `127.0.0.1:${enrolment}`,
    ports: { http, grpc, enrolment, nats },
    remove: () => rmSync(dataDir, { recursive: true, force: true }),
  };
}

/** Targets on this machine for everybody, where others than the administrator watch some; by default they are the administrator's alone. */
export const loopbackTargetsForAll = { PARALLAX_ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8,::1/128' };

export async function startProduct(more: Readonly<Record<string, string>> = {}): Promise<Product> {
  const { remove, ...installation } = await newInstallation(more);
  const { dataDir, environment } = installation;
  await placeDatabase(dataDir);
  const supervisor = startNode(['control-plane/src/main.ts', 'up'], environment, path.join(dataDir, 'output.log'));
  const stop = async (): Promise<void> => {
    await supervisor.stop(15_000);
    remove();
  };
  try {
    await untilReady(installation, supervisor);
  } catch (error) {
    const output = supervisor.output();
    await stop();
    throw new Error(`the product did not start:\n${output.slice(-5_000)}`, { cause: error });
  }
  return { ...installation, supervisor, stop };
}

/** Resolves when the installation answers that it is ready; rejects when what was started for it has ended before. */
export async function untilReady(
  { baseUrl }: Pick<Installation, 'baseUrl'>,
  supervisor: Started,
  timeoutMs = 180_000,
): Promise<void> {
  let ended: number | undefined;
  void supervisor.ended.then((code) => (ended = code));
  await eventually(
    'the product to be ready, or its end',
    async () => ended !== undefined || (await fetch(`${baseUrl}/health/readiness`)).status === 200,
    { timeoutMs },
  );
  if (ended !== undefined) throw new Error(`the product ended with ${ended}`);
}

export { signedIn };
export type { ApiClient };

/** A probe agent of a test, registered; `start` may be called again after it ended. */
export type Agent = {
  readonly name: string;
  readonly probeId: number;
  readonly stateDir: string;
  readonly start: () => Started;
};

/** How an agent's program is called: the command, and the arguments before its own. */
export type AgentCommand = {
  readonly command: string;
  readonly args: readonly string[];
  /** Variables beside those of the agent; an empty PATH hides every other program from it. */
  readonly environment?: Readonly<Record<string, string>>;
};

const agentFromSources: AgentCommand = {
  command: process.execPath,
  args: [program('probe-agent/src/main.ts')],
  environment: { NODE_COMPILE_CACHE: compileCache },
};

/** Resolves when so many of the probes that the account sees are connected. */
export async function untilOnline(api: ApiClient, probes: number): Promise<void> {
  await eventually(
    `${probes} probes online`,
    async () => {
      const listed = await api.call<{ probes: { health: { status: string } }[] }>('GET', '/api/v1/probes', 200);
      return listed.probes.filter(({ health }) => health.status === 'online').length === probes;
    },
    { timeoutMs: 90_000 },
  );
}

/** Makes a join token through the API and registers an agent with it, as the printed command does. */
export async function enrolAgent(
  product: Product,
  api: ApiClient,
  options: {
    readonly name: string;
    readonly region: string;
    /** Makes it a private probe of this workspace. */
    readonly workspaceId?: number;
    readonly sourceAddress?: string;
    readonly environment?: Record<string, string>;
    readonly command?: AgentCommand;
  },
): Promise<Agent> {
  const { token } = await api.call<{ token: string }>('POST', '/api/v1/probes/join-tokens', 201, {
    name: options.name,
    region: options.region,
    ...(options.workspaceId === undefined ? {} : { workspace_id: options.workspaceId }),
  });
  const stateDir = path.join(product.dataDir, `agent-${options.name}`);
  const environment = {
    PARALLAX_PROBE_ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8,::1/128',
    PARALLAX_PROBE_STATE_DIR: stateDir,
    ...(options.sourceAddress === undefined ? {} : { PARALLAX_PROBE_SOURCE_ADDRESS: options.sourceAddress }),
    ...options.environment,
    ...options.command?.environment,
  };
  const { command, args } = options.command ?? agentFromSources;
  await runToEnd(
    startCommand(
      command,
      [...args, 'register', '--control-plane', product.enrolmentAddress, '--join-token', token],
      environment,
    ),
    'the registration of the agent',
  );
  const { probes } = await api.call<{ probes: { id: number; name: string }[] }>(
    'GET',
    '/api/v1/probes?page_size=100',
    200,
  );
  const probeId = probes.find((probe) => probe.name === options.name)?.id;
  if (probeId === undefined) throw new Error(`the probe ${options.name} is not listed`);
  return {
    name: options.name,
    probeId,
    stateDir,
    start: () =>
      startCommand(command, [...args, 'run'], environment, path.join(product.dataDir, `agent-${options.name}.log`)),
  };
}
