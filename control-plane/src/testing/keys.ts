import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { once } from 'node:events';
import { quietLog } from '@parallax/testkit';
import type { Test } from 'tap';
import { testApi } from '../identity/testing.ts';
import { authCapability } from '../identity/auth/index.ts';
import { signInCapability } from '../identity/sign-in/index.ts';
import { workspacesCapability } from '../identity/workspaces/index.ts';
import { openInstallation, prepareInstallation, startKeyWatch } from '../installation/index.ts';
import type { KeySource } from '../installation/index.ts';
import { countOthers } from '../installation/key-rotation/reseal.ts';
import { sealedPlaces } from '../installation/key-rotation/sealed-places.ts';
import { insertMonitors, insertWorkspace } from '../monitoring/check-results/ingest/testing/fixture.ts';
import { createMonitorsCapability } from '../monitoring/monitors/index.ts';
import { testBus } from '../monitoring/testing.ts';
import { encrypt } from '../platform/crypto/aes-gcm.ts';
import { derivedKey } from '../platform/crypto/key-id.ts';
import { createSealer } from '../platform/crypto/seal.ts';
import { testDatabase } from '../platform/database/testing.ts';
import { startReplicaRegister } from '../platform/replicas/job.ts';

/** When the installation was made. */
export const nowMs = Date.now();
const main = path.join(import.meta.dirname, '../main.ts');
/** What the secrets of a monitor are sealed for. */
export const contextOf = (id: number): string => `monitor ${id} secrets`;

/** For tests: an installation of its own with its data folder, and the commands that an operator runs on it. */
export async function installed(t: Test, source: Partial<KeySource> = {}) {
  const { urls, database } = await testDatabase(t);
  const dataDir = mkdtempSync(path.join(tmpdir(), 'parallax-keys-'));
  chmodSync(dataDir, 0o711);
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  await prepareInstallation({ ...source, dataDir, databaseUrls: urls, shards: 1, serverNames: [], nowMs });
  /** Starts the command as an operator does. */
  const command = (
    environment: Readonly<Record<string, string>> = {},
    words: readonly string[] = ['keys', 'rotate'],
  ) => {
    const child = spawn(process.execPath, [main, ...words], {
      env: {
        PATH: process.env['PATH'],
        PARALLAX_DATA_DIR: dataDir,
        PARALLAX_DATABASE_URL: urls.owner,
        PARALLAX_DATABASE_WORKER_URL: urls.worker,
        ...environment,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let told = '';
    child.stderr.on('data', (bytes: Buffer) => (told += bytes.toString()));
    const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, told }));
    /** Until it has told something that matches; what it has told so far. */
    const until = async (pattern: RegExp): Promise<string> => {
      while (!pattern.test(told)) await once(child.stderr, 'data');
      return told;
    };
    return { child, ended, until };
  };
  const others = async (keyId: string): Promise<number> => {
    const counts = await Promise.all(sealedPlaces.map((place) => countOthers(database.raw, place, keyId)));
    return counts.reduce((sum, count) => sum + count, 0);
  };
  return { urls, database, dataDir, command, others };
}

type Installed = Awaited<ReturnType<typeof installed>>;

/** A replica inside this process: the API with a ring of its own, known to the others. */
export async function replica(
  t: Test,
  { database, dataDir }: Installed,
  name: string,
  source: Partial<KeySource> = {},
) {
  const own = { ...source, dataDir };
  const { sealer: ring } = await openInstallation({ ...own, pool: database.worker, nowMs });
  const register = await startReplicaRegister({
    pool: database.worker,
    name,
    roles: ['api'],
    ownListeners: () => [],
    sourceAddresses: async () => [],
    log: quietLog,
    everyMs: 500,
  });
  const watch = await startKeyWatch({
    pool: database.worker,
    ring,
    source: own,
    replica: name,
    log: quietLog,
    everyMs: 100,
  });
  const stop = async (): Promise<void> => {
    await watch.stop();
    await register.stop();
  };
  const api = await testApi(t, {
    database,
    context: { bus: testBus().bus, sealer: ring },
    capabilities: [
      authCapability,
      signInCapability,
      workspacesCapability,
      createMonitorsCapability({ onMonitorDeleted: [] }),
    ],
  });
  return { ring, api, watch, stop };
}

/** Monitors whose secrets stand under a key, every other one as they were sealed before there were data keys. */
export async function monitorsWithSecrets(system: Installed, key: Buffer, count: number): Promise<readonly number[]> {
  const workspace = await insertWorkspace(system.database.raw);
  const ids = await insertMonitors(system.database.raw, workspace, { count, probes: [], createdMs: nowMs });
  const ring = createSealer(key);
  const first = (id: number): Buffer =>
    Buffer.concat([Buffer.of(1), encrypt(derivedKey(key, 'sealing'), Buffer.from(secretOf(id)), contextOf(id))]);
  await system.database.raw.query(
    `update monitors set sealed_secrets = given.sealed from unnest($1::int[], $2::bytea[]) as given (id, sealed) where monitors.id = given.id`,
    [ids, ids.map((id) => (id % 2 === 0 ? first(id) : ring.seal(secretOf(id), contextOf(id))))],
  );
  return ids;
}

/** The secret that `monitorsWithSecrets` gives a monitor. */
export const secretOf = (id: number): string => JSON.stringify({ password: `of ${id}` });
