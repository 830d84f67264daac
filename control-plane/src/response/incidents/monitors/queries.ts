import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { MonitorState } from '../transition.ts';

const monitorRow = z.object({
  id: z.number(),
  name: z.string(),
  workspace_id: z.number(),
  interval_seconds: z.number(),
  is_paused: z.boolean(),
  is_deleted: z.boolean(),
  reset_at: z.number().nullable(),
});

/** A monitor as a transition finds it. */
export type LockedMonitor = MonitorState & {
  /** As it is now: since the change was written it may have been moved. */
  readonly workspaceId: number;
  readonly intervalSeconds: number;
  /** The last reset of its statistics, milliseconds; null for none. */
  readonly resetMs: number | null;
};

/** A monitor as `lockMonitors` finds it; null when there is no such monitor. */
export async function lockMonitor(transaction: Transaction, monitorId: number): Promise<LockedMonitor | null> {
  return (await lockMonitors(transaction, [monitorId])).get(monitorId) ?? null;
}

/**
 * Monitors as transitions find them, by number; without an entry where there is no such monitor. The rows are locked, in the order of their
 * numbers, against being paused, moved or deleted until the incidents are written (those lock them for update), and not against the ingest, which
 * writes their status.
 */
export async function lockMonitors(
  transaction: Transaction,
  monitorIds: readonly number[],
): Promise<ReadonlyMap<number, LockedMonitor>> {
  const ids = sql.array(monitorIds, 'int4');
  await transaction.query(sql.unsafe`select from monitors where id = any(${ids}) order by id for key share`);
  const rows = await transaction.any(sql.type(monitorRow)`
    select m.id, m.name, m.workspace_id, m.interval_seconds, m.deleted_at is not null as is_deleted, m.reset_at,
      not m.is_active or exists (select from pauses p where p.monitor_id = m.id and p.ended_at is null) as is_paused
    from monitors m where m.id = any(${ids})`);
  return new Map(
    rows.map((row) => [
      row.id,
      {
        name: row.name,
        workspaceId: row.workspace_id,
        intervalSeconds: row.interval_seconds,
        isPaused: row.is_paused,
        isDeleted: row.is_deleted,
        resetMs: row.reset_at,
      },
    ]),
  );
}
