import { createHmac } from 'node:crypto';
import { z } from 'zod';
import type { Sealer } from '../../platform/crypto/seal.ts';

/*
 * A backup is one file: the magic, frames, the seal.
 *
 *   magic   16 bytes
 *   frame   kind (u8), length (u32, big endian), so many bytes; see `frameKinds`
 *   seal    SHA-256 of everything before (32 bytes), HMAC-SHA256 of that sum under a key that is derived from the key-encryption key (32 bytes)
 *
 * Frames in order: header; for each table a table frame, its rows in any number of frames, and a table-end frame; one frame of identities; end.
 * Rows are blocks of PostgreSQL's COPY text format, each compressed by itself with zstd, so that nobody needs a table in memory and a block that
 * claims more than `maxBlockBytes` is refused. The text format depends on no version of PostgreSQL.
 */

export const magic = Buffer.from('PARALLAX BACKUP\n', 'latin1');
export const frameHeaderBytes = 5;
export const sealBytes = 64;
/** Uncompressed bytes of rows in one frame, at most. */
export const maxBlockBytes = 1024 * 1024;
/** Longest frame that is read: a block that does not compress, or the description of many partitions. */
export const maxFrameBytes = 2 * maxBlockBytes;

export const frameKinds = { header: 1, table: 2, rows: 3, tableEnd: 4, identities: 5, end: 6 } as const;

const name = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/);
const count = z.int().min(0);

/** What stands at the beginning of a backup. */
export const headerSchema = z.object({
  format: z.literal(1),
  product_version: z.string().max(100),
  created_at: z.iso.datetime(),
  /** The migrations that the database had. */
  migrations: z
    .array(
      z.object({ number: z.int().min(1), name: z.string().max(200), checksum: z.string().regex(/^[0-9a-f]{64}$/) }),
    )
    .min(1)
    .max(10_000),
  shards: z.int().min(1).max(64),
  /** The key check of the installation, base64: it opens under the right key-encryption key only. */
  key_check: z.base64().max(1_000),
});
export type BackupHeader = z.infer<typeof headerSchema>;

export const tableSchema = z.object({
  name,
  columns: z.array(name).min(1).max(1_000),
  /** UTC days that the rows lie in, `YYYY-MM-DD`, for a table that is partitioned by day. */
  days: z.array(z.iso.date()).max(20_000).optional(),
  /** The first numbers that the partitions hold, for a table that is partitioned by a number. */
  starts: z.array(z.int()).max(20_000).optional(),
});
export type BackupTable = z.infer<typeof tableSchema>;

export const tableEndSchema = z.object({ rows: count });

/** The highest number that each identity column has given out. */
export const identitiesSchema = z.array(z.object({ table: name, column: name, last: count })).max(10_000);
export type BackupIdentities = z.infer<typeof identitiesSchema>;

export const endSchema = z.object({ tables: count, rows: count });

/** Proves that somebody with the key-encryption key wrote a file with this SHA-256. */
export function authenticate(sealer: Sealer, sum: Uint8Array): Buffer {
  return createHmac('sha256', sealer.derive('backup')).update('parallax backup\n').update(sum).digest();
}
