import type { Transaction } from '../database/pools.ts';

/** One row of the outbox as a consumer sees it. */
export type OutboxRow = {
  readonly id: number;
  readonly key: string;
  readonly kind: string;
  readonly payload: unknown;
  readonly createdAtMs: number;
  readonly attempts: number;
};

/**
 * Acts on one kind of state change. Runs in the transaction that marks the row as done, so what it writes to the database
 * happens exactly once; whatever leaves the database happens at least once. Throwing puts the row back with a delay. A consumer that
 * asks nothing of the database for longer than the lease (`leaseSeconds`) loses its transaction.
 */
export type OutboxConsumer<Context> = {
  readonly kind: string;
  readonly consume: (transaction: Transaction, row: OutboxRow, context: Context) => Promise<void>;
  /**
   * The same for up to 100 rows at once, all of different keys: for what comes in floods. When it throws, each row is handed to `consume` alone,
   * so that one that cannot be understood does not hold up the others; it must do the same by itself.
   */
  readonly consumeMany?: (transaction: Transaction, rows: readonly OutboxRow[], context: Context) => Promise<void>;
};
