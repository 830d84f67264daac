import { createApiKeyRoute, listApiKeysRoute, revokeApiKeyRoute } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { handle } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';
import { durableCredentials } from '../durable-credentials/index.ts';
import { apiKeyKind } from './kind.ts';

/** Routes below `/api-keys`. */
export function apiKeyRoutes(context: Context): readonly Route[] {
  const keys = durableCredentials(context, apiKeyKind);
  return [
    handle(listApiKeysRoute, async (input) => {
      const { credentials, page } = await keys.list(input);
      return { api_keys: credentials, ...page };
    }),
    handle(createApiKeyRoute, async (input) => {
      const { credential, secret } = await keys.create(input);
      return { ...credential, key: secret };
    }),
    handle(revokeApiKeyRoute, keys.revoke),
  ];
}
