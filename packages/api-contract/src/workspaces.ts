import { z } from 'zod';
import { route } from './route.ts';
import { idSchema, listOf, pageQuery, timestamp } from './shared.ts';

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
