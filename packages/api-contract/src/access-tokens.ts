import { z } from 'zod';
import { durableCredentialFields, newCredentialSchema } from './durable-credentials.ts';
import { route } from './route.ts';
import { idSchema, listOf, pageQuery } from './shared.ts';
import { tokenScopesSchema } from './token-scopes.ts';

const tokenFields = { ...durableCredentialFields, scopes: tokenScopesSchema };
const accessTokenSchema = z.object(tokenFields).meta({ id: 'PersonalAccessToken' });

const tag = 'Personal access tokens';

export const listAccessTokensRoute = route({
  method: 'GET',
  path: '/api/v1/auth/tokens',
  credentials: 'bearer',
  tag,
  summary: 'List the personal access tokens of the caller',
  query: z.object(pageQuery),
  success: { status: 200, answer: listOf('tokens', accessTokenSchema).meta({ id: 'PersonalAccessTokenList' }) },
  errors: [403],
});

export const createAccessTokenRoute = route({
  method: 'POST',
  path: '/api/v1/auth/tokens',
  credentials: 'bearer',
  tag,
  summary: 'Create a personal access token',
  description:
    'The token is sent as Authorization: Bearer plx_… wherever an access token is taken, except where credentials are changed: below /auth (but the profile) and to create or revoke API keys. It acts with the role that its user has in each workspace. It is shown in this answer and never again. A session that is older than ten minutes needs `password` too; the owner is told by mail.',
  body: newCredentialSchema
    .extend({ scopes: tokenScopesSchema.default(null) })
    .meta({ id: 'CreatePersonalAccessTokenRequest' }),
  success: {
    status: 201,
    answer: z
      .object({
        ...tokenFields,
        token: z.string().meta({ description: 'the token itself, shown this once' }),
      })
      .meta({ id: 'CreatedPersonalAccessToken' }),
  },
  idempotent: true,
  errors: [403, 404, 409],
});

export const revokeAccessTokenRoute = route({
  method: 'DELETE',
  path: '/api/v1/auth/tokens/:id',
  credentials: 'bearer',
  tag,
  summary: 'Revoke a personal access token',
  params: z.object({ id: idSchema }),
  success: { status: 204 },
  errors: [403, 404],
});
