import { createHash } from 'node:crypto';
import {
  acceptInviteRoute,
  createInviteRoute,
  inviteMemberRoute,
  listInvitesRoute,
  Problem,
  revokeInviteRoute,
} from '@parallax/api-contract';
import type { Invite } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { requireConfirmedAddress } from '../../unconfirmed/index.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../../platform/http/handler.ts';
import { applyRates } from '../../../platform/http/apply-rates.ts';
import { countOnce } from '../../../platform/http/rate-limits.ts';
import { renderLetter } from '../../../platform/mail/letter.ts';
import { enqueueMail } from '../../../platform/mail/mail.ts';
import { recordAudit } from '../../audit/index.ts';
import { inviteLetter } from '../letters.ts';
import { inviteLife, mostOpenInvites } from '../limits.ts';
import { memberAnswer } from '../members/member-answer.ts';
import { hasMemberWithEmail } from '../members/queries.ts';
import { findWorkspace, lockWorkspace } from '../queries.ts';
import type { WorkspaceRow } from '../queries.ts';
import { noWorkspace, requireOwner, workspaceAnswer } from '../workspace-answer.ts';
import { acceptInvite, countInvites, insertInvite, listInvites, readInviter, revokeInvite } from './queries.ts';
import type { InviteRow } from './queries.ts';
import { inviteTokenHash, inviteUrl, makeInviteToken } from './token.ts';
import { inviteProblem } from './verdict.ts';

/** Invitations: made as a link or mailed to an address, withdrawn, accepted. */
export function inviteRoutes(context: Context): readonly Route[] {
  const { api } = context.database;
  return [
    handle(inviteMemberRoute, async ({ caller, params, body, request }) => {
      requireRole(caller, params.id, 'owner');
      await requireConfirmedAddress(context, caller, 'invitations are sent');
      await countMail(context, request, caller.userId, body.email);
      const scope = scopeOf(caller);
      const token = makeInviteToken();
      const mailedToken = makeInviteToken();
      const row = await inScope(api, scope, async (transaction) => {
        const workspace = await lockInviting(scope, transaction, params.id);
        // Nothing that the owner could not read in the list of members.
        if (await hasMemberWithEmail(scope, transaction, params.id, body.email)) {
          throw new Problem('conflict', 'the account with this address is a member already');
        }
        const mailed = { email: body.email, hash: inviteTokenHash(mailedToken) };
        const invite = { role: body.role, tokenHash: inviteTokenHash(token), mailed };
        const made = await insertInvite(scope, transaction, params.id, invite);
        const inviter = await readInviter(scope, transaction);
        const letter = inviteLetter(inviter.locale, {
          inviter,
          workspace: workspace.name,
          role: body.role,
          url: inviteUrl(context.publicUrl, mailedToken),
          days: Number.parseInt(inviteLife, 10),
        });
        await enqueueMail(transaction, context.sealer, { to: body.email, ...renderLetter(letter) });
        await recordAudit(transaction, caller, request, {
          ...ofInvite(params.id, made.id),
          action: 'invite.mailed',
          detail: { role: made.role, email: made.email },
        });
        return made;
      });
      const member = memberAnswer({ ...row, user_id: null, display_name: null, status: 'invited' }, true);
      return { ...member, token, url: inviteUrl(context.publicUrl, token) };
    }),
    handle(createInviteRoute, async ({ caller, params, body, request }) => {
      requireRole(caller, params.id, 'owner');
      const scope = scopeOf(caller);
      const token = makeInviteToken();
      const row = await inScope(api, scope, async (transaction) => {
        await lockInviting(scope, transaction, params.id);
        const invite = { role: body?.role ?? 'editor', tokenHash: inviteTokenHash(token), mailed: null };
        const made = await insertInvite(scope, transaction, params.id, invite);
        await recordAudit(transaction, caller, request, {
          ...ofInvite(params.id, made.id),
          action: 'invite.created',
          detail: { role: made.role },
        });
        return made;
      });
      return { ...inviteAnswer(row), token, url: inviteUrl(context.publicUrl, token) };
    }),
    handle(listInvitesRoute, async ({ caller, params, query }) => {
      requireRole(caller, params.id, 'owner');
      const { page, page_size } = query;
      const scope = scopeOf(caller);
      const { rows, total } = await inScope(api, scope, async (transaction) =>
        listInvites(scope, transaction, params.id, { limit: page_size, offset: (page - 1) * page_size }),
      );
      return { invites: rows.map(inviteAnswer), total, page, page_size };
    }),
    handle(revokeInviteRoute, async ({ caller, params, request }) => {
      requireRole(caller, params.id, 'owner');
      const scope = scopeOf(caller);
      await inScope(api, scope, async (transaction) => {
        requireOwner(await lockWorkspace(scope, transaction, params.id), params.id);
        const revoked = await revokeInvite(scope, transaction, params.id, params.invite_id);
        if (revoked === null) {
          throw new Problem('not_found', `workspace ${params.id} has no invitation ${params.invite_id} that waits`);
        }
        await recordAudit(transaction, caller, request, {
          ...ofInvite(params.id, revoked.id),
          action: 'invite.revoked',
        });
      });
    }),
    handle(acceptInviteRoute, async ({ caller, body, request }) => {
      const scope = scopeOf(caller);
      const taken = await inScope(api, scope, async (transaction) =>
        acceptInvite(scope, transaction, inviteTokenHash(body.token), request),
      );
      if (taken.workspace_id === null) throw inviteProblem(taken.outcome);
      // The caller's scope is that of the request's beginning.
      const workspaceId = taken.workspace_id;
      const joinedScope = { ...scope, workspaceIds: [...new Set([...scope.workspaceIds, workspaceId])] };
      const row = await inScope(api, joinedScope, async (transaction) =>
        findWorkspace(joinedScope, transaction, workspaceId),
      );
      // Removed again, or deleted, in between.
      if (row === null) throw noWorkspace(workspaceId);
      return { workspace: workspaceAnswer(row, caller), joined: taken.outcome === 'joined' };
    }),
  ];
}

/** The workspace, locked, for an owner who invites and has not too many invitations waiting. */
async function lockInviting(scope: Scope, transaction: Transaction, workspaceId: number): Promise<WorkspaceRow> {
  const workspace = requireOwner(await lockWorkspace(scope, transaction, workspaceId), workspaceId);
  if ((await countInvites(scope, transaction, workspaceId)) >= mostOpenInvites) {
    throw new Problem('conflict', `${mostOpenInvites} invitations of this workspace wait already: withdraw one first`);
  }
  return workspace;
}

/** Counts a mail against the inviter and the address. @throws Problem `rate_limited` */
async function countMail(context: Context, request: RequestFacts, userId: number, email: string): Promise<void> {
  const digest = createHash('sha256').update(email).digest('base64url').slice(0, 22);
  const { limits, database } = context;
  for (const [key, rate, whose] of [
    [`invite-mails:${userId}`, limits.rate('invite_mail'), 'of this account'],
    [`invite-mails-to:${digest}`, limits.rate('invite_mail_to_address'), 'to this address'],
  ] as const) {
    applyRates(request.reply, [await countOnce(database.api, key, rate)], 'invitations', whose);
  }
}

function ofInvite(workspaceId: number, inviteId: number) {
  return { workspaceId, subjectType: 'invite', subjectId: inviteId } as const;
}

function inviteAnswer(row: InviteRow): Invite {
  return {
    ...row,
    created_at: new Date(row.created_at).toISOString(),
    expires_at: new Date(row.expires_at).toISOString(),
  };
}
