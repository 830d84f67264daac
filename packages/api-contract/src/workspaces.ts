import { z } from 'zod';
import { route } from './route.ts';
import { idSchema, listOf, nameSchema, pageQuery, timestamp } from './shared.ts';

export const workspaceRole = z.enum(['owner', 'editor', 'viewer']);

export const workspaceSchema = z
  .object({
    id: z.number().int(),
    name: z.string(),
    /** Of the caller, not of the workspace. */
    is_default: z.boolean(),
    role: workspaceRole,
    /** Part of every ping URL; null for a viewer. */
    ping_key: z.string().nullable(),
    private_targets: z
      .array(z.string())
      .describe(
        'Ranges that an administrator of the installation lets the checks of this workspace reach although they are not public.',
      ),
    created_at: timestamp,
    updated_at: timestamp,
    version: z.number().int(),
  })
  .meta({ id: 'Workspace' });
export type Workspace = z.output<typeof workspaceSchema>;

const tag = 'Workspaces';

export const listWorkspacesRoute = route({
  method: 'GET',
  path: '/api/v1/workspaces',
  credentials: 'bearer',
  tag,
  summary: 'List the workspaces of the caller, the default one first',
  query: z.object(pageQuery),
  success: { status: 200, answer: listOf('workspaces', workspaceSchema).meta({ id: 'WorkspaceList' }) },
});

export const getWorkspaceRoute = route({
  method: 'GET',
  path: '/api/v1/workspaces/:id',
  credentials: 'bearer',
  tag,
  summary: 'One workspace',
  params: z.object({ id: idSchema }),
  success: { status: 200, answer: workspaceSchema },
  errors: [404],
});

export const getDefaultWorkspaceRoute = route({
  method: 'GET',
  path: '/api/v1/workspaces/default',
  credentials: 'bearer',
  tag,
  summary: 'The default workspace of the caller',
  description:
    'The one that was set as default while the caller is a member of it, else their first own one, else the first that they are a member of. 404 for who has none.',
  success: { status: 200, answer: workspaceSchema },
  errors: [404],
});

export const listWorkspaceNamesRoute = route({
  method: 'GET',
  path: '/api/v1/workspaces/summary',
  credentials: 'bearer',
  tag,
  summary: 'Identifiers and names of the workspaces of the caller, the default one first',
  query: z.object(pageQuery),
  success: {
    status: 200,
    answer: listOf('workspaces', z.object({ id: z.number().int(), name: z.string() })).meta({ id: 'WorkspaceNames' }),
  },
});

export const createWorkspaceRoute = route({
  method: 'POST',
  path: '/api/v1/workspaces',
  credentials: 'bearer',
  tag,
  summary: 'Create a workspace',
  body: z.strictObject({ name: nameSchema }).meta({ id: 'CreateWorkspaceRequest' }),
  success: { status: 201, answer: workspaceSchema },
  idempotent: true,
  errors: [409],
});

export const updateWorkspaceRoute = route({
  method: 'PUT',
  path: '/api/v1/workspaces/:id',
  credentials: 'bearer',
  tag,
  summary: 'Rename a workspace',
  description: 'For its owner. Takes If-Match.',
  params: z.object({ id: idSchema }),
  body: z.strictObject({ name: nameSchema.optional() }).meta({ id: 'UpdateWorkspaceRequest' }),
  success: { status: 200, answer: workspaceSchema },
  errors: [403, 404, 412],
});

export const deleteWorkspaceRoute = route({
  method: 'DELETE',
  path: '/api/v1/workspaces/:id',
  credentials: 'bearer',
  tag,
  summary: 'Delete a workspace with everything in it',
  description:
    'For its owner; not the default one of the owner (409). Nobody sees it from then on; its monitors and their results are removed and its probes revoked in the background. Takes If-Match.',
  params: z.object({ id: idSchema }),
  success: { status: 204 },
  errors: [403, 404, 409, 412],
});

export const setDefaultWorkspaceRoute = route({
  method: 'POST',
  path: '/api/v1/workspaces/:id/set-default',
  credentials: 'bearer',
  tag,
  summary: 'Make a workspace the default one of the caller',
  description: 'For every member; it changes nothing for others.',
  params: z.object({ id: idSchema }),
  success: { status: 200, answer: workspaceSchema },
  errors: [404],
});

const exchangedKeySchema = workspaceSchema
  .extend({
    exchanged_heartbeats: z.number().int().describe('Heartbeats that have a new uuid.'),
    push_urls: z
      .array(z.object({ heartbeat_id: z.number().int(), name: z.string(), push_url: z.string() }))
      .describe('New push URLs in place of the imported ones. Shown once.'),
  })
  .meta({ id: 'WorkspaceWithNewPingKey' });

export const regeneratePingKeyRoute = route({
  method: 'POST',
  path: '/api/v1/workspaces/:id/regenerate-ping-key',
  credentials: 'bearer',
  tag,
  summary: 'Replace the ping key and all ping URLs of the workspace',
  description:
    'For the owner. Every heartbeat gets a new uuid, and a new push token where it had one: no previous ping URL works any more. Secrets for `X-Secret` stay; they are no URLs.',
  params: z.object({ id: idSchema }),
  success: { status: 200, answer: exchangedKeySchema },
  errors: [403, 404],
});
