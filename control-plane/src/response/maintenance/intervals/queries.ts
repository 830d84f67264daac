import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';

/** A half-open time under maintenance, milliseconds since the epoch; null: it lasts, and its end is not known. */
export type MaintenanceInterval = { readonly monitorId: number; readonly fromMs: number; readonly toMs: number | null };

const row = z.object({ monitor_id: z.number(), started_at: z.number(), ended_at: z.number().nullable() });
const at = (ms: number) => sql.timestamp(new Date(ms));

/** When monitors were under maintenance within a window, whole; they may overlap. Who may see the monitors has been judged. */
export async function maintenanceOfMonitors(
  connection: CommonQueryMethods,
  monitorIds: readonly number[],
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<MaintenanceInterval[]> {
  const rows = await connection.any(sql.type(row)`
    select mm.subject_id as monitor_id, mm.started_at, mm.ended_at from maintenance_subjects mm
    where mm.subject_type = 'monitor' and mm.subject_id = any(${sql.array(monitorIds, 'int4')}) and mm.started_at < ${at(toMs)}
      and (mm.ended_at is null or mm.ended_at > ${at(fromMs)})
    order by mm.subject_id, mm.started_at`);
  return rows.map((each) => ({ monitorId: each.monitor_id, fromMs: each.started_at, toMs: each.ended_at }));
}
