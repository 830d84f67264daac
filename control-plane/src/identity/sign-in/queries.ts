import type { DatabasePool } from 'slonik';
import { sql } from '../../platform/database/pools.ts';

/** Removes what waited for an answer that did not come, and signatures that are too old to count again. */
export async function sweepSignIns(pool: DatabasePool): Promise<void> {
  await pool.query(sql.unsafe`delete from pending_sign_ins where expires_at < now()`);
  await pool.query(sql.unsafe`delete from sign_in_challenges where expires_at < now()`);
  await pool.query(sql.unsafe`delete from used_proofs where expires_at < now()`);
  await pool.query(sql.unsafe`delete from second_factor_failures where last_failed_at < now() - interval '1 day'`);
}
