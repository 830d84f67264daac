import {
  createBadgeRoute,
  deleteBadgeRoute,
  listBadgesRoute,
  Problem,
  readBadgeRoute,
  rotateBadgeRoute,
} from '@parallax/api-contract';
import type { Badge } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { recordAudit } from '../../identity/audit/index.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { inScope } from '../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { AlternativeAnswer, handle } from '../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../platform/http/handler.ts';
import { answerOf } from './answer.ts';
import { findBadge, holdSubject, insertBadge, listBadges, lockBadge, removeBadge, writeKey } from './badges.queries.ts';
import type { BadgeRow } from './badges.queries.ts';
import { makeKey, openKey } from './key.ts';

/** Creating, reading, rotating and deleting badges. @param onEnded told of a badge whose key has ended, after the commit */
export function badgeRoutes(context: Context, onEnded: (id: number) => void): Route[] {
  const { api } = context.database;
  return [
    handle(listBadgesRoute, async ({ query, caller }) => {
      if (query.workspace_id !== undefined) requireRole(caller, query.workspace_id, 'viewer');
      const scope = scopeOf(caller);
      const { rows, total } = await inScope(api, scope, (tx) => listBadges(scope, tx, query));
      const badges = rows.map((row) => seenBy(context, caller, row));
      return { badges, total, page: query.page, page_size: query.page_size };
    }),

    handle(createBadgeRoute, async ({ body, caller, request }) => {
      requireRole(caller, body.workspace_id, 'editor');
      const scope = scopeOf(caller);
      const { row, isNew } = await inScope(api, scope, async (tx) => {
        if (!(await holdSubject(tx, body.workspace_id, body))) throw noSubject(body);
        const made = await insertBadge(tx, body.workspace_id, body, makeKey(context.sealer));
        const badge = await findBadge(scope, tx, made.id);
        if (badge === null) throw new Error('a badge was written and is not there');
        if (made.isNew) await record(tx, { caller, request }, badge, 'badge.created');
        return { row: badge, isNew: made.isNew };
      });
      request.reply.header('location', `/api/v1/badges/${row.id}`);
      const badge = seenBy(context, caller, row);
      return isNew ? badge : new AlternativeAnswer(badge);
    }),

    handle(readBadgeRoute, async ({ params, caller }) => {
      const scope = scopeOf(caller);
      const row = await inScope(api, scope, (tx) => findBadge(scope, tx, params.id));
      if (row === null) throw noBadge(params.id);
      return seenBy(context, caller, row);
    }),

    handle(rotateBadgeRoute, async ({ params, caller, request }) => {
      const row = await change(context, { caller, request }, params.id, async (tx, badge) => {
        await writeKey(tx, badge.id, makeKey(context.sealer));
        return 'badge.rotated';
      });
      onEnded(params.id);
      if (row === null) throw noBadge(params.id);
      return seenBy(context, caller, row);
    }),

    handle(deleteBadgeRoute, async ({ params, caller, request }) => {
      await change(context, { caller, request }, params.id, async (tx, badge) => {
        await removeBadge(tx, badge.id);
        return 'badge.deleted';
      });
      onEnded(params.id);
    }),
  ];
}

type Actor = { readonly caller: Caller; readonly request: RequestFacts };

function noBadge(id: number): Problem {
  return new Problem('not_found', `there is no badge ${id}`);
}

function noSubject({
  type,
  id,
  workspace_id: workspaceId,
}: {
  type: string;
  id: number;
  workspace_id: number;
}): Problem {
  const message = `there is no ${type} ${id} in workspace ${workspaceId}`;
  return new Problem('not_found', message, { errors: [{ in: 'body', path: '/id', code: 'not_found', message }] });
}

/**
 * Changes a badge in one transaction: locked, by an editor of its workspace, and recorded.
 * @param work writes. @returns what was done
 * @returns the badge as it is afterwards, null when it is gone
 * @throws Problem `not_found`, `forbidden`
 */
async function change(
  context: Context,
  actor: Actor,
  id: number,
  work: (tx: Transaction, row: BadgeRow) => Promise<string>,
): Promise<BadgeRow | null> {
  const scope = scopeOf(actor.caller);
  return inScope(context.database.api, scope, async (tx) => {
    const row = await lockBadge(scope, tx, id);
    if (row === null) throw noBadge(id);
    requireRole(actor.caller, row.workspace_id, 'editor');
    await record(tx, actor, row, await work(tx, row));
    return findBadge(scope, tx, id);
  });
}

/** A badge as a member may see it: whoever has the key can show the badge to anybody, so viewers do not see it. */
function seenBy({ sealer, publicUrl }: Context, caller: Caller, row: BadgeRow): Badge {
  return answerOf(row, mayChange(caller, row.workspace_id) ? openKey(sealer, row) : null, publicUrl);
}

/** Whether the caller could change badges of a workspace. */
function mayChange(caller: Caller, workspaceId: number): boolean {
  const role = caller.workspaces.get(workspaceId);
  if (role === undefined || role === 'viewer' || caller.readOnly) return false;
  return caller.scopes === undefined || caller.scopes.includes('badges:write');
}

function record(tx: Transaction, { caller, request }: Actor, row: BadgeRow, action: string): Promise<void> {
  return recordAudit(tx, caller, request, {
    action,
    workspaceId: row.workspace_id,
    subjectType: 'badge',
    subjectId: row.id,
    detail: { type: row.type, subject_id: row.subject_id },
  });
}
