import type { Authority, NatsAuthority } from '@parallax/pki';
import type { DatabasePool } from 'slonik';
import { createSealer } from '../platform/crypto/seal.ts';
import type { Sealer } from '../platform/crypto/seal.ts';
import { sql } from '../platform/database/pools.ts';
import { InstallationError } from './errors.ts';
import { installationRow, requireSameKey } from './fixed.ts';
import { requireKey } from './key-encryption-key.ts';
import type { KeySource } from './key-encryption-key.ts';
import { loadAuthority, loadNatsAuthority } from './keys.ts';

/** An installation as a running process holds it. */
export type OpenInstallation = {
  readonly sealer: Sealer;
  readonly shards: number;
  readonly authority: Authority;
  readonly nats: NatsAuthority;
};

/**
 * Opens an installation that was prepared before.
 * @throws InstallationError when it was not, or the key-encryption key is missing or another
 */
export async function openInstallation(
  options: KeySource & {
    /** A pool of the worker login. */
    readonly pool: DatabasePool;
    readonly nowMs: number;
  },
): Promise<OpenInstallation> {
  const { pool, nowMs } = options;
  const row = await pool.maybeOne(sql.type(installationRow)`select shards, key_check from installation`);
  if (row === null) throw new InstallationError('the database was not set up yet: run control-plane prepare first');
  const sealer = createSealer(await requireKey(options));
  requireSameKey(row, sealer);
  const authority = await loadAuthority(pool, sealer, nowMs);
  return { sealer, shards: row.shards, authority, nats: await loadNatsAuthority(pool, sealer) };
}
