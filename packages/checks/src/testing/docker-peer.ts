import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { TlsOptions } from 'node:tls';
import { listen, type Peer } from './context.ts';

/** What a test says of a container; the rest is filled up as the daemon does. */
export type FakeContainer = {
  readonly status?: string;
  readonly health?: 'starting' | 'healthy' | 'unhealthy';
  readonly exitCode?: number;
  readonly restarts?: number;
  readonly startedAt?: string;
  readonly error?: string;
  readonly outOfMemory?: boolean;
};

/** A daemon of Docker, as its Engine API describes it: it knows `_ping`, `version` and the description of a container. */
export type FakeDocker = {
  /** By name; may be changed while it runs. */
  readonly containers: Map<string, FakeContainer>;
  /** Method and path of each request, in order. */
  readonly requests: string[];
  readonly listener: RequestListener;
};

const identifier = '8f3c1d0e9b7a65544332211000112233445566778899aabbccddeeff00112233';
/** Stands in the environment of every container: nothing of it may be shown. */
export const containerSecret = 'PASSWORD=environment-of-the-container';

/** A daemon without a listener of its own. */
export function fakeDocker(containers: Readonly<Record<string, FakeContainer>> = {}): FakeDocker {
  const docker = { containers: new Map(Object.entries(containers)), requests: [] as string[] };
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    docker.requests.push(`${request.method} ${request.url}`);
    const path = (request.url ?? '').replace(/^\/v1\.\d+(?=\/)/, '');
    const [status, body] = answerTo(request.method ?? '', path, docker.containers);
    const text = `${JSON.stringify(body)}\n`;
    response.writeHead(status, {
      'Api-Version': '1.47',
      'Content-Type': 'application/json',
      'Docker-Experimental': 'false',
      Ostype: 'linux',
      Server: 'Docker/27.3.1 (linux)',
      'Content-Length': Buffer.byteLength(text),
    });
    response.end(text);
  };
  return { ...docker, listener };
}

function answerTo(
  method: string,
  path: string,
  containers: ReadonlyMap<string, FakeContainer>,
): readonly [number, unknown] {
  if (method !== 'GET') return [405, { message: 'method not allowed' }];
  if (path === '/_ping') return [200, 'OK'];
  if (path === '/version') return [200, { Version: '27.3.1', ApiVersion: '1.47', MinAPIVersion: '1.24' }];
  const name = /^\/containers\/([^/?]+)\/json$/.exec(path)?.[1];
  if (name === undefined) return [404, { message: 'page not found' }];
  const container = containers.get(decodeURIComponent(name));
  return container === undefined
    ? [404, { message: `No such container: ${name}` }]
    : [200, description(name, container)];
}

/** The shape of ContainerInspect in the Engine API, as far as anybody may look. */
function description(name: string, container: FakeContainer): object {
  const { status = 'running', health, exitCode = 0, restarts = 0, error = '', outOfMemory = false } = container;
  const startedAt = container.startedAt ?? new Date(Date.now() - 3_600_000).toISOString();
  return {
    Id: identifier,
    Created: '2026-01-01T00:00:00.000000000Z',
    Name: `/${name}`,
    RestartCount: restarts,
    State: {
      Status: status,
      Running: status === 'running',
      Paused: status === 'paused',
      Restarting: status === 'restarting',
      OOMKilled: outOfMemory,
      Dead: status === 'dead',
      Pid: status === 'running' ? 4711 : 0,
      ExitCode: exitCode,
      Error: error,
      StartedAt: startedAt,
      FinishedAt: '0001-01-01T00:00:00Z',
      ...(health && {
        Health: { Status: health, FailingStreak: health === 'unhealthy' ? 4 : 0, Log: [{ Output: containerSecret }] },
      }),
    },
    Config: { Image: 'nginx:1.27', Env: [containerSecret], Labels: { token: containerSecret } },
  };
}

/** Lets a daemon listen on a port of loopback, with TLS where it is given a certificate. */
export function listenDocker(docker: FakeDocker, secure?: TlsOptions): Promise<Peer> {
  return listen(secure === undefined ? createServer(docker.listener) : createSecureServer(secure, docker.listener));
}

/** Lets a daemon listen on a socket of the file system. @returns what ends it */
export async function listenDockerAt(docker: FakeDocker, path: string): Promise<() => Promise<void>> {
  const server = createServer(docker.listener);
  await new Promise<void>((resolve) => {
    server.listen(path, resolve);
  });
  return () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
}
