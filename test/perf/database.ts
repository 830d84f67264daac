import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { postgresOwner, startPostgres } from '@parallax/embedded';
import { createLogger } from '@parallax/telemetry';
import pg from 'pg';
import { migrate } from '../../control-plane/src/platform/database/migrate.ts';
import { openDatabase } from '../../control-plane/src/platform/database/pools.ts';
import { placeDatabase } from '../harness/prepared-database.ts';

/** Warnings among what a bench says. */
export function benchLog(say: (line: string) => void) {
  return createLogger({ name: 'bench', level: 'warn', destination: { write: (line: string) => say(line.trim()) } });
}

/** A durable PostgreSQL of its own, empty but for the schema where a test runs the bench; ends, with its files, by `teardown`. */
export async function startDurablePostgres(
  say: (line: string) => void,
  teardown: (step: () => unknown) => void,
  settings: Readonly<Record<string, string>> = {},
) {
  const log = benchLog(say);
  const dataDir = mkdtempSync(path.join(tmpdir(), 'parallax-bench-'));
  chmodSync(dataDir, 0o711);
  teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  await placeDatabase(dataDir);
  say('starting PostgreSQL (fsync on)');
  const postgres = await startPostgres({ dataDir, durable: true, log, settings });
  teardown(() => postgres.stop());
  return postgres;
}

/** The same with the schema of the product, and logins of owner, requests and worker. */
export async function startDatabase(
  say: (line: string) => void,
  teardown: (step: () => unknown) => void,
  settings: Readonly<Record<string, string>> = {},
) {
  const postgres = await startDurablePostgres(say, teardown, settings);
  const urls = {
    owner: postgres.url('postgres', postgresOwner),
    api: postgres.url('postgres', 'parallax_api'),
    worker: postgres.url('postgres', 'parallax_worker'),
  };
  await migrate(urls.owner);
  const owner = new pg.Pool({ connectionString: urls.owner, max: 1 });
  // Its end does not wait for the connection's, and the server's end cuts that.
  owner.on('error', () => undefined);
  teardown(() => owner.end());
  const database = await openDatabase(urls, { api: 1, worker: 4 });
  teardown(() => database.close());
  return {
    urls,
    pid: postgres.pid,
    /** Ends the server before the bench is over. */
    stop: () => postgres.stop(),
    owner,
    worker: database.raw,
    readers: database.worker,
    requests: database.api,
    all: database,
  };
}
