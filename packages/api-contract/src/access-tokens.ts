import { z } from 'zod';
import { route } from './route.ts';
import { bodyId, idSchema, instant, listOf, nameSchema, pageQuery, timestamp } from './shared.ts';

const accessTokenFields = {
  id: z.number().int(),
  name: z.string(),
  /** The first characters of the token, to recognise it by. */
  prefix: z.string(),
  read_only: z.boolean(),
  expires_at: timestamp.nullable(),
  /** Noted at most once a minute. */
  last_used_at: timestamp.nullable(),
  /** The workspaces it is limited to; null: all of the user. */
  workspace_ids: z.array(z.number().int()).nullable(),
  created_at: timestamp,
};

export const accessTokenSchema = z.object(accessTokenFields).meta({ id: 'PersonalAccessToken' });
export type AccessToken = z.output<typeof accessTokenSchema>;

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
    'The token is sent as Authorization: Bearer plx_… wherever an access token is taken, except where credentials are changed: below /auth (but the profile) and to create or revoke API keys. It acts with the role that its user has in each workspace. It is shown in this answer and never again.',
  body: z
    .object({
      name: nameSchema,
      read_only: z.boolean().default(false),
      expires_at: instant.nullable().default(null),
      workspace_ids: z.array(bodyId).min(1).max(1_000).nullable().default(null),
    })
    .meta({ id: 'CreatePersonalAccessTokenRequest' }),
  success: {
    status: 201,
    answer: z
      .object({ ...accessTokenFields, token: z.string().meta({ description: 'the token itself, shown this once' }) })
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
