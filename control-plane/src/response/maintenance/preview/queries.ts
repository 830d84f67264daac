import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Occurrence } from '../recurrence/occurrences.ts';

const heldRow = z.object({ outages: z.number(), over_before_end: z.number(), monitors: z.number() });

/**
 * Outages of monitors that began within one of some windows, each a member of its incident. The monitors were read in the tenant's scope; members have
 * a policy too. What somebody named by hand, took back or deleted is none.
 * @returns how many, how many of them were over when their window ended, and of how many monitors
 */
export async function outagesWithin(
  connection: CommonQueryMethods,
  monitorIds: readonly number[],
  windows: readonly Occurrence[],
): Promise<z.infer<typeof heldRow>> {
  const rows = windows.map(({ startsMs, endsMs }) => [
    new Date(startsMs).toISOString(),
    new Date(endsMs).toISOString(),
  ]);
  return connection.one(sql.type(heldRow)`
    select count(*)::integer as outages, (count(*) filter (where m.ended_at <= w.ends_at))::integer as over_before_end,
      count(distinct m.subject_id)::integer as monitors
    from incident_members m join ${sql.unnest(rows, ['timestamptz', 'timestamptz'])} as w (starts_at, ends_at)
      on m.started_at >= w.starts_at and m.started_at < w.ends_at
    where m.subject_type = 'monitor' and m.subject_id = any(${sql.array(monitorIds, 'int4')}) and not m.is_manual
      and (m.resolution is null or m.resolution not in ('corrected', 'deleted'))`);
}
