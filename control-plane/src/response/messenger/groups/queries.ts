import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { byName, contains } from '../../../platform/database/text-search.ts';

/** Groups that one workspace may have linked. */
export const mostGroups = 100;

const groupRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  chat_id: z.string(),
  title: z.string(),
  linked_by: z.number().nullable(),
  created_at: z.number(),
  updated_at: z.number(),
  version: z.number(),
});
export type GroupRow = z.output<typeof groupRow>;

/** A page of the groups that the scope's workspaces have linked, by title, and how many match. */
export async function listGroups(
  scope: Scope,
  connection: CommonQueryMethods,
  filter: {
    readonly page: number;
    readonly page_size: number;
    readonly workspace_id?: number | undefined;
    readonly search?: string | undefined;
  },
): Promise<{ readonly rows: readonly GroupRow[]; readonly total: number }> {
  const workspaces = filter.workspace_id === undefined ? scope.workspaceIds : [filter.workspace_id];
  const matching = sql.fragment`from messenger_groups g
    where g.workspace_id = any (${sql.array(workspaces, 'int4')})
      and g.workspace_id = any (${sql.array(scope.workspaceIds, 'int4')}) and ${contains(filter.search, sql.fragment`g.title`)}`;
  const total = await connection.oneFirst(
    sql.type(z.object({ n: z.number() }))`select count(*)::integer as n ${matching}`,
  );
  const rows = await connection.any(sql.type(groupRow)`
    select g.id, g.workspace_id, g.chat_id::text, g.title, g.user_id as linked_by, g.created_at, g.updated_at, g.version
    ${matching} order by ${byName(sql.fragment`g.title`)}, g.id
    limit ${filter.page_size} offset ${(filter.page - 1) * filter.page_size}`);
  return { rows, total };
}

const place = z.object({ workspace_id: z.number(), chat_id: z.bigint().transform(Number), title: z.string() });

/** Finds a group of the scope, locked; null when there is none. */
export async function lockGroup(scope: Scope, tx: Transaction, id: number): Promise<z.output<typeof place> | null> {
  return tx.maybeOne(sql.type(place)`
    select workspace_id, chat_id, title from messenger_groups
    where id = ${id} and workspace_id = any (${sql.array(scope.workspaceIds, 'int4')}) for update`);
}

/** Removes a group that the caller has locked. */
export async function removeGroup(tx: Transaction, id: number): Promise<void> {
  await tx.query(sql.unsafe`delete from messenger_groups where id = ${id}`);
}

/**
 * Links a group to a workspace. `no_right`: who asked for it is no editor there any more; `full`: it has as many groups as it may.
 */
export async function linkGroup(
  tx: Transaction,
  of: { readonly workspaceId: number; readonly userId: number },
  chat: { readonly id: number; readonly title: string },
): Promise<{ readonly id: number; readonly workspaceName: string } | 'no_right' | 'full'> {
  const name = await tx.maybeOneFirst(sql.type(z.object({ name: z.string() }))`
    select w.name from workspaces w join workspace_members m on m.workspace_id = w.id
    where w.id = ${of.workspaceId} and w.deleted_at is null and m.user_id = ${of.userId} and m.role in ('owner', 'editor')
    for no key update of w`);
  if (name === null) return 'no_right';
  const isFull = await tx.oneFirst(sql.type(z.object({ full: z.boolean() }))`
    select count(*) >= ${mostGroups} as full from messenger_groups
    where workspace_id = ${of.workspaceId} and chat_id <> ${chat.id}`);
  if (isFull) return 'full';
  const id = await tx.oneFirst(sql.typeAlias('id')`
    insert into messenger_groups as g (workspace_id, chat_id, title, user_id)
    values (${of.workspaceId}, ${chat.id}, ${chat.title}, ${of.userId})
    on conflict (workspace_id, chat_id) do update
      set title = excluded.title, user_id = excluded.user_id, version = g.version + 1, updated_at = clock_timestamp()
    returning id`);
  return { id, workspaceName: name };
}

const workspaceRow = z.object({ id: z.number(), name: z.string() });
/** A workspace that a chat is about. */
export type ChatWorkspace = z.output<typeof workspaceRow>;

/** The workspaces that a group is linked to. Before the tenant is known. */
export async function workspacesOfChat(worker: DatabasePool, chatId: number): Promise<readonly ChatWorkspace[]> {
  return worker.any(sql.type(workspaceRow)`
    select w.id, w.name from messenger_groups g join workspaces w on w.id = g.workspace_id
    where g.chat_id = ${chatId} and w.deleted_at is null order by w.id`);
}

/** Names of workspaces. */
export async function namedWorkspaces(worker: DatabasePool, ids: readonly number[]): Promise<readonly ChatWorkspace[]> {
  return worker.any(sql.type(workspaceRow)`
    select id, name from workspaces where id = any (${sql.array(ids, 'int4')}) and deleted_at is null order by id`);
}

/** Follows a group's title. */
export async function retitle(
  worker: DatabasePool,
  chat: { readonly id: number; readonly title: string },
): Promise<void> {
  await worker.query(sql.unsafe`
    update messenger_groups set title = ${chat.title}, version = version + 1, updated_at = clock_timestamp()
    where chat_id = ${chat.id} and title <> ${chat.title}`);
}

/** Unlinks a group from every workspace. @returns how many there were */
export async function unlinkChat(connection: CommonQueryMethods, chatId: number): Promise<number> {
  const { rowCount } = await connection.query(sql.unsafe`delete from messenger_groups where chat_id = ${chatId}`);
  return rowCount;
}

/** A group has another number now: its links go along. */
export async function moveChat(tx: CommonQueryMethods, fromChatId: number, toChatId: number): Promise<void> {
  await tx.query(sql.unsafe`
    delete from messenger_groups old using messenger_groups new
    where old.chat_id = ${fromChatId} and new.chat_id = ${toChatId} and new.workspace_id = old.workspace_id`);
  await tx.query(sql.unsafe`
    update messenger_groups set chat_id = ${toChatId}, version = version + 1, updated_at = clock_timestamp()
    where chat_id = ${fromChatId}`);
}

/** Removes the links of a workspace that is gone. @returns the groups that they were of */
export async function removeGroupsOf(worker: DatabasePool, workspaceId: number): Promise<readonly number[]> {
  await worker.query(sql.unsafe`delete from messenger_link_tokens where workspace_id = ${workspaceId}`);
  return worker.anyFirst(sql.type(z.object({ chat_id: z.bigint().transform(Number) }))`
    delete from messenger_groups where workspace_id = ${workspaceId} returning chat_id`);
}
