import { AsyncLocalStorage } from 'node:async_hooks';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from './pools.ts';
import type { Transaction } from './pools.ts';

/** Whose rows a transaction may touch. Goes first in every query that touches a tenant's row. */
export type Scope = { readonly userId: number | null; readonly workspaceIds: readonly number[] };

/** Joins the transactions of a request: run as the last step of each, so that what it writes is committed with the work or not at all. */
export type BeforeCommit = (scope: Scope, transaction: Transaction) => Promise<void>;

/** The one of the request under way, where there is one. */
export const beforeCommit = new AsyncLocalStorage<BeforeCommit>();

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
    await transaction.query(sql.prepared('request-scope', z.looseObject({}))`
      select set_config('parallax.workspaces', ${scope.workspaceIds.join(',')}, true),
             set_config('parallax.user_id', ${scope.userId === null ? '' : String(scope.userId)}, true)
    `);
    const result = await work(transaction);
    await beforeCommit.getStore()?.(scope, transaction);
    return result;
  });
}
