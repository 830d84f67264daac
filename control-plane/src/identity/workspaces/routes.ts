import {
  createWorkspaceRoute,
  deleteWorkspaceRoute,
  getDefaultWorkspaceRoute,
  getWorkspaceRoute,
  listWorkspaceNamesRoute,
  listWorkspacesRoute,
  Problem,
  setDefaultWorkspaceRoute,
  updateWorkspaceRoute,
} from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { inScope } from '../../platform/database/scope.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import { etagOf, requireMatch } from '../../platform/http/etag.ts';
import { handle } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';
import { recordAudit } from '../audit/index.ts';
import { inviteRoutes } from './invites/routes.ts';
import { mostOwnWorkspaces } from './limits.ts';
import { memberRoutes } from './members/routes.ts';
import { makePingKey } from './ping-key.ts';
import {
  changeWorkspace,
  chooseDefault,
  countOwnWorkspaces,
  findDefaultWorkspace,
  findWorkspace,
  insertWorkspace,
  listWorkspaces,
  lockUser,
  lockWorkspace,
  markWorkspaceDeleted,
} from './queries.ts';
import type { WorkspaceRow } from './queries.ts';
import { transferRoutes } from './transfer/routes.ts';
import { noWorkspace, requireOwner, workspaceAnswer } from './workspace-answer.ts';

/** Routes below `/workspaces`. */
export function workspaceRoutes(context: Context): readonly Route[] {
  return [
    ...readRoutes(context),
    ...writeRoutes(context),
    ...memberRoutes(context),
    ...inviteRoutes(context),
    ...transferRoutes(context),
  ];
}

function readRoutes(context: Context): readonly Route[] {
  const { api } = context.database;
  return [
    handle(listWorkspacesRoute, async ({ caller, query }) => {
      const { page, page_size } = query;
      const scope = scopeOf(caller);
      const { rows, total } = await inScope(api, scope, async (transaction) =>
        listWorkspaces(scope, transaction, { limit: page_size, offset: (page - 1) * page_size }),
      );
      return { workspaces: rows.map((row) => workspaceAnswer(row, caller)), total, page, page_size };
    }),
    handle(listWorkspaceNamesRoute, async ({ caller, query }) => {
      const { page, page_size } = query;
      const scope = scopeOf(caller);
      const { rows, total } = await inScope(api, scope, async (transaction) =>
        listWorkspaces(scope, transaction, { limit: page_size, offset: (page - 1) * page_size }),
      );
      return { workspaces: rows.map(({ id, name }) => ({ id, name })), total, page, page_size };
    }),
    handle(getDefaultWorkspaceRoute, async ({ caller, request }) => {
      const scope = scopeOf(caller);
      const row = await inScope(api, scope, async (transaction) => findDefaultWorkspace(scope, transaction));
      if (row === null) throw new Problem('not_found', 'you are a member of no workspace: create one');
      void request.reply.header('etag', etagOf(row.version));
      return workspaceAnswer(row, caller);
    }),
    handle(getWorkspaceRoute, async ({ caller, params, request }) => {
      requireRole(caller, params.id, 'viewer');
      const scope = scopeOf(caller);
      const row = await inScope(api, scope, async (transaction) => findWorkspace(scope, transaction, params.id));
      if (row === null) throw noWorkspace(params.id);
      void request.reply.header('etag', etagOf(row.version));
      return workspaceAnswer(row, caller);
    }),
  ];
}

function writeRoutes(context: Context): readonly Route[] {
  const { api } = context.database;
  return [
    handle(createWorkspaceRoute, async ({ caller, body, request }) => {
      const scope = scopeOf(caller);
      const row = await inScope(api, scope, async (transaction) => {
        await lockUser(scope, transaction);
        if ((await countOwnWorkspaces(scope, transaction)) >= mostOwnWorkspaces) {
          throw new Problem('conflict', `a user may own ${mostOwnWorkspaces} workspaces: delete or transfer one first`);
        }
        const id = await insertWorkspace(scope, transaction, { name: body.name, pingKey: makePingKey() });
        await recordAudit(transaction, caller, request, {
          ...ofWorkspace(id),
          action: 'workspace.created',
          detail: { name: body.name },
        });
        return readAgain({ ...scope, workspaceIds: [...scope.workspaceIds, id] }, transaction, id);
      });
      void request.reply.header('etag', etagOf(row.version)).header('location', `/api/v1/workspaces/${row.id}`);
      return workspaceAnswer(row, caller);
    }),
    handle(updateWorkspaceRoute, async ({ caller, params, body, request }) => {
      requireRole(caller, params.id, 'owner');
      const scope = scopeOf(caller);
      const row = await inScope(api, scope, async (transaction) => {
        const stored = requireOwner(await lockWorkspace(scope, transaction, params.id), params.id);
        requireMatch(request.header('if-match'), stored.version);
        if (body.name === undefined || body.name === stored.name) return stored;
        await changeWorkspace(transaction, params.id, { name: body.name });
        await recordAudit(transaction, caller, request, {
          ...ofWorkspace(params.id),
          action: 'workspace.updated',
          detail: { name: body.name },
        });
        return readAgain(scope, transaction, params.id);
      });
      void request.reply.header('etag', etagOf(row.version));
      return workspaceAnswer(row, caller);
    }),
    handle(deleteWorkspaceRoute, async ({ caller, params, request }) => {
      requireRole(caller, params.id, 'owner');
      const scope = scopeOf(caller);
      await inScope(api, scope, async (transaction) => {
        await lockUser(scope, transaction);
        const stored = requireOwner(await lockWorkspace(scope, transaction, params.id), params.id);
        requireMatch(request.header('if-match'), stored.version);
        if (stored.is_default) {
          throw new Problem('conflict', 'this is your default workspace: make another one the default first');
        }
        await markWorkspaceDeleted(transaction, params.id);
        await recordAudit(transaction, caller, request, {
          ...ofWorkspace(params.id),
          action: 'workspace.deleted',
          detail: { name: stored.name },
        });
      });
    }),
    handle(setDefaultWorkspaceRoute, async ({ caller, params, request }) => {
      requireRole(caller, params.id, 'viewer');
      const scope = scopeOf(caller);
      const row = await inScope(api, scope, async (transaction) => {
        await lockUser(scope, transaction);
        if (!(await chooseDefault(scope, transaction, params.id))) throw noWorkspace(params.id);
        // A matter of the user, not of the workspace: its other members do not read of it.
        const { subjectType, subjectId } = ofWorkspace(params.id);
        await recordAudit(transaction, caller, request, { action: 'workspace.made_default', subjectType, subjectId });
        return readAgain(scope, transaction, params.id);
      });
      return workspaceAnswer(row, caller);
    }),
  ];
}

function ofWorkspace(id: number) {
  return { workspaceId: id, subjectType: 'workspace', subjectId: id } as const;
}

async function readAgain(scope: Scope, transaction: Transaction, id: number): Promise<WorkspaceRow> {
  const row = await findWorkspace(scope, transaction, id);
  if (row === null) throw noWorkspace(id);
  return row;
}
