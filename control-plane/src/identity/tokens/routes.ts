import {
  createAccessTokenRoute,
  invalidInput,
  listAccessTokensRoute,
  Problem,
  revokeAccessTokenRoute,
} from '@parallax/api-contract';
import type { AccessToken } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { randomKeyHash } from '../../platform/crypto/random-key.ts';
import { inScope } from '../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import { handle } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';
import { recordAudit } from '../audit/index.ts';
import {
  countAccessTokens,
  insertAccessToken,
  listAccessTokens,
  lockAccessTokens,
  revokeAccessToken,
} from './queries.ts';
import type { AccessTokenRow } from './queries.ts';
import { accessTokenKind } from './token-format.ts';

const maxTokens = 100;

/** Routes below `/auth/tokens`. */
export function accessTokenRoutes(context: Context): readonly Route[] {
  return [
    handle(listAccessTokensRoute, async ({ caller, query }) => {
      const { page, page_size } = query;
      const scope = scopeOf(caller);
      const { rows, total } = await inScope(context.database.api, scope, async (transaction) =>
        listAccessTokens(scope, transaction, { limit: page_size, offset: (page - 1) * page_size }),
      );
      return { tokens: rows.map(tokenAnswer), total, page, page_size };
    }),
    handle(createAccessTokenRoute, async ({ caller, body, request }) => {
      for (const workspaceId of body.workspace_ids ?? []) requireRole(caller, workspaceId, 'viewer');
      const expiresAt = body.expires_at === null ? null : new Date(body.expires_at);
      if (expiresAt !== null && expiresAt.getTime() <= context.now()) {
        throw invalidInput('body', '/expires_at', 'in_the_past', 'must lie in the future');
      }
      const token = accessTokenKind.make();
      const scope = scopeOf(caller);
      const row = await inScope(context.database.api, scope, async (transaction) => {
        await lockAccessTokens(scope, transaction);
        if ((await countAccessTokens(scope, transaction)) >= maxTokens) {
          throw new Problem('conflict', `a user may have ${maxTokens} personal access tokens: revoke one first`);
        }
        const made = await insertAccessToken(scope, transaction, {
          name: body.name,
          prefix: accessTokenKind.start(token),
          hash: randomKeyHash(token),
          readOnly: body.read_only,
          expiresAt,
          workspaceIds: body.workspace_ids === null ? null : [...new Set(body.workspace_ids)],
        });
        const detail = { name: made.name, prefix: made.prefix, read_only: made.read_only };
        const event = { action: 'access_token.created', subjectType: 'access_token', subjectId: made.id, detail };
        await recordAudit(transaction, caller, request, event);
        return made;
      });
      return { ...tokenAnswer(row), token };
    }),
    handle(revokeAccessTokenRoute, async ({ caller, params, request }) => {
      const scope = scopeOf(caller);
      const revoked = await inScope(context.database.api, scope, async (transaction) => {
        const found = await revokeAccessToken(scope, transaction, params.id);
        const event = { action: 'access_token.revoked', subjectType: 'access_token', subjectId: params.id };
        if (found) await recordAudit(transaction, caller, request, event);
        return found;
      });
      if (!revoked) throw new Problem('not_found', `there is no personal access token ${params.id}`);
    }),
  ];
}

function tokenAnswer(row: AccessTokenRow): AccessToken {
  return {
    ...row,
    expires_at: isoTime(row.expires_at),
    last_used_at: isoTime(row.last_used_at),
    created_at: new Date(row.created_at).toISOString(),
  };
}

function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
