import type { CreateMonitorGroup, MonitorGroup, UpdateMonitorGroup } from '@parallax/api-contract';
import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { byName, contains } from '../../platform/database/text-search.ts';

const groupRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  name: z.string(),
  description: z.string(),
  is_paused: z.boolean(),
  tags: z.array(z.string()),
  monitor_ids: z.array(z.number()),
  version: z.number(),
  created_at: z.number(),
  updated_at: z.number(),
});
type GroupRow = z.output<typeof groupRow>;

const columns = sql.fragment`g.id, g.workspace_id, g.name, g.description, g.is_paused, g.tags, g.version, g.created_at, g.updated_at,
  coalesce((
    select array_agg(gm.monitor_id order by gm.monitor_id) from monitor_group_members gm where gm.group_id = g.id
  ), '{}') as monitor_ids`;

const ofScope = (scope: Scope) => sql.fragment`g.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})`;

/** A group of the scope as the API answers it, or null. */
export async function findGroup(
  scope: Scope,
  connection: CommonQueryMethods,
  groupId: number,
): Promise<MonitorGroup | null> {
  const row = await connection.maybeOne(sql.type(groupRow)`
    select ${columns} from monitor_groups g where g.id = ${groupId} and ${ofScope(scope)}`);
  return row === null ? null : answerOf(row);
}

/**
 * The same, locked until the transaction ends, so that writers of one group go one after another. Taken before the locks of monitors,
 * always in this order.
 */
export async function lockGroup(scope: Scope, tx: Transaction, groupId: number): Promise<MonitorGroup | null> {
  await tx.query(sql.unsafe`select from monitor_groups g where g.id = ${groupId} and ${ofScope(scope)} for update`);
  // In a statement of its own, which sees the members that the one waited for has made.
  return findGroup(scope, tx, groupId);
}

export type GroupFilter = {
  readonly page: number;
  readonly page_size: number;
  readonly workspace_id?: number | undefined;
  readonly search?: string | undefined;
};

/** A page of the scope's groups by name, and how many match. */
export async function listGroups(
  scope: Scope,
  connection: CommonQueryMethods,
  filter: GroupFilter,
): Promise<{ readonly groups: readonly MonitorGroup[]; readonly total: number }> {
  const matching = sql.fragment`from monitor_groups g where ${ofScope(scope)}
    and (${filter.workspace_id ?? null}::integer is null or g.workspace_id = ${filter.workspace_id ?? null})
    and ${contains(filter.search, sql.fragment`g.name`, sql.fragment`g.description`)}`;
  const total = await connection.oneFirst(
    sql.type(z.object({ n: z.number() }))`select count(*)::integer as n ${matching}`,
  );
  const rows = await connection.any(sql.type(groupRow)`
    select ${columns} ${matching} order by ${byName(sql.fragment`g.name`)}, g.id
    limit ${filter.page_size} offset ${(filter.page - 1) * filter.page_size}`);
  return { groups: rows.map(answerOf), total };
}

/**
 * Inserts a group without members. @returns its identifier
 * @throws an error that `isGroupNameTaken` knows
 */
export async function insertGroup(tx: Transaction, group: CreateMonitorGroup): Promise<number> {
  return tx.oneFirst(sql.typeAlias('id')`
    insert into monitor_groups (workspace_id, name, description, is_paused, tags)
    values (${group.workspace_id}, ${group.name}, ${group.description ?? ''}, ${group.is_paused}, ${sql.array(group.tags ?? [], 'text')})
    returning id`);
}

/** What of a group may be written beside its members. */
export type GroupChange = UpdateMonitorGroup & { readonly tags?: readonly string[] };

/** Writes what is given as the next version of a group that the caller has locked; with nothing given, a change of its members. */
export async function writeGroup(tx: Transaction, groupId: number, change: GroupChange): Promise<void> {
  const description = change.description === null ? '' : (change.description ?? null);
  const tags = change.tags === undefined ? sql.fragment`tags` : sql.array(change.tags, 'text');
  await tx.query(sql.unsafe`
    update monitor_groups set name = coalesce(${change.name ?? null}, name), description = coalesce(${description}, description),
      is_paused = coalesce(${change.is_paused ?? null}, is_paused), tags = ${tags},
      version = version + 1, updated_at = clock_timestamp()
    where id = ${groupId}`);
}

/** Removes a group that the caller has locked, and its memberships. */
export async function deleteGroup(tx: Transaction, groupId: number): Promise<void> {
  await tx.query(sql.unsafe`delete from monitor_groups where id = ${groupId}`);
}

/** Hook of a deleted workspace whose monitors are gone. For the worker login. */
export async function removeGroupsOfWorkspace(worker: DatabasePool, workspaceId: number): Promise<void> {
  await worker.query(sql.unsafe`delete from monitor_groups where workspace_id = ${workspaceId}`);
}

function answerOf(row: GroupRow): MonitorGroup {
  return {
    ...row,
    created_at: new Date(row.created_at).toISOString(),
    updated_at: new Date(row.updated_at).toISOString(),
  };
}
