import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { creditOf } from './credit.ts';

const watchRow = z.object({ taken_until: z.number().nullable(), now: z.number() });

/** Moves deadlines of one kind that were ahead at an instant, by whole milliseconds. */
export type MoveDeadlines = (tx: Transaction, aheadOfMs: number, creditMs: number) => Promise<void>;

/**
 * Notes that signals and deliveries are taken now. After a time in which no replica took any, deadlines that were still ahead when it began are moved, in
 * the same transaction: whoever reads the note finds them moved. For the worker login.
 * @param aheadMs how far the clock is ahead of the database's, which is the one that counts where replicas disagree; for tests
 * @returns by what they were moved, milliseconds; null for not at all
 */
export async function noteTaken(
  worker: DatabasePool,
  movers: readonly MoveDeadlines[],
  aheadMs = 0,
): Promise<number | null> {
  return worker.transaction(async (tx) => {
    // A note that a crash takes with it is as one that was not written: an outage counts from the one before.
    await tx.query(sql.unsafe`set local synchronous_commit = off`);
    const { taken_until: beforeMs, now } = await tx.one(sql.type(watchRow)`
      select taken_until, clock_timestamp() as now from intake_watch for update`);
    const nowMs = now + aheadMs;
    await tx.query(
      sql.unsafe`update intake_watch set taken_until = greatest(taken_until, ${sql.timestamp(new Date(nowMs))})`,
    );
    const creditMs = creditOf(beforeMs, nowMs);
    if (creditMs === null || beforeMs === null) return null;
    await tx.query(sql.unsafe`
      insert into intake_outages (from_at, to_at, credit_ms)
      values (${sql.timestamp(new Date(beforeMs))}, ${sql.timestamp(new Date(nowMs))}, ${creditMs})
      on conflict (from_at) do nothing`);
    for (const move of movers) await move(tx, beforeMs, creditMs);
    return creditMs;
  });
}
