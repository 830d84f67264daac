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
  const monitors = new Set(
    await tx.anyFirst(sql.typeAlias('id')`
      select id from monitors
      where id = any(${sql.array(covered.monitorIds, 'int4')}) and workspace_id = ${workspaceId} and deleted_at is null
      order by id for key share`),
  );
  const heartbeats = new Set(
    await tx.anyFirst(sql.typeAlias('id')`
      select id from heartbeats
      where id = any(${sql.array(covered.heartbeatIds, 'int4')}) and workspace_id = ${workspaceId} and deleted_at is null
      order by id for key share`),
  );
  const checks = new Set(
    await tx.anyFirst(sql.typeAlias('id')`
      select id from webhook_checks
      where id = any(${sql.array(covered.webhookCheckIds, 'int4')}) and workspace_id = ${workspaceId} and deleted_at is null
      order by id for key share`),
  );
  const groups = new Set(
    await tx.anyFirst(sql.typeAlias('id')`
      select id from monitor_groups
      where id = any(${sql.array(covered.groupIds, 'int4')}) and workspace_id = ${workspaceId} order by id for key share`),
  );
  return [
    ...covered.monitorIds.filter((id) => !monitors.has(id)).map((id) => placeOfSubject('monitor', id)),
    ...covered.heartbeatIds.filter((id) => !heartbeats.has(id)).map((id) => placeOfSubject('heartbeat', id)),
    ...covered.webhookCheckIds.filter((id) => !checks.has(id)).map((id) => placeOfSubject('webhook_check', id)),
    ...covered.groupIds.filter((id) => !groups.has(id)).map(placeOfGroup),
  ];
}

/** Monitors of a workspace that a scope which is not stored would cover now. */
export async function monitorsCovered(
  connection: CommonQueryMethods,
  workspaceId: number,
  covered: Covered,
): Promise<readonly number[]> {
  const tags = sql.array(covered.tags, 'text');
  return connection.anyFirst(sql.type(z.object({ id: z.number() }))`
    select m.id from monitors m
    where m.workspace_id = ${workspaceId} and m.deleted_at is null and (
      ${covered.all} or m.id = any(${sql.array(covered.monitorIds, 'int4')}) or m.tags && ${tags} or exists (
        select from monitor_group_members gm join monitor_groups g on g.id = gm.group_id
        where gm.monitor_id = m.id and (g.id = any(${sql.array(covered.groupIds, 'int4')}) or g.tags && ${tags})))
    order by m.id`);
}
