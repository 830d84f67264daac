import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';

const memberRow = z.object({
  id: z.number(),
  user_id: z.number().nullable(),
  display_name: z.string().nullable(),
  email: z.string().nullable(),
  role: z.enum(['owner', 'editor', 'viewer']),
  status: z.enum(['invited', 'active']),
  created_at: z.number(),
  expires_at: z.number().nullable(),
});
/** A member, or somebody who is invited by mail and has not answered yet. */
export type MemberRow = z.output<typeof memberRow>;

/** The owner first, then members and then invitations in the order in which they came. */
const everybody = (scope: Scope, workspaceId: number) => sql.fragment`(
  select member.id, member.user_id, member.display_name, member.email, member.role, 'active' as status, member.created_at,
    null::timestamptz as expires_at
  from identity_members(${workspaceId}) member
  where ${workspaceId} = any(${sql.array(scope.workspaceIds, 'int4')})
  union all
  select invite.id, null, null, invite.email, invite.role, 'invited', invite.created_at, invite.expires_at
  from workspace_invites invite
  where invite.workspace_id = ${workspaceId} and invite.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})
    and invite.email is not null and invite.used_at is null and invite.expires_at > now()
) as everybody`;

/** A page of the members of a workspace of the scope, with those invited where asked for; and how many there are. */
export async function listMembers(
  scope: Scope,
  transaction: Transaction,
  workspaceId: number,
  page: { readonly limit: number; readonly offset: number; readonly withInvited: boolean },
): Promise<{ readonly rows: readonly MemberRow[]; readonly total: number }> {
  const shown = sql.fragment`${everybody(scope, workspaceId)} where ${page.withInvited} or status = 'active'`;
  const total = await transaction.oneFirst(sql.type(z.object({ total: z.number() }))`
    select count(*)::integer as total from ${shown}`);
  const rows = await transaction.any(sql.type(memberRow)`
    select * from ${shown} order by (role = 'owner') desc, status, id limit ${page.limit} offset ${page.offset}`);
  return { rows, total };
}

/** A member of a workspace of the scope, or somebody invited; null when that workspace has none of that number. */
export async function findMember(
  scope: Scope,
  transaction: Transaction,
  workspaceId: number,
  memberId: number,
): Promise<MemberRow | null> {
  return transaction.maybeOne(sql.type(memberRow)`
    select * from ${everybody(scope, workspaceId)} where id = ${memberId}`);
}

/** Whether the account with an address is a member of a workspace of the scope. */
export async function hasMemberWithEmail(
  scope: Scope,
  transaction: Transaction,
  workspaceId: number,
  email: string,
): Promise<boolean> {
  return transaction.exists(sql.unsafe`
    select from ${everybody(scope, workspaceId)} where status = 'active' and email = ${email}`);
}

/** Gives a member, or an invitation, another role. The workspace is locked by the caller; the owner keeps theirs. */
export async function changeRole(
  transaction: Transaction,
  workspaceId: number,
  member: Pick<MemberRow, 'id' | 'status'>,
  role: 'editor' | 'viewer',
): Promise<void> {
  await transaction.query(
    member.status === 'invited'
      ? sql.unsafe`
          update workspace_invites set role = ${role} where workspace_id = ${workspaceId} and id = ${member.id}`
      : sql.unsafe`
          update workspace_members set role = ${role}
          where workspace_id = ${workspaceId} and id = ${member.id} and role <> 'owner'`,
  );
}

/** Removes a member, or withdraws an invitation. The workspace is locked by the caller; the owner stays. */
export async function removeMember(
  transaction: Transaction,
  workspaceId: number,
  member: Pick<MemberRow, 'id' | 'status'>,
): Promise<void> {
  await transaction.query(
    member.status === 'invited'
      ? sql.unsafe`delete from workspace_invites where workspace_id = ${workspaceId} and id = ${member.id}`
      : sql.unsafe`
          delete from workspace_members where workspace_id = ${workspaceId} and id = ${member.id} and role <> 'owner'`,
  );
}

/** Ends the membership of the scope's user, unless they own the workspace, which the caller has locked. */
export async function leave(scope: Scope, transaction: Transaction, workspaceId: number): Promise<void> {
  await transaction.query(sql.unsafe`
    delete from workspace_members
    where workspace_id = ${workspaceId} and user_id = ${scope.userId} and role <> 'owner'`);
}
