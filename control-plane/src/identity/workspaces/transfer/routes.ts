import { Problem, transferWorkspaceRoute } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { renderLetter } from '../../../platform/mail/letter.ts';
import { enqueueMail } from '../../../platform/mail/mail.ts';
import { recordAudit } from '../../audit/index.ts';
import { planOf } from '../../plans/index.ts';
import { addressUnconfirmed, mayNotOwnMore, standingOf } from '../../unconfirmed/index.ts';
import { readInviter } from '../invites/queries.ts';
import { transferLetter } from '../letters.ts';
import { mostOwnWorkspaces } from '../limits.ts';
import { findMember } from '../members/queries.ts';
import { findWorkspace, lockUser, lockWorkspace } from '../queries.ts';
import { noWorkspace, requireOwner, workspaceAnswer } from '../workspace-answer.ts';
import { isNameInCommon, monitorsBelow, moveOwnership, namesInCommon, readNewOwner } from './queries.ts';
import type { NewOwner } from './queries.ts';

type Target = { readonly workspaceId: number; readonly memberId: number; readonly userId: number };

/** Handing a workspace on to another of its members. */
export function transferRoutes(context: Context): readonly Route[] {
  const { api, worker } = context.database;
  return [
    handle(transferWorkspaceRoute, async ({ caller, params, body, request }) => {
      requireRole(caller, params.id, 'owner');
      const scope = scopeOf(caller);
      const userId = await inScope(api, scope, async (transaction) =>
        activeMember(scope, transaction, params.id, body.member_id),
      );
      if (userId === caller.userId) throw new Problem('conflict', 'you own this workspace already');
      const newOwner = await readNewOwner(worker, userId);
      if (newOwner === null) throw noMember(params.id, body.member_id);
      if (newOwner.owned >= mostOwnWorkspaces) {
        throw new Problem('conflict', `this member owns as many workspaces as one may (${mostOwnWorkspaces})`);
      }
      if (mayNotOwnMore(standingOf(newOwner), context)) {
        throw addressUnconfirmed('a workspace is handed on to a member whose mail address is confirmed only');
      }
      const target = { workspaceId: params.id, memberId: body.member_id, userId };
      try {
        return await inScope(api, scope, async (transaction) => {
          const done = await transfer(context, scope, transaction, target, newOwner);
          await recordAudit(transaction, caller, request, {
            action: 'workspace.transferred',
            workspaceId: params.id,
            subjectType: 'workspace',
            subjectId: params.id,
            detail: { from_user_id: caller.userId, to_user_id: userId },
          });
          return done;
        });
      } catch (error) {
        if (!isNameInCommon(error)) throw error;
        throw nameClash(await namesInCommon(worker, params.id, userId));
      }
    }),
  ];
}

async function transfer(
  context: Context,
  scope: Scope,
  transaction: Transaction,
  { workspaceId, memberId, userId }: Target,
  newOwner: NewOwner,
) {
  await lockUser(scope, transaction);
  const stored = requireOwner(await lockWorkspace(scope, transaction, workspaceId), workspaceId);
  if (stored.is_default) {
    throw new Problem('conflict', 'this is your default workspace: make another one the default first');
  }
  // They may have left since.
  if ((await activeMember(scope, transaction, workspaceId, memberId)) !== userId) throw noMember(workspaceId, memberId);
  await moveOwnership(scope, transaction, workspaceId, userId);
  const { minimumIntervalSeconds } = planOf(newOwner.plan);
  const below = await monitorsBelow(scope, transaction, workspaceId, minimumIntervalSeconds);
  if (newOwner.verified_email !== null) {
    const letter = transferLetter(newOwner.locale, {
      formerOwner: await readInviter(scope, transaction),
      workspace: stored.name,
      belowMinimum: below.total,
      minimumIntervalSeconds,
    });
    await enqueueMail(transaction, context.sealer, { to: newOwner.verified_email, ...renderLetter(letter) });
  }
  const row = await findWorkspace(scope, transaction, workspaceId);
  if (row === null) throw noWorkspace(workspaceId);
  return {
    // Narrower credentials are not taken here.
    workspace: workspaceAnswer(row, { readOnly: false, isLimited: false }),
    minimum_interval_seconds: minimumIntervalSeconds,
    below_minimum_total: below.total,
    below_minimum: [...below.rows],
  };
}

/** The user of a member who has joined. @throws Problem `not_found` */
async function activeMember(
  scope: Scope,
  transaction: Transaction,
  workspaceId: number,
  memberId: number,
): Promise<number> {
  const member = await findMember(scope, transaction, workspaceId, memberId);
  if (member === null) throw noMember(workspaceId, memberId);
  if (member.user_id === null) {
    throw new Problem('conflict', 'this person is invited and has not joined yet: only a member can become the owner');
  }
  return member.user_id;
}

function noMember(workspaceId: number, memberId: number): Problem {
  return new Problem('not_found', `workspace ${workspaceId} has no member ${memberId}`);
}

function nameClash(names: readonly string[]): Problem {
  return new Problem(
    'name_taken',
    'names of monitors are unique within an owner, and the new owner has some of them elsewhere: rename these first',
    {
      errors: names.map((name) => ({ in: 'body', path: '/member_id', code: 'name_taken', message: name })),
    },
  );
}
