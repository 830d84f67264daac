import { occurrenceEnds } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { occurrenceAnswer } from '../answer.ts';

const row = z.object({
  id: z.number(),
  starts_at: z.number(),
  ends_at: z.number(),
  ended_at: z.number().nullable(),
  end_reason: z.enum(occurrenceEnds).nullable(),
});

/** A page of the occurrences of a maintenance that have started, newest first, and how many there are. */
export async function occurrencesPage(
  scope: Scope,
  connection: CommonQueryMethods,
  maintenanceId: number,
  { page, page_size: size }: { readonly page: number; readonly page_size: number },
) {
  const matching = sql.fragment`from maintenance_occurrences o
    where o.maintenance_id = ${maintenanceId} and o.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})`;
  const total = await connection.oneFirst(
    sql.type(z.object({ n: z.number() }))`select count(*)::integer as n ${matching}`,
  );
  const rows = await connection.any(sql.type(row)`
    select o.id, o.starts_at, o.ends_at, o.ended_at, o.end_reason ${matching}
    order by o.starts_at desc, o.id desc limit ${size} offset ${(page - 1) * size}`);
  const occurrences = rows.map((each) =>
    occurrenceAnswer({
      id: each.id,
      startsMs: each.starts_at,
      endsMs: each.ends_at,
      endedMs: each.ended_at,
      reason: each.end_reason,
    }),
  );
  return { occurrences, total };
}
