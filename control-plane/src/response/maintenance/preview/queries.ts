import type { SubjectType } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Occurrence } from '../recurrence/occurrences.ts';

const heldRow = z.object({ outages: z.number(), over_before_end: z.number(), subjects: z.number() });

/**
 * Outages of subjects that began within one of some windows. The subjects were read in the tenant's scope; outages have a policy too.
 * @returns how many, how many of them were over when their window ended, and of how many subjects
 */
export async function outagesWithin(
  connection: CommonQueryMethods,
  subjects: readonly { readonly type: SubjectType; readonly id: number }[],
  windows: readonly Occurrence[],
): Promise<z.infer<typeof heldRow>> {
  const rows = windows.map(({ startsMs, endsMs }) => [
    new Date(startsMs).toISOString(),
    new Date(endsMs).toISOString(),
  ]);
  const pairs = subjects.map(({ type, id }) => [type, id]);
  return connection.one(sql.type(heldRow)`
    select count(*)::integer as outages, (count(*) filter (where u.ended_at <= w.ends_at))::integer as over_before_end,
      count(distinct (u.subject_type, u.subject_id))::integer as subjects
    from incident_members u join ${sql.unnest(rows, ['timestamptz', 'timestamptz'])} as w (starts_at, ends_at)
      on u.started_at >= w.starts_at and u.started_at < w.ends_at
    where not u.is_manual and (u.subject_type, u.subject_id) in (
      select s.type, s.id from ${sql.unnest(pairs, ['text', 'int4'])} as s (type, id))`);
}
