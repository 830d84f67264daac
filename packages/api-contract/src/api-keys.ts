import { z } from 'zod';
import { durableCredentialFields, newCredentialSchema } from './durable-credentials.ts';
import { route } from './route.ts';
import { idSchema, listOf, pageQuery } from './shared.ts';

const apiKeySchema = z.object(durableCredentialFields).meta({ id: 'ApiKey' });

const createdApiKeySchema = z
  .object({ ...durableCredentialFields, key: z.string().meta({ description: 'the key itself, shown this once' }) })
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
    'The key acts with the role that its user has in each workspace. A session that is older than ten minutes needs `password` too; the owner is told by mail. It is shown in this answer and never again.',
  body: newCredentialSchema.meta({ id: 'CreateApiKeyRequest' }),
  success: { status: 201, answer: createdApiKeySchema },
  idempotent: true,
  errors: [403, 404, 409],
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
