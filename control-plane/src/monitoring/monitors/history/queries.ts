import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { planOf } from '../../../identity/plans/index.ts';
import { sql } from '../../../platform/database/pools.ts';

const planRow = z.object({ plan: z.enum(['free', 'paid', 'self_hosted']) });

/**
 * For how many days the results of a monitor are shown: as the plan of its workspace's owner says; 0 when there is no such monitor. Read by the
 * worker login, because a member does not see the owner's row, and not to be told to whom the monitor may not be shown.
 */
export async function retentionDays(worker: DatabasePool, monitorId: number): Promise<number> {
  const plan = await worker.maybeOneFirst(sql.type(planRow)`
    select u.plan from monitors m join workspaces w on w.id = m.workspace_id join users u on u.id = w.owner_id
    where m.id = ${monitorId}`);
  return plan === null ? 0 : planOf(plan).retentionDays;
}

/** When a monitor was last reset, in milliseconds; null when it never was. */
export async function lastResetMs(connection: CommonQueryMethods, monitorId: number): Promise<number | null> {
  return connection.oneFirst(sql.type(z.object({ reset_at: z.number().nullable() }))`
    select reset_at from monitors where id = ${monitorId}`);
}

const rangeRow = z.object({
  started_at: z.number(),
  ended_at: z.number().nullable(),
  status: z.enum(['UP', 'DOWN', 'TIMEOUT', 'DEGRADED']),
});

/** A consensus range without its evidence; milliseconds, `endedMs` null while it lasts. */
export type RangeTimes = {
  readonly startedMs: number;
  readonly endedMs: number | null;
  readonly status: z.infer<typeof rangeRow>['status'];
};

/** The newest of a monitor's consensus ranges that overlap [fromMs, toMs) and began since its reset, whole, so many at most; oldest first. */
export async function newestRanges(
  connection: CommonQueryMethods,
  monitorId: number,
  { fromMs, toMs, most }: { readonly fromMs: number; readonly toMs: number; readonly most: number },
): Promise<RangeTimes[]> {
  const from = sql.timestamp(new Date(fromMs));
  // Ranges do not overlap: of those that began before the window only the last can reach into it.
  const rows = await connection.any(sql.type(rangeRow)`
    select r.started_at, r.ended_at, r.status from status_ranges r
    where r.monitor_id = ${monitorId} and r.started_at < ${sql.timestamp(new Date(toMs))}
      and (r.ended_at is null or r.ended_at > ${from})
      and r.started_at >= (
        select greatest(m.reset_at, (
          select max(b.started_at) from status_ranges b where b.monitor_id = ${monitorId} and b.started_at <= ${from}
        ), '-infinity') from monitors m where m.id = ${monitorId})
    order by r.started_at desc limit ${most}`);
  return rows.map((row) => ({ startedMs: row.started_at, endedMs: row.ended_at, status: row.status })).toReversed();
}
