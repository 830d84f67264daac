import type { DatabasePool } from 'slonik';
import { sql } from './pools.ts';
import type { Transaction } from './pools.ts';

/** Whose rows a transaction may touch. Goes first in every query that touches a tenant's row. */
export type Scope = { readonly userId: number | null; readonly workspaceIds: readonly number[] };

/**
 * Runs `work` in one transaction whose row-level security lets through exactly the scope. Nothing but the database may be
 * waited for inside. The settings end with the transaction, so a pooled connection carries nothing over.
 */
export async function inScope<Result>(
  pool: DatabasePool,
  scope: Scope,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  return pool.transaction(async (transaction) => {
    await transaction.query(sql.unsafe`
      select set_config('parallax.workspaces', ${scope.workspaceIds.join(',')}, true),
             set_config('parallax.user_id', ${scope.userId === null ? '' : String(scope.userId)}, true)
    `);
    return work(transaction);
  });
}
