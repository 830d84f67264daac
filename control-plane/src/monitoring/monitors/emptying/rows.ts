import type { ResetStats } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';

/** How many rows of each kind were removed. */
export type Removed = Readonly<Partial<ResetStats['removed']>>;

/** What a look at some rows came to. */
export type Removal = {
  readonly removed: Removed;
  /** There was something when it looked: it may have been more than a batch. */
  readonly wasAny: boolean;
  /** All of it was held by other transactions, and nothing was removed. */
  readonly wasHeld: boolean;
};

/**
 * Rows that a capability keeps of a monitor, in too large a number for one transaction: removes a batch of them, those that begin before
 * `beforeMs` (milliseconds since the epoch), or of all when it is null. Run again and again, by the worker login, until there is nothing left.
 */
export type RowsOfMonitor = (
  worker: CommonQueryMethods,
  monitorId: number,
  beforeMs: number | null,
) => Promise<Removal>;

/** Adds up what was removed. */
export function sumOfRemoved(...parts: readonly (Removed | void)[]): Required<Removed> {
  const sum: { -readonly [Kind in keyof ResetStats['removed']]: number } = {
    results: 0,
    result_evidence: 0,
    status_ranges: 0,
    probe_ranges: 0,
    hourly_aggregates: 0,
    daily_aggregates: 0,
    diagnoses: 0,
    incidents: 0,
  };
  for (const part of parts) {
    for (const [kind, count] of Object.entries(part ?? {})) sum[kind as keyof typeof sum] += count;
  }
  return sum;
}
