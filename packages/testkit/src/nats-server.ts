import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  chooseDataFolder,
  findNatsServer,
  startNats,
  type NatsOperator,
  type NatsOptions,
  type NatsTls,
} from '@parallax/embedded';
import { freePort } from './free-port.ts';
import { quietLog } from './quiet-log.ts';
import type { TestContext } from './test-context.ts';

export type TestNatsOptions = {
  /** Absent: anybody may do anything. */
  readonly operator?: NatsOperator;
  readonly tls?: NatsTls;
} & Partial<Pick<NatsOptions, 'maxFileBytes' | 'maxMemoryBytes' | 'maxPayloadBytes' | 'log'>>;

export type TestNatsServer = {
  readonly url: string;
  readonly port: number;
  /** Its data folder; the store of JetStream is `nats/jetstream` in it. */
  readonly dataDir: string;
  pid(): number;
  /** Ends it with SIGKILL, as a crash would. */
  kill(): Promise<void>;
  stop(): Promise<void>;
  /** Starts it again on the same port and store, with other accounts if given. */
  start(changed?: Pick<TestNatsOptions, 'operator'>): Promise<void>;
};

/** A real nats-server with JetStream on a free port of loopback, ended and removed with the test. */
export async function natsServer(t: TestContext, options: TestNatsOptions = {}): Promise<TestNatsServer> {
  const checkout = path.resolve(import.meta.dirname, '../../..');
  const { folder } = chooseDataFolder({ named: process.env['PARALLAX_DATA_DIR'], checkout });
  const found = findNatsServer(process.env, { dataDir: folder });
  if (found === undefined)
    throw new Error(
      'nats-server is not installed: apt-get install nats-server, brew install nats-server, or set PARALLAX_NATS_SERVER',
    );
  const dataDir = mkdtempSync(path.join(tmpdir(), 'parallax-nats-'));
  let current: Awaited<ReturnType<typeof startNats>> | undefined;
  t.teardown(async () => {
    await current?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const startOn = async (port: number, given: TestNatsOptions) => {
    current = await startNats({ log: quietLog, ...given, binary: found.path, dataDir, host: '127.0.0.1', port });
    return { url: current.url, port };
  };
  const { url, port } = await onFreePort((free) => startOn(free, options));
  return {
    url,
    port,
    dataDir,
    pid: () => current?.pid ?? 0,
    kill: async () => {
      if (current !== undefined) process.kill(current.pid, 'SIGKILL');
      await current?.exited;
    },
    stop: async () => {
      await current?.stop();
    },
    start: async (changed = {}) => {
      await current?.stop();
      await startOn(port, { ...options, ...changed });
    },
  };
}

/** Between finding a free port and taking it somebody else may take it; then another one is tried. */
async function onFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(await freePort());
    } catch (error) {
      if (attempt === 5 || !/address already in use/.test(String(error))) throw error;
    }
  }
}
