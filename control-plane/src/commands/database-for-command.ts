import { existsSync } from 'node:fs';
import path from 'node:path';
import {
  chooseDataFolder,
  databaseAccount,
  lockFolder,
  openDataFolder,
  privateFolder,
  startPostgres,
} from '@parallax/embedded';
import type { ControlPlaneSettings } from '@parallax/settings';
import type { Logger } from '@parallax/telemetry';
import { databaseUrls } from '../database-urls.ts';
import type { DatabaseUrls } from '../platform/database/pools.ts';
import { endLeftovers, readRunning } from '../supervisor/index.ts';
import { checkout } from './command-settings.ts';
import { UsageError } from './usage-error.ts';

export type CommandDatabase = {
  /** Of the embedded PostgreSQL; for another database, the folder that may hold the key-encryption key. */
  readonly dataDir: string;
  /** Whether the database is the operator's own. */
  readonly isNamed: boolean;
  /** Starts the embedded PostgreSQL when nothing runs; asked for at most once. */
  readonly open: () => Promise<DatabaseUrls>;
};

/**
 * Gives a command the database of an installation, whether or not it runs: as named, that of what runs on the data folder, or
 * the embedded PostgreSQL, started for the time of the command while the data folder is locked.
 * @param use `existing`: there must be a database; `new`: nothing may run on the data folder
 */
export async function withDatabase<Result>(
  settings: ControlPlaneSettings,
  use: 'existing' | 'new',
  log: Logger,
  work: (database: CommandDatabase) => Promise<Result>,
): Promise<Result> {
  if (settings.databaseUrl !== undefined) {
    const urls = databaseUrls(settings, settings.databaseUrl);
    return work({ dataDir: settings.dataDir ?? './data', isNamed: true, open: () => Promise.resolve(urls) });
  }
  const { folder: dataDir } = chooseDataFolder({ named: settings.dataDir, checkout });
  const running = readRunning(dataDir);
  if (running !== undefined) {
    const urls = running.database_urls;
    if (use === 'new') {
      throw new UsageError(
        `Parallax runs on the data folder ${dataDir}: stop it, and name a new data folder as PARALLAX_DATA_DIR`,
      );
    }
    if (urls === null) {
      throw new UsageError(
        `what runs on the data folder ${dataDir} has its database elsewhere: set PARALLAX_DATABASE_URL as it was set for npm start`,
      );
    }
    return work({ dataDir, isNamed: false, open: () => Promise.resolve(urls) });
  }
  if (use === 'existing' && !existsSync(path.join(dataDir, 'postgres'))) {
    throw new UsageError(
      `there is no database in the data folder ${dataDir}: name the right one as PARALLAX_DATA_DIR, or set PARALLAX_DATABASE_URL`,
    );
  }
  return withEmbedded(dataDir, log, work);
}

async function withEmbedded<Result>(
  dataDir: string,
  log: Logger,
  work: (database: CommandDatabase) => Promise<Result>,
): Promise<Result> {
  let release: () => Promise<void> = () => Promise.resolve();
  const open = async (): Promise<DatabaseUrls> => {
    openDataFolder(dataDir, databaseAccount());
    const lock = await lockFolder(dataDir);
    release = () => lock.release();
    privateFolder(path.join(dataDir, 'run'), undefined);
    await endLeftovers(dataDir, log);
    const postgres = await startPostgres({ dataDir, durable: true, log });
    release = async () => {
      await postgres.stop();
      await lock.release();
    };
    return {
      owner: postgres.url('postgres'),
      api: postgres.url('postgres', 'parallax_api'),
      worker: postgres.url('postgres', 'parallax_worker'),
    };
  };
  try {
    return await work({ dataDir, isNamed: false, open });
  } finally {
    await release();
  }
}
