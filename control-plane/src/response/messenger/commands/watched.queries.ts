import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import type { Counts, Listed, OtherKind, Others } from '../words/words.ts';

/* Heartbeats and webhook checks, as the bot tells of them beside monitors. */

const tables: Readonly<Record<OtherKind, string>> = { heartbeat: 'heartbeats', webhook_check: 'webhook_checks' };

const countsRow = z.object({
  total: z.number(),
  up: z.number(),
  down: z.number(),
  degraded: z.number(),
  unknown: z.number(),
  paused: z.number(),
});
const listedRow = z.object({ name: z.string(), status: z.string(), status_since: z.number() });

/** Those of the scope by kind, worst first; kinds of which there is none are left out. @param most names of each kind */
export async function othersOf(
  scope: Scope,
  connection: CommonQueryMethods,
  filter: { readonly onlyDown: boolean; readonly most: number },
  nowMs: number,
): Promise<readonly Others[]> {
  const found: Others[] = [];
  for (const kind of ['heartbeat', 'webhook_check'] as const) {
    const rows = sql.fragment`from ${sql.identifier([tables[kind]])}
      where workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and deleted_at is null`;
    const counts: Counts = await connection.one(sql.type(countsRow)`
      select count(*)::integer as total, (count(*) filter (where status = 'up'))::integer as up,
        (count(*) filter (where status = 'down'))::integer as down, (count(*) filter (where status = 'degraded'))::integer as degraded,
        (count(*) filter (where status = 'new'))::integer as unknown, (count(*) filter (where status = 'paused'))::integer as paused ${rows}`);
    if (counts.total === 0) continue;
    const listed = await connection.any(sql.type(listedRow)`
      select name, status, status_since ${rows} and (status = 'down' or not ${filter.onlyDown})
      order by case status when 'down' then 1 when 'degraded' then 2 else 3 end, name, id limit ${filter.most}`);
    found.push({ kind, counts, listed: listed.map((row) => listedOf(row, nowMs)) });
  }
  return found;
}

function listedOf({ name, status, status_since: sinceMs }: z.output<typeof listedRow>, nowMs: number): Listed {
  return {
    id: null,
    name,
    status: status === 'new' ? 'UNKNOWN' : status.toUpperCase(),
    isPaused: status === 'paused',
    sinceMs: nowMs - sinceMs,
  };
}
