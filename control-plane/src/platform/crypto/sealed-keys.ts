import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../database/pools.ts';
import type { Sealer } from './seal.ts';

const keyRow = z.object({ sealed: z.instanceof(Buffer), public_part: z.string().nullable() });

/** A key of the installation: its secret part opened, and what may be known of it. */
export type InstallationKey = { readonly secret: Buffer; readonly publicPart: string | null };

/**
 * Reads a key of the installation, making it at first use. Replicas that start together agree: the first insert wins and all
 * read what is stored.
 * @param pool a pool of the worker login
 */
export async function installationKey(
  pool: DatabasePool,
  sealer: Sealer,
  name: string,
  make: () => Promise<{ secret: Uint8Array; publicPart?: string }>,
): Promise<InstallationKey> {
  const stored = await readKey(pool, sealer, name);
  if (stored !== undefined) return stored;
  const made = await make();
  await pool.query(sql.type(z.object({}).loose())`
    insert into sealed_keys (name, sealed, public_part)
    values (${name}, ${sql.binary(sealer.seal(made.secret, `key ${name}`))}, ${made.publicPart ?? null})
    on conflict (name) do nothing
  `);
  const key = await readKey(pool, sealer, name);
  if (key === undefined) throw new Error(`the key ${name} was stored and is not there`);
  return key;
}

async function readKey(pool: DatabasePool, sealer: Sealer, name: string): Promise<InstallationKey | undefined> {
  const row = await pool.maybeOne(sql.type(keyRow)`select sealed, public_part from sealed_keys where name = ${name}`);
  return row === null ? undefined : { secret: sealer.open(row.sealed, `key ${name}`), publicPart: row.public_part };
}
