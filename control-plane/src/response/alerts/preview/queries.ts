import type { SubjectType } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';

const subjectRow = z.object({ tags: z.array(z.string()), group_ids: z.array(z.number()) });
/** What scopes match a subject by: its own tags and those of its groups. */
export type SubjectFacts = z.output<typeof subjectRow>;

const tables = { monitor: 'monitors', heartbeat: 'heartbeats', webhook_check: 'webhook_checks' } as const;

/** What scopes match a subject of a workspace of the scope by; null when there is no such subject. */
export async function subjectFacts(
  scope: Scope,
  connection: CommonQueryMethods,
  workspaceId: number,
  subject: { readonly type: SubjectType; readonly id: number },
): Promise<SubjectFacts | null> {
  const groups =
    subject.type === 'monitor'
      ? sql.fragment`monitor_group_members gm join monitor_groups g on g.id = gm.group_id where gm.monitor_id = s.id`
      : sql.fragment`monitor_groups g where false`;
  return connection.maybeOne(sql.type(subjectRow)`
    select s.tags || array(select unnest(g.tags) from ${groups}) as tags, array(select g.id from ${groups}) as group_ids
    from ${sql.identifier([tables[subject.type]])} s
    where s.id = ${subject.id} and s.workspace_id = ${workspaceId} and s.deleted_at is null
      and s.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})`);
}
