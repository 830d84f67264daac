import { createAccessTokenRoute, listAccessTokensRoute, revokeAccessTokenRoute } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { handle } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';
import { durableCredentials } from '../durable-credentials/index.ts';
import { accessTokenKind } from './kind.ts';

/** Routes below `/auth/tokens`. */
export function accessTokenRoutes(context: Context): readonly Route[] {
  const tokens = durableCredentials(context, accessTokenKind);
  return [
    handle(listAccessTokensRoute, async (input) => {
      const { credentials, page } = await tokens.list(input);
      return { tokens: credentials, ...page };
    }),
    handle(createAccessTokenRoute, async (input) => {
      const { credential, secret } = await tokens.create(input);
      return { ...credential, token: secret };
    }),
    handle(revokeAccessTokenRoute, tokens.revoke),
  ];
}
