import { createApiKeyRoute, invalidInput, listApiKeysRoute, Problem, revokeApiKeyRoute } from '@parallax/api-contract';
import type { ApiKey } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { randomKeyHash } from '../../platform/crypto/random-key.ts';
import { inScope } from '../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import { handle } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';
import { recordAudit } from '../audit/index.ts';
import { apiKeyKind } from './key-format.ts';
import { countApiKeys, insertApiKey, listApiKeys, lockApiKeys, revokeApiKey } from './queries.ts';
import type { ApiKeyRow } from './queries.ts';

const maxKeys = 100;

/** Routes below `/api-keys`. */
export function apiKeyRoutes(context: Context): readonly Route[] {
  return [
    handle(listApiKeysRoute, async ({ caller, query }) => {
      const { page, page_size } = query;
      const scope = scopeOf(caller);
      const { rows, total } = await inScope(context.database.api, scope, async (transaction) =>
        listApiKeys(scope, transaction, { limit: page_size, offset: (page - 1) * page_size }),
      );
      return { api_keys: rows.map(apiKeyAnswer), total, page, page_size };
    }),
    handle(createApiKeyRoute, async ({ caller, body, request }) => {
      for (const workspaceId of body.workspace_ids ?? []) requireRole(caller, workspaceId, 'viewer');
      const expiresAt = body.expires_at === null ? null : new Date(body.expires_at);
      if (expiresAt !== null && expiresAt.getTime() <= context.now()) {
        throw invalidInput('body', '/expires_at', 'in_the_past', 'must lie in the future');
      }
      const key = apiKeyKind.make();
      const scope = scopeOf(caller);
      const row = await inScope(context.database.api, scope, async (transaction) => {
        await lockApiKeys(scope, transaction);
        if ((await countApiKeys(scope, transaction)) >= maxKeys) {
          throw new Problem('conflict', `a user may have ${maxKeys} API keys: revoke one first`);
        }
        const made = await insertApiKey(scope, transaction, {
          name: body.name,
          prefix: apiKeyKind.start(key),
          hash: randomKeyHash(key),
          readOnly: body.read_only,
          expiresAt,
          workspaceIds: body.workspace_ids === null ? null : [...new Set(body.workspace_ids)],
        });
        const detail = { name: made.name, prefix: made.prefix, read_only: made.read_only };
        const event = { action: 'api_key.created', subjectType: 'api_key', subjectId: made.id, detail };
        await recordAudit(transaction, caller, request, event);
        return made;
      });
      return { ...apiKeyAnswer(row), key };
    }),
    handle(revokeApiKeyRoute, async ({ caller, params, request }) => {
      const scope = scopeOf(caller);
      const revoked = await inScope(context.database.api, scope, async (transaction) => {
        const found = await revokeApiKey(scope, transaction, params.id);
        const event = { action: 'api_key.revoked', subjectType: 'api_key', subjectId: params.id };
        if (found) await recordAudit(transaction, caller, request, event);
        return found;
      });
      if (!revoked) throw new Problem('not_found', `there is no API key ${params.id}`);
    }),
  ];
}

function apiKeyAnswer(row: ApiKeyRow): ApiKey {
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
