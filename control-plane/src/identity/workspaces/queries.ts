import { Problem } from '@parallax/api-contract';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';

const workspaceRow = z.object({
  id: z.number(),
  name: z.string(),
  is_default: z.boolean(),
  role: z.enum(['owner', 'editor', 'viewer']),
  ping_key: z.string(),
  private_targets: z.array(z.string()),
  created_at: z.number(),
  updated_at: z.number(),
  version: z.number(),
});
export type WorkspaceRow = z.output<typeof workspaceRow>;

/**
 * The default workspace of a user: the one that they chose, while they are a member; else their first own one, else the first. Derived, so
 * that whoever removes a member or deletes a workspace need not write to rows of others.
 */
const defaultOf = (scope: Scope) => sql.fragment`(
  select chosen.workspace_id from workspace_members chosen
  where chosen.user_id = ${scope.userId}
  order by chosen.is_default desc, (chosen.role = 'owner') desc, chosen.workspace_id limit 1
)`;

const columns = (scope: Scope) => sql.fragment`
  workspaces.id, workspaces.name, workspaces.id = ${defaultOf(scope)} as is_default, member.role, workspaces.ping_key, workspaces.private_targets,
  workspaces.created_at, workspaces.updated_at, workspaces.version
`;

const ofUser = (scope: Scope) => sql.fragment`
  from workspace_members as member
  join workspaces on workspaces.id = member.workspace_id
  where member.user_id = ${scope.userId} and workspaces.deleted_at is null
    and (workspaces.id = any(${sql.array(scope.workspaceIds, 'int4')}))
`;

/** A page of the workspaces that the scope's user is a member of, the default one first; and how many there are. */
export async function listWorkspaces(
  scope: Scope,
  transaction: Transaction,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ readonly rows: readonly WorkspaceRow[]; readonly total: number }> {
  const total = await transaction.oneFirst(sql.type(z.object({ total: z.number() }))`
    select count(*)::integer as total ${ofUser(scope)}
  `);
  const rows = await transaction.any(sql.type(workspaceRow)`
    select ${columns(scope)} ${ofUser(scope)}
    order by is_default desc, lower(workspaces.name), workspaces.id
    limit ${page.limit} offset ${page.offset}
  `);
  return { rows, total };
}

/** One workspace that the scope's user is a member of; null otherwise. */
export async function findWorkspace(scope: Scope, transaction: Transaction, id: number): Promise<WorkspaceRow | null> {
  return transaction.maybeOne(sql.type(workspaceRow)`
    select ${columns(scope)} ${ofUser(scope)} and workspaces.id = ${id}
  `);
}

/** The default workspace of the scope's user; null when they are a member of none. */
export async function findDefaultWorkspace(scope: Scope, transaction: Transaction): Promise<WorkspaceRow | null> {
  return transaction.maybeOne(sql.type(workspaceRow)`
    select ${columns(scope)} ${ofUser(scope)} and workspaces.id = ${defaultOf(scope)}
  `);
}

/**
 * Holds up everything else that changes which workspaces the scope's user owns or has as default. Taken before the lock of a workspace,
 * always in this order.
 * @throws Problem `invalid_credentials` when the account was deleted since the request began
 */
export async function lockUser(scope: Scope, transaction: Transaction): Promise<void> {
  const { rowCount } = await transaction.query(sql.unsafe`
    select from users where id = ${scope.userId} and deleted_at is null for no key update`);
  if (rowCount === 0) throw new Problem('invalid_credentials', 'the account was deleted');
}

/**
 * Holds up every change of a workspace, its members and its invitations until the transaction ends, and tells how it stands then, which may
 * differ from when the request began. Null: deleted, or the scope's user is no member any more.
 */
export async function lockWorkspace(scope: Scope, transaction: Transaction, id: number): Promise<WorkspaceRow | null> {
  await transaction.query(sql.unsafe`
    select from workspaces where id = ${id} and id = any(${sql.array(scope.workspaceIds, 'int4')}) for no key update`);
  // In a statement of its own, which sees what the one waited for has done.
  return findWorkspace(scope, transaction, id);
}

/** How many workspaces the scope's user owns. */
export async function countOwnWorkspaces(scope: Scope, transaction: Transaction): Promise<number> {
  return transaction.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from workspaces where owner_id = ${scope.userId} and deleted_at is null`);
}

/** Makes a workspace that the scope's user owns. @returns its identifier */
export async function insertWorkspace(
  scope: Scope,
  transaction: Transaction,
  workspace: { readonly name: string; readonly pingKey: string },
): Promise<number> {
  const { id } = await transaction.one(sql.typeAlias('id')`
    insert into workspaces (owner_id, name, ping_key)
    values (${scope.userId}, ${workspace.name}, ${workspace.pingKey}) returning id`);
  await transaction.query(sql.unsafe`
    insert into workspace_members (workspace_id, user_id, role) values (${id}, ${scope.userId}, 'owner')`);
  return id;
}

/** Writes the name or the ping key of a workspace that the caller has locked, as the next version. */
export async function changeWorkspace(
  transaction: Transaction,
  id: number,
  change: { readonly name?: string; readonly pingKey?: string },
): Promise<void> {
  await transaction.query(sql.unsafe`
    update workspaces set name = coalesce(${change.name ?? null}, name), ping_key = coalesce(${change.pingKey ?? null}, ping_key),
      version = version + 1, updated_at = clock_timestamp()
    where id = ${id}`);
}

/** Makes a workspace the default one of the scope's user, whom the caller has locked. False when they are no member of it. */
export async function chooseDefault(scope: Scope, transaction: Transaction, id: number): Promise<boolean> {
  // First the old one: there is one at most at every moment.
  await transaction.query(sql.unsafe`
    update workspace_members set is_default = false
    where user_id = ${scope.userId} and is_default and workspace_id <> ${id}`);
  const { rowCount } = await transaction.query(sql.unsafe`
    update workspace_members set is_default = true where user_id = ${scope.userId} and workspace_id = ${id}`);
  return rowCount > 0;
}

/**
 * Marks a workspace as deleted, which the caller has locked: nobody is a member of it, invitations and the ping key are void. What is in it
 * is removed by whoever keeps it.
 */
export async function markWorkspaceDeleted(transaction: Transaction, id: number): Promise<void> {
  await transaction.query(sql.unsafe`delete from workspace_invites where workspace_id = ${id}`);
  await transaction.query(sql.unsafe`
    update workspaces set deleted_at = clock_timestamp(), name = 'deleted', ping_key = 'deleted-' || id,
      version = version + 1, updated_at = clock_timestamp()
    where id = ${id}`);
  await transaction.query(sql.unsafe`delete from workspace_members where workspace_id = ${id}`);
}

/** Deleted workspaces in which something may be left, oldest first. For the worker login. */
export async function deletedWorkspaces(worker: DatabasePool): Promise<readonly number[]> {
  return worker.anyFirst(sql.type(z.object({ id: z.number() }))`
    select id from workspaces where deleted_at is not null and emptied_at is null order by deleted_at limit 100`);
}

/**
 * Records that a deleted workspace was found empty, but not before nothing can be on its way into it any more: a request that began before
 * the deletion has ended a minute after it. For the worker login.
 */
export async function recordWorkspaceEmpty(worker: DatabasePool, id: number): Promise<void> {
  await worker.query(sql.unsafe`
    update workspaces set emptied_at = clock_timestamp()
    where id = ${id} and emptied_at is null and deleted_at < clock_timestamp() - interval '60 seconds'`);
}
