import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';

const voteRow = z.object({ probe_id: z.number(), status: z.enum(['UP', 'DOWN', 'TIMEOUT', 'DEGRADED']) });

/**
 * For each voter the status of the latest of its ranges that began before a time (microseconds), when it is a failing one. The caller has
 * seen that the monitor is the tenant's.
 */
export async function votesBefore(
  connection: CommonQueryMethods,
  monitorId: number,
  voters: readonly number[],
  beforeUs: number,
): Promise<ReadonlyMap<number, 'DOWN' | 'TIMEOUT'>> {
  const rows = await connection.any(sql.type(voteRow)`
    select v.probe_id, r.status from unnest(${sql.array([0, ...voters], 'int4')}) as v (probe_id)
    cross join lateral (
      select p.status from probe_ranges p join monitors m on m.id = p.monitor_id
      where p.monitor_id = ${monitorId} and p.probe_id = v.probe_id and coalesce(p.started_at >= m.reset_at, true)
        and p.started_at < 'epoch'::timestamptz + ${beforeUs}::bigint * interval '1 microsecond'
      order by p.started_at desc limit 1) r`);
  const votes = new Map<number, 'DOWN' | 'TIMEOUT'>();
  for (const { probe_id: voter, status } of rows) {
    if (status === 'DOWN' || status === 'TIMEOUT') votes.set(voter, status);
  }
  return votes;
}
