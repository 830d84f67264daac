import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { creditOf, toleratedMs } from './credit.ts';
import type { Uncounted } from './uncounted.ts';

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
  if (await noteWithoutGap(worker, aheadMs)) return null;
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

const notedRow = z.object({ is_noted: z.boolean() });

/** The note as it is nearly always, in one statement. @returns false where it was not written, since none was for too long */
async function noteWithoutGap(worker: DatabasePool, aheadMs: number): Promise<boolean> {
  const nowAt = sql.fragment`(clock_timestamp() + ${aheadMs} * interval '1 millisecond')`;
  const noted = await worker.maybeOne(sql.type(notedRow)`
    with unsynchronized as (select set_config('synchronous_commit', 'off', true))
    update intake_watch set taken_until = greatest(taken_until, ${nowAt}) from unsynchronized
    where taken_until >= ${nowAt} - ${toleratedMs} * interval '1 millisecond'
    returning true as is_noted`);
  return noted !== null;
}

const uncountedRow = z.object({ from_at: z.number(), to_at: z.number() });

/**
 * Times of a subject that count neither way, without overlaps, oldest first: nobody took signals, so nobody could have told, or it was under maintenance.
 * Who may see the subject has been judged.
 * @param fromMs those that reach beyond it
 */
export async function uncountedSince(
  connection: CommonQueryMethods,
  subject: { readonly type: 'heartbeat' | 'webhook_check'; readonly id: number },
  fromMs: number,
): Promise<readonly Uncounted[]> {
  const from = sql.timestamp(new Date(fromMs));
  const rows = await connection.any(sql.type(uncountedRow)`
    select lower(span) as from_at, upper(span) as to_at from unnest((
      select range_agg(lost.span) from (
        select tstzrange(from_at, to_at) as span from intake_outages where to_at > ${from}
        union all
        -- What lasts has no end that is known: later than every window.
        select tstzrange(u.started_at, coalesce(u.ended_at, greatest(now(), u.started_at) + interval '1 year')) from maintenance_subjects u
        where u.subject_type = ${subject.type} and u.subject_id = ${subject.id} and (u.ended_at is null or u.ended_at > ${from})
      ) lost)) as span
    order by 1`);
  return rows.map((row) => ({ fromMs: row.from_at, toMs: row.to_at }));
}

/** Times within a window in which nobody took signals, whole, oldest first; two may overlap. */
export async function intakeOutages(
  connection: CommonQueryMethods,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<readonly Uncounted[]> {
  const rows = await connection.any(sql.type(uncountedRow)`
    select from_at, to_at from intake_outages
    where to_at > ${sql.timestamp(new Date(fromMs))} and from_at < ${sql.timestamp(new Date(toMs))} order by from_at`);
  return rows.map((row) => ({ fromMs: row.from_at, toMs: row.to_at }));
}
