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
  created_at: z.number(),
  updated_at: z.number(),
  version: z.number(),
});
export type WorkspaceRow = z.output<typeof workspaceRow>;

const columns = sql.fragment`
  workspaces.id, workspaces.name, member.is_default, member.role, workspaces.ping_key,
  workspaces.created_at, workspaces.updated_at, workspaces.version
`;

/** A page of the workspaces that the scope's user is a member of, the default one first; and how many there are. */
export async function listWorkspaces(
  scope: Scope,
  transaction: Transaction,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ readonly rows: readonly WorkspaceRow[]; readonly total: number }> {
  const total = await transaction.oneFirst(sql.type(z.object({ total: z.number() }))`
    select count(*)::integer as total from workspace_members where user_id = ${scope.userId}
  `);
  const rows = await transaction.any(sql.type(workspaceRow)`
    select ${columns}
    from workspace_members as member
    join workspaces on workspaces.id = member.workspace_id
    where member.user_id = ${scope.userId}
    order by member.is_default desc, lower(workspaces.name), workspaces.id
    limit ${page.limit} offset ${page.offset}
  `);
  return { rows, total };
}

/** One workspace that the scope's user is a member of; null otherwise. */
export async function findWorkspace(scope: Scope, transaction: Transaction, id: number): Promise<WorkspaceRow | null> {
  return transaction.maybeOne(sql.type(workspaceRow)`
    select ${columns}
    from workspace_members as member
    join workspaces on workspaces.id = member.workspace_id
    where member.user_id = ${scope.userId} and workspaces.id = ${id}
  `);
}
