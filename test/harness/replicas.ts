import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import path from 'node:path';
import { readRunning } from '../../control-plane/src/supervisor/index.ts';
import { eventually, freePorts, startNode } from './processes.ts';
import type { Started } from './processes.ts';
import type { Product } from './product.ts';

/** One more process of the control plane beside the supervised one, on the same database, broker and keys. */
export type Replica = {
  /** As it stands in `probe_sessions.replica` and `shards.owner`. */
  readonly name: string;
  readonly process: Started;
  /** Answers only when the replica has the role `api`. */
  readonly baseUrl: string;
  /** For `enrolAgent` in place of the product's, when the replica has the role `dispatch`. */
  readonly enrolmentAddress: string;
  readonly ports: Ports;
};

type Ports = { readonly http: number; readonly grpc: number; readonly enrolment: number };

export type ReplicaOptions = {
  /** As in `PARALLAX_ROLES`. */
  readonly roles: string;
  /** Of a replica that ended: the new one listens where that one did. */
  readonly ports?: Ports;
  readonly environment?: Readonly<Record<string, string>>;
};

let count = 0;

/** The environment of a replica without its ports and roles: where the running product has its database. */
export async function replicaEnvironment(product: Product): Promise<Record<string, string>> {
  // The supervisor writes it down a moment after the product has answered that it is ready.
  const urls = await eventually(
    'the running product to say where its own database is',
    async () => readRunning(product.dataDir)?.database_urls ?? undefined,
  );
  return {
    ...product.environment,
    PARALLAX_DATABASE_URL: urls.owner,
    PARALLAX_DATABASE_API_URL: urls.api,
    PARALLAX_DATABASE_WORKER_URL: urls.worker,
  };
}

/** Starts a replica and waits until it serves; the caller stops it. Its output goes to a file in the data folder too. */
export async function startReplica(product: Product, options: ReplicaOptions): Promise<Replica> {
  const [http = 0, grpc = 0, enrolment = 0] = await freePorts(3);
  const ports = options.ports ?? { http, grpc, enrolment };
  count += 1;
  const process = startNode(
    ['control-plane/src/main.ts', 'serve'],
    {
      ...(await replicaEnvironment(product)),
      PARALLAX_ROLES: options.roles,
      PARALLAX_HTTP_PORT: String(ports.http),
      PARALLAX_GRPC_PORT: String(ports.grpc),
      PARALLAX_ENROLMENT_PORT: String(ports.enrolment),
      ...options.environment,
    },
    path.join(product.dataDir, `replica-${count}.log`),
  );
  let ended: number | undefined;
  void process.ended.then((code) => (ended = code));
  const name = await eventually(
    `a replica with ${options.roles} to serve, or its end`,
    async () => (ended === undefined ? servingName(process.output()) : ''),
    { timeoutMs: 60_000 },
  ).catch((error: unknown) => {
    process.kill('SIGKILL');
    throw error;
  });
  if (name === '') throw new Error(`a replica with ${options.roles} ended with ${ended}:\n${process.output()}`);
  return {
    name,
    process,
    ports,
    baseUrl: `http://localhost:${ports.http}`,
    enrolmentAddress: `127.0.0.1:${ports.enrolment}`,
  };
}

/** The name that a replica gave itself, from the line that it writes when it serves. */
export function servingName(output: string): string | undefined {
  return logLines(output).find((line) => line['msg'] === 'serving')?.['replica'] as string | undefined;
}

/** The JSON lines of a log; what is no such line is left out. */
export function logLines(output: string): Record<string, unknown>[] {
  return output.split('\n').flatMap((line) => {
    try {
      const parsed: unknown = JSON.parse(line);
      return typeof parsed === 'object' && parsed !== null ? [{ ...parsed }] : [];
    } catch {
      return [];
    }
  });
}

/** What stands between probes and several replicas: one address that spreads connections over those that accept them. */
export type Forwarder = {
  /** `host:port` */
  readonly address: string;
  /** Ports on 127.0.0.1; each new connection tries them in turn, beginning behind the one that the last connection got. */
  readonly setBackends: (ports: readonly number[]) => void;
  /** Cuts the oldest connection to a backend; false when there is none. */
  readonly cutOne: (port: number) => boolean;
  readonly close: () => Promise<void>;
};

export async function startForwarder(): Promise<Forwarder> {
  const [port = 0] = await freePorts(1);
  let backends: readonly number[] = [];
  let turn = 0;
  const open = new Set<{ readonly client: Socket; readonly backend: number }>();

  function forward(client: Socket, left: number): void {
    const backend = backends[turn % Math.max(1, backends.length)];
    turn += 1;
    if (backend === undefined || left === 0) {
      client.destroy();
      return;
    }
    const upstream = connect(backend, '127.0.0.1');
    const connection = { client, backend };
    const onRefused = (): void => forward(client, left - 1);
    upstream.once('error', onRefused);
    upstream.once('connect', () => {
      upstream.off('error', onRefused);
      open.add(connection);
      const end = (): void => {
        open.delete(connection);
        client.destroy();
        upstream.destroy();
      };
      for (const socket of [client, upstream]) {
        socket.on('error', end);
        socket.on('close', end);
      }
      client.pipe(upstream).pipe(client);
    });
  }

  const server = createServer((client) => {
    client.on('error', () => client.destroy());
    forward(client, backends.length);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    address: `127.0.0.1:${port}`,
    setBackends: (ports) => {
      backends = ports;
    },
    cutOne: (backend) => {
      const connection = [...open].find((one) => one.backend === backend);
      connection?.client.destroy();
      return connection !== undefined;
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const { client } of open) client.destroy();
      await closed;
    },
  };
}
