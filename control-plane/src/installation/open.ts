import type { Authority, NatsAuthority } from '@parallax/pki';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { createSealer } from '../platform/crypto/seal.ts';
import type { Keyring } from '../platform/crypto/seal.ts';
import { readMigrations, refuseForeignSchema } from '../platform/database/migrate.ts';
import { sql } from '../platform/database/pools.ts';
import { InstallationError } from './errors.ts';
import { installationRow, requireSameKey, requireSameShards } from './fixed.ts';
import { requireKeys } from './key-encryption-key.ts';
import type { KeySource } from './key-encryption-key.ts';
import { loadAuthority, loadNatsAuthority } from './keys.ts';

/** An installation as a running process holds it. */
export type OpenInstallation = {
  readonly sealer: Keyring;
  readonly shards: number;
  readonly authority: Authority;
  readonly nats: NatsAuthority;
};

/**
 * Opens an installation that was prepared before.
 * @throws InstallationError when it was not, or the key-encryption key is missing or another, or the number of shards is another
 */
export async function openInstallation(
  options: KeySource & {
    /** A pool of the worker login. */
    readonly pool: DatabasePool;
    readonly nowMs: number;
    /** As whoever opens it believes; absent: as it is. */
    readonly shards?: number;
  },
): Promise<OpenInstallation> {
  const { pool, nowMs } = options;
  await requireSchema(pool);
  const row = await pool.maybeOne(sql.type(installationRow)`select shards, key_check from installation`);
  if (row === null) throw new InstallationError(notSetUp);
  const [first, ...others] = await requireKeys(options);
  const sealer = requireSameKey(row, createSealer(first, others));
  if (options.shards !== undefined) requireSameShards(row, options.shards);
  const authority = await loadAuthority(pool, sealer, nowMs);
  return { sealer, shards: row.shards, authority, nats: await loadNatsAuthority(pool, sealer) };
}

const appliedRow = z.object({ number: z.number(), name: z.string(), checksum: z.string() });
const notSetUp = 'the database was not set up yet: run control-plane prepare first';

/** A process that runs on a schema it does not know would fail late, or worse, not fail. */
async function requireSchema(pool: DatabasePool): Promise<void> {
  const isThere = await pool.exists(
    sql.unsafe`select from pg_class where oid = to_regclass('public.schema_migrations')`,
  );
  if (!isThere) throw new InstallationError(notSetUp);
  const applied = await pool.any(sql.type(appliedRow)`
    select number, name, checksum from schema_migrations order by number`);
  const wanted = await readMigrations();
  refuseForeignSchema(applied, wanted);
  if (applied.length < wanted.length) {
    throw new InstallationError(
      `the database has schema ${applied.length} and this program needs ${wanted.length}: run control-plane prepare, which brings it up to date`,
    );
  }
}
