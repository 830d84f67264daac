import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { longestRetentionDays } from '../../../../identity/plans/index.ts';
import { sql } from '../../../../platform/database/pools.ts';
import { hoursOfDay } from '../../packing/hours.ts';
import { judgeHour } from '../hour-differences.ts';

/** Packed hours that are compared at once: some 0.1 ms each. */
const sampledHours = 5;

const row = z.object({
  hour: z.number(),
  probe_id: z.number(),
  results: z.number(),
  last_ms: z.number().nullable(),
  last_total_us: z.number().nullable(),
  last_flags: z.number().nullable(),
  summary: z.instanceof(Buffer),
  chunk: z.instanceof(Buffer),
});

/**
 * Compares the summaries of some packed hours, from a random place on, with their chunks: both are written together, so they always agree.
 * @param pool a pool of the worker login
 * @returns how many were looked at, and how many differ or are damaged
 */
export async function samplePackedHours(
  pool: CommonQueryMethods,
): Promise<{ readonly looked: number; readonly wrong: number }> {
  const rows = await pool.any(sql.type(row)`
    select h.hour, h.probe_id, h.results, h.last_ms, h.last_total_us, h.last_flags,
      h.summary, h.chunk
    from result_hours h
    where h.monitor_id >= (select floor(random() * coalesce(max(id), 0))::integer from monitors)
      and h.hour >= (select (extract(epoch from now()) / 3600 - random() * ${longestRetentionDays * hoursOfDay})::integer)
    order by h.monitor_id, h.hour, h.probe_id limit ${sampledHours}`);
  const wrong = rows.filter(({ hour, probe_id: probeId, results, summary, chunk, ...row }) => {
    const { last_ms: atMs, last_total_us: totalUs, last_flags: flags } = row;
    const last = atMs === null || totalUs === null || flags === null ? null : { atMs, totalUs, flags };
    const stored = { hour, probeId, results, last, summary, chunk };
    return judgeHour(stored, undefined, stored).differences.length > 0;
  });
  return { looked: rows.length, wrong: wrong.length };
}
