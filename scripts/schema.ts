// The text of schema.sql, from a database that the migrations made.
import { accessSync, chmodSync, constants, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startPostgres } from '@parallax/embedded';
import { createLogger } from '@parallax/telemetry';
import { migrate } from '../control-plane/src/platform/database/migrate.ts';
import { schemaListing } from '../control-plane/src/platform/database/schema-listing.ts';

export const text = await textFromDatabase();

async function textFromDatabase(): Promise<string> {
  const dataDir = mkdtempSync(path.join(scratchFolder(), 'parallax-schema-'));
  chmodSync(dataDir, 0o711);
  try {
    const postgres = await startPostgres({
      dataDir,
      durable: false,
      log: createLogger({ name: 'schema', level: 'silent' }),
    });
    try {
      await migrate(postgres.url('postgres'));
      return await schemaListing(postgres.url('postgres'));
    } finally {
      await postgres.stop();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Memory in place of the disk saves half of the time. It needs room, which containers often lack, and programs must be allowed to run there. */
function scratchFolder(): string {
  const memory = '/dev/shm';
  try {
    accessSync(memory, constants.W_OK);
    const { bavail, bsize } = statfsSync(memory);
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .findLast(([, at]) => at === memory);
    const runsPrograms = mount !== undefined && !mount[3]?.split(',').includes('noexec');
    if (bavail * bsize > 512 * 2 ** 20 && runsPrograms) return memory;
  } catch {
    // There is no such folder: the disk does.
  }
  return tmpdir();
}
