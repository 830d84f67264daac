import type { SubjectType } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';

const spanRow = z.object({ subject_id: z.number(), started_at: z.number(), ended_at: z.number().nullable() });

/** A time in which a subject was in maintenance, in milliseconds since the epoch; null while it lasts. */
export type MaintenanceSpan = { readonly subjectId: number; readonly fromMs: number; readonly toMs: number | null };

/** The times of maintenance of subjects that overlap a window, whole; those of one subject may overlap. */
export async function maintenanceOf(
  connection: CommonQueryMethods,
  type: SubjectType,
  ids: readonly number[],
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<MaintenanceSpan[]> {
  const rows = await connection.any(sql.type(spanRow)`
    select subject_id, started_at, ended_at from maintenance_subjects
    where subject_type = ${type} and subject_id = any(${sql.array(ids, 'int4')}) and started_at < ${sql.timestamp(new Date(toMs))}
      and (ended_at is null or ended_at > ${sql.timestamp(new Date(fromMs))})
    order by subject_id, started_at`);
  return rows.map((row) => ({ subjectId: row.subject_id, fromMs: row.started_at, toMs: row.ended_at }));
}
