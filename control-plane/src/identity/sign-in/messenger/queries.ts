import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';

// Longer than signed data counts, a clock ahead included.
const life = '12 minutes';

/** Counts a signature: true the first time, for exactly one of those that try. Before the tenant is known. */
export async function useProof(pool: DatabasePool, digest: Buffer): Promise<boolean> {
  return pool.oneFirst(sql.type(z.object({ first: z.boolean() }))`
    select identity_use_proof(${sql.binary(digest)}, ${life}::interval) as first`);
}
