import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { enqueue } from '../../../platform/outbox/enqueue.ts';
import type { Removed } from '../emptying/rows.ts';

/**
 * Acts, in the transaction that resets a monitor's statistics, on what another capability keeps about it. Readers must show nothing older
 * than the reset from the commit on. @returns what was removed, where the answer counts it
 */
export type OnMonitorReset = (transaction: Transaction, monitorId: number, atMs: number) => Promise<Removed | void>;

const markedRow = z.object({ reset_at: z.number(), version: z.number() });
/** A reset: when, in whole milliseconds since the epoch, and the monitor's version with it. */
export type MarkedReset = { readonly atMs: number; readonly version: number };

/**
 * Resets a monitor whose row the caller has locked: from the commit on only what is measured from this instant on counts. The status is
 * UNKNOWN at once; the ingest, which writes it otherwise, comes to the same when it learns of the reset. Others are told.
 * @param nowMs milliseconds since the epoch
 */
export async function markReset(
  transaction: Transaction,
  monitor: { readonly id: number; readonly workspace_id: number },
  nowMs: number,
): Promise<MarkedReset> {
  // Whole milliseconds, as readers bound their windows; two resets are never of one instant.
  const now = sql.timestamp(new Date(Math.floor(nowMs)));
  const row = await transaction.one(sql.type(markedRow)`
    update monitors m set reset_at = mark.at, reset_emptied_at = null, status = 'UNKNOWN', status_since = mark.at,
      announced_status = nullif(coalesce(m.announced_status, m.status), 'UNKNOWN'),
      version = m.version + 1, updated_at = clock_timestamp(), changed_xid = pg_current_xact_id()
    from (
      select greatest(${now}, reset_at + interval '1 millisecond') as at
      from monitors where id = ${monitor.id}) mark
    where m.id = ${monitor.id} returning m.reset_at, m.version`);
  await enqueue(transaction, {
    key: `monitor:${monitor.id}`,
    kind: 'monitor.reset',
    tellsActor: true,
    payload: { monitor_id: monitor.id, workspace_id: monitor.workspace_id, at: new Date(row.reset_at).toISOString() },
  });
  return { atMs: row.reset_at, version: row.version };
}
