import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from './pools.ts';

const dueRow = z.object({ due_ms: z.number().nullable() });

/**
 * For `repeatWhenDue`: in how many ms the first of some instants comes by the database's clock; undefined where there is none.
 * @param first a query of one instant, such as `select min(due_at) from mails`
 * @param overdueMs the answer where the instant has come already, although the work that is due was just done: somebody else holds it, or it waits
 * for something that no signal tells of
 */
export async function untilFirstDue(
  pool: CommonQueryMethods,
  first: ReturnType<typeof sql.fragment>,
  overdueMs: number,
): Promise<number | undefined> {
  const dueMs = await pool.oneFirst(
    sql.type(dueRow)`select (extract(epoch from (${first}) - clock_timestamp()) * 1000)::float8 as due_ms`,
  );
  if (dueMs === null) return undefined;
  return dueMs > 0 ? Math.ceil(dueMs) : overdueMs;
}
