import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { MoveDeadlines } from '../../intake-watch/index.ts';
import { writeRange } from '../queries.ts';
import { stateFields, stateOf } from '../row.ts';
import type { StateRow } from '../row.ts';
import type { State } from '../state.ts';

const instant = (ms: number) => sql.timestamp(new Date(ms));

/** Moves deadlines that were ahead at an instant: what was due before was missed before. Locked in one order, as everywhere. */
export const moveWebhookDeadlines: MoveDeadlines = async (tx, aheadOfMs, creditMs) => {
  await tx.query(sql.unsafe`
    with moved as materialized (
      select id from webhook_checks where deadline_at > ${instant(aheadOfMs)} order by id for update
    )
    update webhook_checks c set deadline_at = deadline_at + ${creditMs} * interval '1 millisecond' from moved where c.id = moved.id`);
};

/** Checks whose deadline has passed while deliveries were taken, the longest overdue first. */
export async function overdueChecks(worker: DatabasePool, nowMs: number, limit: number): Promise<readonly StateRow[]> {
  return worker.any(sql.type(z.object(stateFields))`
    select id, workspace_id, name, expected_interval_seconds, grace_period_seconds, rules, status, status_since, reason, last_received_at,
      expects_from, next_expected_at, deadline_at
    from webhook_checks
    where deadline_at <= least(${instant(nowMs)}, (select taken_until from intake_watch))
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
