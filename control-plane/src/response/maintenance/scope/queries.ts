import { subjectTypes } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { placeOfGroup, placeOfSubject } from './given.ts';
import type { Covered } from './given.ts';

/** Whether a workspace is there for the scope. */
export async function isWorkspaceThere(
  scope: Scope,
  connection: CommonQueryMethods,
  workspaceId: number,
): Promise<boolean> {
  return connection.exists(sql.unsafe`
    select from workspaces where id = ${workspaceId} and id = any(${sql.array(scope.workspaceIds, 'int4')})`);
}

/** Of what a scope names, keys of what is not in the workspace. What is there stays until the transaction ends. */
export async function missingOf(tx: Transaction, workspaceId: number, covered: Covered): Promise<readonly string[]> {
  const missing = async (
    table: string,
    ids: readonly number[],
    placeOf: (id: number) => string,
    rest = sql.fragment`and deleted_at is null`,
  ): Promise<readonly string[]> => {
    if (ids.length === 0) return [];
    const there = new Set(
      await tx.anyFirst(sql.typeAlias('id')`
        select id from ${sql.identifier([table])}
        where id = any(${sql.array(ids, 'int4')}) and workspace_id = ${workspaceId} ${rest} order by id for key share`),
    );
    return ids.filter((id) => !there.has(id)).map(placeOf);
  };
  return [
    ...(await missing('monitors', covered.monitorIds, (id) => placeOfSubject('monitor', id))),
    ...(await missing('heartbeats', covered.heartbeatIds, (id) => placeOfSubject('heartbeat', id))),
    ...(await missing('webhook_checks', covered.webhookCheckIds, (id) => placeOfSubject('webhook_check', id))),
    ...(await missing('monitor_groups', covered.groupIds, placeOfGroup, sql.fragment``)),
  ];
}

const subjectRow = z.object({ type: z.enum(subjectTypes), id: z.number() });

/** What of a workspace a scope that is not stored would cover now. */
export async function subjectsCovered(
  connection: CommonQueryMethods,
  workspaceId: number,
  covered: Covered,
): Promise<readonly z.output<typeof subjectRow>[]> {
  const tags = sql.array(covered.tags, 'text');
  const named = (ids: readonly number[], orElse = sql.fragment`false`) => sql.fragment`
    s.workspace_id = ${workspaceId} and s.deleted_at is null
    and (${covered.all} or s.id = any(${sql.array(ids, 'int4')}) or s.tags && ${tags} or ${orElse})`;
  const inGroup = sql.fragment`exists (
    select from monitor_group_members gm join monitor_groups g on g.id = gm.group_id
    where gm.monitor_id = s.id and (g.id = any(${sql.array(covered.groupIds, 'int4')}) or g.tags && ${tags}))`;
  return connection.any(sql.type(subjectRow)`
    select 'monitor' as type, s.id from monitors s where ${named(covered.monitorIds, inGroup)}
    union all select 'heartbeat', s.id from heartbeats s where ${named(covered.heartbeatIds)}
    union all select 'webhook_check', s.id from webhook_checks s where ${named(covered.webhookCheckIds)}`);
}
