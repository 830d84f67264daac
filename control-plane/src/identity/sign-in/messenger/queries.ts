import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';

// Longer than signed data counts, a clock ahead included.
const life = '12 minutes';
const lifeOfWebapp = '62 minutes';

/** Counts a signature: true the first time, for exactly one of those that try. Before the tenant is known. */
export async function useProof(pool: DatabasePool, digest: Buffer): Promise<boolean> {
  return pool.oneFirst(sql.type(z.object({ first: z.boolean() }))`
    select identity_use_proof(${sql.binary(digest)}, ${life}::interval) as first`);
}

/** The account that data of a mini app was used for; null: none yet. Before the tenant is known. */
export async function proofOwner(pool: DatabasePool, digest: Buffer): Promise<number | null> {
  return pool.oneFirst(sql.type(z.object({ owner: z.number().nullable() }))`
    select identity_proof_owner(${sql.binary(digest)}) as owner`);
}

/** Keeps which account data of a mini app is used for; false when it was another one. Before the tenant is known. */
export async function keepProof(pool: DatabasePool, digest: Buffer, userId: number): Promise<boolean> {
  return pool.oneFirst(sql.type(z.object({ kept: z.boolean() }))`
    select identity_keep_proof(${sql.binary(digest)}, ${userId}, ${lifeOfWebapp}::interval) as kept`);
}
