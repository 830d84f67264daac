import { createHash } from 'node:crypto';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { readMigrations } from '../database/migrate.ts';
import { sql } from '../database/pools.ts';
import type { ShardProgress } from './ingest-lag.ts';

/** Throws when the database does not answer. */
export async function pingDatabase(pool: DatabasePool): Promise<void> {
  await pool.oneFirst(sql.type(z.object({ one: z.number() }))`select 1 as one`);
}

/** A schema by the number of its last migration and one checksum over all of them. */
export type SchemaState = { readonly version: number; readonly checksum: string };

let expected: Promise<SchemaState> | undefined;

/** The schema that this program was made for. */
export async function expectedSchema(): Promise<SchemaState> {
  expected ??= readMigrations().then((migrations) => ({
    version: migrations.length,
    checksum: combined(migrations.map((migration) => migration.checksum)),
  }));
  return expected;
}

const migrationRow = z.object({ checksum: z.string() });

/** The schema that the database has. */
export async function presentSchema(pool: DatabasePool): Promise<SchemaState> {
  const rows = await pool.any(sql.type(migrationRow)`select checksum from schema_migrations order by number`);
  return { version: rows.length, checksum: combined(rows.map((row) => row.checksum)) };
}

function combined(checksums: readonly string[]): string {
  return createHash('sha256').update(checksums.join('\n')).digest('hex');
}

const shardRow = z.object({ shard: z.number(), folded_until: z.number().nullable(), owner: z.string().nullable() });

/** How far each shard is folded. */
export async function shardProgress(pool: DatabasePool): Promise<readonly ShardProgress[]> {
  const rows = await pool.any(sql.type(shardRow)`select shard, folded_until, owner from shards order by shard`);
  return rows.map((row) => ({ shard: row.shard, foldedUntilMs: row.folded_until, hasOwner: row.owner !== null }));
}
