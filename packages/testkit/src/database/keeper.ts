// A process of its own: holds the PostgreSQL of the tests for as long as somebody uses it.
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  endLeftoverPostgres,
  FolderInUseError,
  isRunning,
  lockFolder,
  startPostgres,
  type ProcessIdentity,
} from '@parallax/embedded';
import { createLogger } from '@parallax/telemetry';
import { z } from 'zod';

/** How long it stays without users when no test runner is known: from one file run by hand to the next. */
const idleMs = 1_500;
const lookEveryMs = 100;
const helloSchema = z.object({
  runner: z.object({ pid: z.int(), startedAt: z.string(), cwd: z.string().nullable() }).nullable(),
});

const log = createLogger({ name: 'database-keeper', level: 'info', readable: false });
const folder = process.argv[2];
if (folder === undefined) throw new Error('usage: keeper.ts <folder>');
// A lost terminal or Ctrl-C in it is the test runner's business; the keeper ends when nobody uses it.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGPIPE'] as const) process.on(signal, () => {});
try {
  await keep(folder);
} catch (error) {
  // Somebody else was faster; whoever started this one finds that one.
  if (!(error instanceof FolderInUseError)) {
    log.error(error);
    process.exitCode = 1;
  }
}

async function keep(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  refuseForeign(folder);
  const lock = await lockFolder(folder, { name: 'keeper' });
  await clearEarlier(folder);
  const dataDir = mkdtempSync(path.join(folder, 'cluster-'));
  const postgres = await startPostgres({ dataDir, durable: false, log });
  const leases = new Set<Socket>();
  const runners = new Set<ProcessIdentity>();
  const server = await listen(path.join(dataDir, 'leases'), leases, runners);
  const announcement = path.join(folder, 'keeper.json');
  writeFileSync(
    `${announcement}.new`,
    JSON.stringify({ leases: path.join(dataDir, 'leases'), example: postgres.url('postgres') }),
    { mode: 0o600 },
  );
  renameSync(`${announcement}.new`, announcement);

  await untilUnused(leases, runners, postgres.exited);
  lock.markStopping();
  rmSync(announcement, { force: true });
  server.close();
  for (const lease of leases) lease.destroy();
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
  rmSync(path.join(folder, 'keeper.log'), { force: true });
  await lock.release();
  try {
    rmdirSync(folder);
  } catch {
    // The next keeper is there already.
  }
}

async function untilUnused(
  leases: ReadonlySet<Socket>,
  runners: Set<ProcessIdentity>,
  exited: Promise<unknown>,
): Promise<void> {
  let hasEnded = false;
  void exited.then(() => (hasEnded = true));
  let unusedSince = performance.now();
  for (;;) {
    await sleep(lookEveryMs);
    if (hasEnded) return;
    const hadRunner = runners.size > 0;
    for (const runner of runners) if (!isRunning(runner)) runners.delete(runner);
    if (leases.size > 0 || runners.size > 0) unusedSince = performance.now();
    else if (hadRunner || performance.now() - unusedSince > idleMs) return;
  }
}

function listen(file: string, leases: Set<Socket>, runners: Set<ProcessIdentity>): Promise<Server> {
  const server = createServer((socket) => {
    leases.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => leases.delete(socket));
    socket.once('data', (chunk) => {
      const { runner } = helloSchema.parse(JSON.parse(chunk.toString()));
      if (runner !== null && ![...runners].some((known) => known.pid === runner.pid)) runners.add(runner);
      socket.write('.');
    });
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(file, () => resolve(server));
  });
}

/** What a killed keeper left: its server is ended, its files are removed. The caller holds the lock. */
async function clearEarlier(folder: string): Promise<void> {
  rmSync(path.join(folder, 'keeper.json'), { force: true });
  for (const name of readdirSync(folder)) {
    if (!name.startsWith('cluster-')) continue;
    await endLeftoverPostgres(path.join(folder, name, 'postgres'), log);
    rmSync(path.join(folder, name), { recursive: true, force: true });
  }
}

function refuseForeign(folder: string): void {
  const stat = lstatSync(folder);
  if (!stat.isDirectory() || stat.uid !== process.getuid?.() || (stat.mode & 0o022) !== 0) {
    throw new Error(`${folder} belongs to somebody else or can be changed by others: remove it`);
  }
}
