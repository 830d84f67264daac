import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, credsAuthenticator } from '@nats-io/transport-node';
import { createNatsSeeds, ed25519PublicKey, openNatsAuthority } from '@parallax/pki';
import { natsServer } from '@parallax/testkit';
import { maxBatchResults } from '@parallax/wire';
import type { Assignment, ResultRecord } from '@parallax/wire';
import { readIdentity } from '../../../probe-agent/src/state/identity.ts';
import { statusOfRunningAgent } from '../../../probe-agent/src/state/lock.ts';
import { anAssignment, testControlPlane } from '../../../probe-agent/src/testing/control-plane.ts';
import type { TestSession } from '../../../probe-agent/src/testing/control-plane.ts';
import { consume, createResultStream, TestIngest } from '../../../probe-agent/src/testing/ingest.ts';
import { targetAddress } from './target.ts';
import type { Teardown } from './teardown.ts';

const agentFolder = path.resolve(import.meta.dirname, '../../../probe-agent');
/** The control plane acknowledges what is committed about so often. */
const acknowledgeEveryMs = 250;
/** What takes longer on a loaded machine has gone wrong. */
const longestWaitMs = 90_000;
/** Where a monitor goes when it is not wanted: its next slot is a day away. */
const restSeconds = 86_400;

/** An agent as a process of its own, with what it talks to: enrolment and session over TLS, a real nats-server with credentials and TLS. */
export type World = {
  readonly pid: number;
  readonly probeId: number;
  readonly broker: Broker;
  /** Hears every result that the stand-in of the ingest verifies and takes from now on; gives what ends that. */
  readonly listen: (listener: (result: ResultRecord) => void) => () => void;
  /** Results and batches that were taken so far. */
  readonly taken: { results: number; batches: number; bytes: number };
  /** Checks under way in the agent; undefined when it did not say. */
  readonly inFlight: () => Promise<number | undefined>;
  /** Has `count` monitors checked every `intervalS` seconds and the others not at all. */
  readonly check: (count: number, intervalS: number) => void;
  /** Resolves when no monitor is checked and all results are committed and freed by the agent. */
  readonly rest: () => Promise<void>;
};

/** What else publishes through the same broker needs. */
export type Broker = {
  readonly address: string;
  readonly authorityDer: Uint8Array;
  readonly credentials: (probeId: number, publicKey: Uint8Array) => { jwt: string; expiresAtMs: number };
  /** Takes what this probe publishes from now on. */
  readonly take: (probeId: number, publicKey: Uint8Array, onCommitted: (position: Committed) => void) => TestIngest;
};

type Committed = { readonly epoch: number; readonly shard: number; readonly seq: number };

/** Starts all of it and waits until the agent has its assignments and its broker. */
export async function startWorld(
  options: {
    readonly folder: string;
    readonly targetPort: number;
    /** What is checked from the start. */
    readonly first: { readonly monitors: number; readonly intervalS: number };
    /** Hears every result from the first on, which may come before this resolves. */
    readonly onResult: (result: ResultRecord) => void;
    /** The agent as one file; absent: from its sources, as `npm start` runs it. */
    readonly executable?: string | undefined;
    /** Settings of the agent beside those that it needs here. */
    readonly environment?: Readonly<Record<string, string>>;
  },
  say: (line: string) => void,
  teardown: Teardown,
): Promise<World> {
  const { folder, targetPort, executable } = options;
  const controlPlane = await testControlPlane({ teardown });
  const nats = openNatsAuthority(createNatsSeeds());
  const server = await natsServer(
    { teardown },
    {
      operator: {
        operatorJwt: nats.operatorJwt(Date.now()),
        systemAccount: nats.systemAccount,
        accounts: {
          ...nats.accountJwts([], Date.now()),
          [nats.systemAccount]: nats.systemAccountJwt(Date.now()),
        },
      },
      tls: { certificatePem: controlPlane.certificate.chainPem, keyPem: controlPlane.certificate.keyPem },
    },
  );
  const brokerAddress = `127.0.0.1:${server.port}`;
  const service = await connect({
    servers: brokerAddress,
    authenticator: credsAuthenticator(Buffer.from(nats.controlPlaneCredentials(Date.now()))),
    tls: { ca: controlPlane.authority.certificatePem },
  });
  teardown(() => service.close());
  await createResultStream(service, ['results.*.0']);

  const takers = new Map<string, (payload: Uint8Array) => void>();
  await consume(service, (message) => {
    takers.get(message.subject)?.(message.data);
    message.ack();
  });
  const credentials: Broker['credentials'] = (probeId, publicKey) => {
    const expiresAtMs = Date.now() + 3_600_000;
    return { jwt: nats.mintProbeJwt({ probeId, publicKey, shards: 1, nowMs: Date.now(), expiresAtMs }), expiresAtMs };
  };
  const take: Broker['take'] = (probeId, publicKey, onCommitted) => {
    const ingest = new TestIngest(publicKey);
    takers.set(`results.${probeId}.0`, (payload) => {
      const taken = ingest.take(payload);
      if (taken === undefined) throw new Error(`the stand-in of the ingest refused a batch: ${ingest.refused.at(-1)}`);
      if ('committed' in taken) onCommitted(taken.committed);
      else session?.send({ $case: 'resendFrom', value: { position: onWire(taken.missing) } });
    });
    return ingest;
  };

  let session: TestSession | undefined;
  let revision = 1n;
  const assignment = (monitorId: number, intervalSeconds: number): Assignment =>
    anAssignment({
      monitorId,
      revision,
      intervalSeconds,
      url: `http://${targetAddress(monitorId)}:${targetPort}/`,
    });
  const current = new Map<number, number>();

  controlPlane.onSession = (started) => {
    if (session !== undefined) begin(started);
    session = started;
  };
  const begin = (started: TestSession): void => {
    if (current.size > 0) throw new Error('the session of the agent broke in the middle of the bench');
    const first = Array.from({ length: options.first.monitors }, (_, index) => index + 1);
    for (const monitorId of first) current.set(monitorId, options.first.intervalS);
    started.sendSnapshot(
      first.map((monitorId) => assignment(monitorId, options.first.intervalS)),
      revision,
    );
  };
  const child = spawn(
    '/usr/bin/env',
    ['-u', 'NODE_OPTIONS', ...(executable === undefined ? fromSources() : [executable]), 'run'],
    {
      env: {
        PATH: process.env['PATH'] ?? '',
        ...(executable === undefined && { NODE_COMPILE_CACHE: await warmedCache(folder) }),
        PARALLAX_PROBE_CONTROL_PLANE: controlPlane.enrolmentAddress,
        PARALLAX_PROBE_JOIN_TOKEN: controlPlane.joinToken(),
        PARALLAX_PROBE_STATE_DIR: path.join(folder, 'probe-state'),
        PARALLAX_PROBE_ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
        PARALLAX_PROBE_LOG_LEVEL: 'warn',
        ...options.environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  child.stdout.on('data', (part: Buffer) => say(part.toString('utf8').trim()));
  child.stderr.on('data', (part: Buffer) => say(part.toString('utf8').trim()));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  teardown(async () => {
    child.kill('SIGTERM');
    await ended;
  });

  const stateDir = path.join(folder, 'probe-state');
  const identity = await eventually('the agent registers', async () => readIdentity(stateDir).catch(() => undefined));
  const publicKey = ed25519PublicKey(identity.signingSeed);
  const { probeId } = identity;
  const taken = { results: 0, batches: 0, bytes: 0 };
  const committed = new Map<string, Committed>();
  const listeners = new Set([options.onResult]);
  const ingest = take(probeId, publicKey, (position) => {
    committed.set(`${position.epoch}/${position.shard}`, position);
    taken.batches += 1;
    for (const stream of ingest.streams.values()) {
      for (const result of stream.results.values()) {
        taken.results += 1;
        for (const listener of listeners) listener(result);
      }
      stream.results.clear();
    }
  });
  const acknowledging = setInterval(() => {
    if (committed.size === 0) return;
    session?.send({ $case: 'acknowledgements', value: { positions: [...committed.values()].map(onWire) } });
    committed.clear();
  }, acknowledgeEveryMs);
  teardown(() => clearInterval(acknowledging));

  // The session may have begun before its key was known here: give what the welcome lacks.
  const own = credentials(probeId, publicKey);
  const value = { jwt: own.jwt, expiresAtMs: BigInt(own.expiresAtMs) };
  controlPlane.welcome = { brokerAddress, credentials: value, maxBatchResults };
  const begun = await eventually('the agent opens its session', () => session);
  begun.end();
  await eventually('the agent is connected to session and broker', async () => {
    const status = await statusOfRunningAgent(stateDir).catch(() => undefined);
    return status?.['session_connected'] === true && status['broker_connected'] === true && session !== begun;
  });

  const set = (count: number, intervalS: number): void => {
    revision += 1n;
    const wanted = Array.from({ length: Math.max(count, current.size) }, (_, index) => index + 1);
    const changed: Assignment[] = [];
    for (const monitorId of wanted) {
      const intervalSeconds = monitorId <= count ? intervalS : restSeconds;
      if (current.get(monitorId) === intervalSeconds) continue;
      current.set(monitorId, intervalSeconds);
      changed.push(assignment(monitorId, intervalSeconds));
    }
    session?.send({ $case: 'assignmentDelta', value: { changed, removed: [], revision } });
  };
  return {
    listen: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    pid: child.pid ?? 0,
    probeId,
    broker: { address: brokerAddress, authorityDer: controlPlane.authority.certificateDer, credentials, take },
    taken,
    check: set,
    inFlight: async () => {
      const status = await statusOfRunningAgent(stateDir).catch(() => undefined);
      return status === undefined ? undefined : Number(status['in_flight']);
    },
    rest: async () => {
      set(0, restSeconds);
      await eventually('the agent comes to rest', async () => {
        const status = await statusOfRunningAgent(stateDir).catch(() => undefined);
        return status?.['in_flight'] === 0 && status['unacknowledged_results'] === 0;
      });
    },
  };
}

/** The command of an agent from its sources. */
function fromSources(): string[] {
  const profiles = profiling(process.env['PARALLAX_BENCH_CPU_PROFILES']);
  return [process.execPath, ...nodeOptions(), ...profiles, path.join(agentFolder, 'src/main.ts')];
}

/** What Node is told at every start of an agent. */
export function nodeOptions(): string[] {
  return JSON.parse(readFileSync(path.join(agentFolder, 'node-options.json'), 'utf8')) as string[];
}

/**
 * Compiles the agent once, as a start before has done where people run it: the first start under a Node that strips types keeps the stripper,
 * some 25 MB, in memory.
 */
async function warmedCache(folder: string): Promise<string> {
  const cache = path.join(folder, 'compile-cache');
  const parts = ['agent.ts', 'cli.ts', 'commands.ts'].map((file) =>
    JSON.stringify(`file://${agentFolder}/src/${file}`),
  );
  const imports = `await Promise.all([${parts.join()}].map((part) => import(part)))`;
  for (const args of [
    ['--input-type=module', '--eval', imports],
    [path.join(agentFolder, 'src/main.ts'), '--version'],
  ]) {
    const env = { PATH: process.env['PATH'] ?? '', NODE_COMPILE_CACHE: cache };
    const warm = spawn(process.execPath, args, { env, stdio: 'ignore' });
    await new Promise((resolve) => warm.once('close', resolve));
  }
  return cache;
}

/** A folder for profiles of the agent, one file for each of its processes and threads. */
function profiling(folder: string | undefined): string[] {
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`];
}

function onWire({ epoch, shard, seq }: Committed): { epoch: bigint; shard: number; seq: bigint } {
  return { epoch: BigInt(epoch), shard, seq: BigInt(seq) };
}

async function eventually<Found>(
  what: string,
  look: () => Promise<Found | undefined | false> | Found | undefined | false,
): Promise<Found> {
  const until = performance.now() + longestWaitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > until) throw new Error(`did not come true in ${longestWaitMs / 1_000} s: ${what}`);
    await sleep(20);
  }
}
