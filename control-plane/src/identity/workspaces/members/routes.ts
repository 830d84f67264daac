import {
  leaveWorkspaceRoute,
  listMembersRoute,
  Problem,
  removeMemberRoute,
  updateMemberRoute,
} from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { recordAudit } from '../../audit/index.ts';
import { lockWorkspace } from '../queries.ts';
import { noWorkspace, requireOwner } from '../workspace-answer.ts';
import { memberAnswer } from './member-answer.ts';
import { changeRole, findMember, leave, listMembers, removeMember } from './queries.ts';
import type { MemberRow } from './queries.ts';

/** Members of a workspace: who they are, their roles, and how they go. How they come: `../invites/`. */
export function memberRoutes(context: Context): readonly Route[] {
  const { api } = context.database;
  return [
    handle(listMembersRoute, async ({ caller, params, query }) => {
      const isOwner = requireRole(caller, params.id, 'viewer') === 'owner';
      const { page, page_size } = query;
      const scope = scopeOf(caller);
      const { rows, total } = await inScope(api, scope, async (transaction) =>
        listMembers(scope, transaction, params.id, {
          limit: page_size,
          offset: (page - 1) * page_size,
          withInvited: isOwner,
        }),
      );
      return { members: rows.map((row) => memberAnswer(row, isOwner)), total, page, page_size };
    }),
    handle(updateMemberRoute, async ({ caller, params, body, request }) => {
      requireRole(caller, params.id, 'owner');
      const scope = scopeOf(caller);
      const row = await inScope(api, scope, async (transaction) => {
        const member = await lockedMember(scope, transaction, params);
        if (member.role === body.role) return member;
        await changeRole(transaction, params.id, member, body.role);
        await recordAudit(transaction, caller, request, {
          ...ofMember(params.id, member),
          action: 'member.role_changed',
          detail: { ...detailOf(member), role: body.role, role_before: member.role },
        });
        return { ...member, role: body.role };
      });
      return memberAnswer(row, true);
    }),
    handle(removeMemberRoute, async ({ caller, params, request }) => {
      requireRole(caller, params.id, 'owner');
      const scope = scopeOf(caller);
      await inScope(api, scope, async (transaction) => {
        const member = await lockedMember(scope, transaction, params);
        await removeMember(transaction, params.id, member);
        await recordAudit(transaction, caller, request, {
          ...ofMember(params.id, member),
          action: member.status === 'invited' ? 'invite.revoked' : 'member.removed',
          detail: detailOf(member),
        });
      });
    }),
    handle(leaveWorkspaceRoute, async ({ caller, params, request }) => {
      requireRole(caller, params.id, 'viewer');
      const scope = scopeOf(caller);
      await inScope(api, scope, async (transaction) => {
        const stored = await lockWorkspace(scope, transaction, params.id);
        if (stored === null) throw noWorkspace(params.id);
        if (stored.role === 'owner') {
          throw new Problem(
            'conflict',
            'the owner cannot leave a workspace: transfer it to another member, or delete it',
          );
        }
        await leave(scope, transaction, params.id);
        await recordAudit(transaction, caller, request, {
          action: 'member.left',
          workspaceId: params.id,
          subjectType: 'user',
          subjectId: caller.userId,
        });
      });
      return { message: `you have left workspace ${params.id}` };
    }),
  ];
}

/** The member that an owner may change, with the workspace locked. */
async function lockedMember(
  scope: Scope,
  transaction: Transaction,
  params: { readonly id: number; readonly member_id: number },
): Promise<MemberRow> {
  requireOwner(await lockWorkspace(scope, transaction, params.id), params.id);
  const member = await findMember(scope, transaction, params.id, params.member_id);
  if (member === null) {
    throw new Problem('not_found', `workspace ${params.id} has no member ${params.member_id}`);
  }
  if (member.role === 'owner') {
    throw new Problem('conflict', 'the owner stays the owner until the workspace is transferred to another member');
  }
  return member;
}

function ofMember(workspaceId: number, member: MemberRow) {
  return { workspaceId, subjectType: 'member', subjectId: member.id } as const;
}

function detailOf(member: MemberRow) {
  return member.user_id === null ? {} : { user_id: member.user_id };
}
