import { z } from 'zod';
import { route } from './route.ts';
import { bodyId, idSchema, instant, listOf, nameSchema, pageQuery, timestamp } from './shared.ts';

const apiKeyFields = {
  id: z.number().int(),
  name: z.string(),
  /** The first characters of the key, to recognise it by. */
  prefix: z.string(),
  read_only: z.boolean(),
  expires_at: timestamp.nullable(),
  last_used_at: timestamp.nullable(),
  /** The workspaces it is limited to; null: all of the user. */
  workspace_ids: z.array(z.number().int()).nullable(),
  created_at: timestamp,
};

export const apiKeySchema = z.object(apiKeyFields).meta({ id: 'ApiKey' });
export type ApiKey = z.output<typeof apiKeySchema>;

const createdApiKeySchema = z
  .object({ ...apiKeyFields, key: z.string().meta({ description: 'the key itself, shown this once' }) })
  .meta({ id: 'CreatedApiKey' });

const tag = 'API keys';

export const listApiKeysRoute = route({
  method: 'GET',
  path: '/api/v1/api-keys',
  credentials: 'bearer',
  tag,
  summary: 'List the API keys of the caller',
  query: z.object(pageQuery),
  success: { status: 200, answer: listOf('api_keys', apiKeySchema).meta({ id: 'ApiKeyList' }) },
});

export const createApiKeyRoute = route({
  method: 'POST',
  path: '/api/v1/api-keys',
  credentials: 'bearer',
  tag,
  summary: 'Create an API key',
  description:
    'The key acts with the role that its user has in each workspace. It is shown in this answer and never again.',
  body: z
    .object({
      name: nameSchema,
      read_only: z.boolean().default(false),
      expires_at: instant.nullable().default(null),
      workspace_ids: z.array(bodyId).min(1).max(1_000).nullable().default(null),
    })
    .meta({ id: 'CreateApiKeyRequest' }),
  success: { status: 201, answer: createdApiKeySchema },
  idempotent: true,
  errors: [404, 409],
});

export const revokeApiKeyRoute = route({
  method: 'DELETE',
  path: '/api/v1/api-keys/:id',
  credentials: 'bearer',
  tag,
  summary: 'Revoke an API key',
  params: z.object({ id: idSchema }),
  success: { status: 204 },
  errors: [404],
});
