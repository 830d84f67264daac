import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';

/** A half-open time under maintenance, milliseconds since the epoch; null: it lasts, and its end is not known. */
export type MaintenanceInterval = { readonly monitorId: number; readonly fromMs: number; readonly toMs: number | null };

const row = z.object({ subject_id: z.number(), started_at: z.number(), ended_at: z.number().nullable() });
const at = (ms: number) => sql.timestamp(new Date(ms));

type Window = { readonly fromMs: number; readonly toMs: number };

/** When subjects of one type were under maintenance within a window, whole; they may overlap. Who may see the subjects has been judged. */
export async function maintenanceOfSubjects(
  connection: CommonQueryMethods,
  type: 'monitor' | 'heartbeat' | 'webhook_check',
  ids: readonly number[],
  { fromMs, toMs }: Window,
): Promise<{ readonly id: number; readonly fromMs: number; readonly toMs: number | null }[]> {
  const rows = await connection.any(sql.type(row)`
    select mm.subject_id, mm.started_at, mm.ended_at from maintenance_subjects mm
    where mm.subject_type = ${type} and mm.subject_id = any(${sql.array(ids, 'int4')}) and mm.started_at < ${at(toMs)}
      and (mm.ended_at is null or mm.ended_at > ${at(fromMs)})
    order by mm.subject_id, mm.started_at`);
  return rows.map((each) => ({ id: each.subject_id, fromMs: each.started_at, toMs: each.ended_at }));
}

/** The same of monitors. */
export async function maintenanceOfMonitors(
  connection: CommonQueryMethods,
  monitorIds: readonly number[],
  window: Window,
): Promise<MaintenanceInterval[]> {
  const found = await maintenanceOfSubjects(connection, 'monitor', monitorIds, window);
  return found.map(({ id, ...times }) => ({ monitorId: id, ...times }));
}
