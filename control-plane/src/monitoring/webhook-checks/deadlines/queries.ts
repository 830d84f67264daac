import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { writeRange } from '../queries.ts';
import { stateFields, stateOf } from '../row.ts';
import type { StateRow } from '../row.ts';
import type { State } from '../state.ts';

const instant = (ms: number) => sql.timestamp(new Date(ms));
const watchRow = z.object({ taken_until: z.number().nullable() });

/**
 * Notes that deliveries are taken now, and moves the deadlines that a time without any has made unfair.
 * @param credit by how many whole milliseconds, for a time since the last note; 0: by none
 * @returns by how many milliseconds they were moved
 */
export async function noteTaken(
  worker: DatabasePool,
  nowMs: number,
  credit: (sinceMs: number) => number,
): Promise<number> {
  return worker.transaction(async (tx) => {
    const row = await tx.maybeOne(sql.type(watchRow)`select taken_until from webhook_watch for update`);
    const untilMs = row?.taken_until ?? null;
    const creditMs = untilMs === null ? 0 : credit(nowMs - untilMs);
    if (untilMs !== null && creditMs > 0) {
      // What was due before nobody listened was missed before it.
      await tx.query(sql.unsafe`
        update webhook_checks set deadline_at = deadline_at + ${creditMs}::bigint * interval '1 millisecond'
        where deadline_at > ${instant(untilMs)}`);
    }
    await tx.query(sql.unsafe`
      insert into webhook_watch (taken_until) values (${instant(nowMs)})
      on conflict (singleton) do update set taken_until = greatest(webhook_watch.taken_until, excluded.taken_until)`);
    return creditMs;
  });
}

/** Checks whose deadline has passed while deliveries were taken, the longest overdue first. */
export async function overdueChecks(worker: DatabasePool, nowMs: number, limit: number): Promise<readonly StateRow[]> {
  return worker.any(sql.type(z.object(stateFields))`
    select id, workspace_id, name, expected_interval_seconds, grace_period_seconds, rules, status, status_since, reason, last_received_at,
      expects_from, next_expected_at, deadline_at
    from webhook_checks
    where deadline_at <= least(${instant(nowMs)}, (select taken_until from webhook_watch))
    order by deadline_at limit ${limit}`);
}

/**
 * Writes a miss, unless a delivery, a change or another worker came before: the update names the status and the deadline that were seen.
 * @returns whether it was this one that noticed it
 */
export async function claimMiss(tx: Transaction, seen: StateRow, state: State): Promise<boolean> {
  if (seen.deadline_at === null) return false;
  const claimed = await tx.query(sql.unsafe`
    update webhook_checks set status = ${state.status}, reason = ${state.reason}, status_since = ${instant(state.statusSinceMs)},
      deadline_at = null
    where id = ${seen.id} and status = ${seen.status} and deadline_at = ${instant(seen.deadline_at)} and deleted_at is null`);
  if (claimed.rowCount === 0) return false;
  await writeRange(tx, seen, stateOf(seen), state);
  return true;
}
