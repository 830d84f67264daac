import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { stateJoin } from '../../monitors/index.ts';
import type { CountedGroup } from './health.ts';

const countedRow = z.object({
  is_paused: z.boolean(),
  up: z.number(),
  down: z.number(),
  degraded: z.number(),
  unknown: z.number(),
  paused: z.number(),
});

// Of members, so that a group without any counts none.
const counts = sql.join(
  (['up', 'down', 'degraded', 'unknown', 'paused'] as const).map(
    (category) =>
      sql.fragment`(count(m.id) filter (where state.category = ${category}))::integer as ${sql.identifier([category])}`,
  ),
  sql.fragment`, `,
);

/** Groups with their members by category: the one of the scope that is named, or all of the workspaces. */
export async function countedGroups(
  scope: Scope,
  connection: CommonQueryMethods,
  only: { readonly groupId?: number | undefined; readonly workspaceId?: number | undefined },
): Promise<readonly CountedGroup[]> {
  return connection.any(sql.type(countedRow)`
    select g.is_paused, ${counts}
    from monitor_groups g
      left join monitor_group_members gm on gm.group_id = g.id
      left join monitors m on m.id = gm.monitor_id
      ${stateJoin}
    where ${ofScope(scope, only.workspaceId)} and (${only.groupId ?? null}::integer is null or g.id = ${only.groupId ?? null})
    group by g.id order by g.id`);
}

/** Monitors that are members of at least one group. */
export async function countGroupedMonitors(
  scope: Scope,
  connection: CommonQueryMethods,
  workspaceId: number | undefined,
): Promise<number> {
  return connection.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(distinct g.monitor_id)::integer as n from monitor_group_members g where ${ofScope(scope, workspaceId)}`);
}

function ofScope(scope: Scope, workspaceId: number | undefined) {
  const workspaces = workspaceId === undefined ? scope.workspaceIds : [workspaceId];
  return sql.fragment`g.workspace_id = any(${sql.array(workspaces, 'int4')})`;
}
