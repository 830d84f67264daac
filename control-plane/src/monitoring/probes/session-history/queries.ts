import type { CommonQueryMethods } from 'slonik';
import { sql } from '../../../platform/database/pools.ts';

/** A session that ended is kept so long, for whoever asks why a probe was away. */
const keptDays = 7;

/**
 * Deletes the oldest sessions that ended long ago. In the order of their beginning, so that it reads from one end of the table and a
 * batch that is not full is the last one.
 * @param limit most rows of this batch
 * @returns how many were deleted
 */
export async function deleteOldSessions(pool: CommonQueryMethods, limit: number): Promise<number> {
  const { rowCount } = await pool.query(sql.unsafe`
    delete from probe_sessions where id in (
      select id from probe_sessions where closed_at < now() - ${keptDays} * interval '1 day'
      order by id limit ${limit} for update skip locked)`);
  return rowCount;
}
