import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { FolderInUseError, lockFolder, startPostgres } from '@parallax/embedded';
import { quietLog } from '@parallax/testkit';

const withinMs = 120_000;

/**
 * Puts a database with the present schema and nothing else into a data folder, as the first start of an installation would make it in two seconds of a
 * core. All test files of a run copy it from the same place, below the folder for temporary files that the runner makes and takes away; by hand each
 * start makes its own.
 */
export async function placeDatabase(dataDir: string): Promise<void> {
  if (process.env['TAP'] !== '1') return;
  // With its owner, who is PostgreSQL's account.
  await promisify(execFile)('cp', ['-a', await preparedDatabase(), path.join(dataDir, 'postgres')]);
}

/** Made by whom comes first; the others wait. */
async function preparedDatabase(): Promise<string> {
  const folder = path.join(tmpdir(), 'prepared-database');
  const made = path.join(folder, 'made');
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  for (const deadline = performance.now() + withinMs; !existsSync(made); await delay(50)) {
    if (performance.now() > deadline) throw new Error(`no database was prepared in ${folder} within ${withinMs} ms`);
    await make(folder, made).catch((error: unknown) => {
      if (!(error instanceof FolderInUseError)) throw error;
    });
  }
  return made;
}

async function make(folder: string, made: string): Promise<void> {
  const lock = await lockFolder(folder, { name: 'making' });
  try {
    if (existsSync(made)) return;
    const dataDir = mkdtempSync(path.join(folder, 'new-'));
    const postgres = await startPostgres({
      dataDir,
      durable: false,
      settings: { wal_level: 'replica' },
      log: quietLog,
    });
    try {
      // Loaded by the one that makes it alone: it is a hundred modules.
      const { migrate } = await import('../../control-plane/src/platform/database/migrate.ts');
      await migrate(postgres.url('postgres'));
    } finally {
      await postgres.stop();
    }
    renameSync(path.join(dataDir, 'postgres'), made);
    rmSync(dataDir, { recursive: true, force: true });
  } finally {
    await lock.release();
  }
}
