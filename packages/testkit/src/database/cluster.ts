import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { identityOf } from '@parallax/embedded';
import { z } from 'zod';
import { memoryFolder } from '../memory-folder.ts';

/** The PostgreSQL that all test files of a run share. */
export type DatabaseCluster = {
  /** A URL over its Unix socket; default user: the superuser. */
  url(database: string, user?: string): string;
};

const keeperSchema = z.object({ leases: z.string(), example: z.string() });
const startTimeoutMs = 60_000;
let cluster: Promise<DatabaseCluster> | undefined;

/**
 * The shared PostgreSQL (nothing synced to disk). The first to ask starts a keeper process, which ends it and removes its files when
 * no test file uses it any more and the test runner is gone. This process counts as a user until it ends.
 */
export function databaseCluster(): Promise<DatabaseCluster> {
  return (cluster ??= join());
}

/**
 * The folder of the keeper of this checkout and this user: in memory where the machine has enough of it, else below `/tmp`. A clone is 14 MB in
 * 1,200 files, which the kernel spends more time on than PostgreSQL when they lie on a disk.
 */
export function keeperFolder(): string {
  const key = createHash('sha256')
    .update(import.meta.dirname)
    .digest('hex')
    .slice(0, 8);
  return path.join(memoryFolder() ?? '/tmp', `parallax-test-${process.getuid?.() ?? 0}-${key}`);
}

async function join(): Promise<DatabaseCluster> {
  const folder = keeperFolder();
  const deadline = performance.now() + startTimeoutMs;
  for (let nextStartAt = 0; performance.now() < deadline; await sleep(25)) {
    const keeper = readKeeper(folder);
    const lease = keeper === undefined ? undefined : await takeLease(keeper.leases);
    if (keeper !== undefined && lease !== undefined) {
      return { url: (database, user) => withDatabase(keeper.example, database, user) };
    }
    if (performance.now() > nextStartAt) {
      startKeeper(folder);
      nextStartAt = performance.now() + 5_000;
    }
  }
  throw new Error(
    `the PostgreSQL of the tests did not come up within ${startTimeoutMs} ms:\n${readText(path.join(folder, 'keeper.log')).slice(-4_000)}`,
  );
}

function readKeeper(folder: string): z.infer<typeof keeperSchema> | undefined {
  try {
    return keeperSchema.parse(JSON.parse(readFileSync(path.join(folder, 'keeper.json'), 'utf8')));
  } catch {
    return undefined;
  }
}

/** A connection that stays open, without keeping this process alive. The keeper answers with one byte when it takes the lease. */
function takeLease(leases: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(leases);
    socket.once('error', () => resolve(undefined));
    socket.once('close', () => resolve(undefined));
    socket.once('data', () => {
      socket.unref();
      resolve(socket);
    });
    // The runner starts every test file as its child; without a runner the parent is a shell, which says nothing.
    const runner = process.env['TAP'] === '1' ? identityOf(process.ppid) : undefined;
    socket.write(`${JSON.stringify({ runner: runner ?? null })}\n`);
  });
}

function startKeeper(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  const log = openSync(path.join(folder, 'keeper.log'), 'a', 0o600);
  // Without the flags of this process: what a test runner preloads has no business there.
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'keeper.ts'), folder], {
    cwd: '/',
    detached: true,
    stdio: ['ignore', log, log],
    env: { PATH: process.env['PATH'] ?? '', NODE_OPTIONS: '' },
  });
  child.once('error', (error) => writeFileSync(path.join(folder, 'keeper.log'), `${error.message}\n`, { flag: 'a' }));
  child.unref();
  closeSync(log);
}

function withDatabase(example: string, database: string, user: string | undefined): string {
  const [, owner = '', place = ''] = /^postgresql:\/\/([^@]+)@([^/]+)\//.exec(example) ?? [];
  return `postgresql://${user === undefined ? owner : encodeURIComponent(user)}@${place}/${encodeURIComponent(database)}`;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
