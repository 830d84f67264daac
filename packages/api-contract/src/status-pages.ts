import { z } from 'zod';
import { searchText } from './monitors.ts';
import { route } from './route.ts';
import { idSchema, listOf, pageQuery, wordParameter } from './shared.ts';
import {
  addStatusPageItemsSchema,
  createStatusPageSchema,
  statusPageItemTypes,
  statusPageLimits,
  statusPageSchema,
  updateStatusPageSchema,
} from './status-page-shapes.ts';

const tag = 'Status pages';
const params = z.object({ id: idSchema });
const ifMatch = '`If-Match` takes the version.';

export const listStatusPagesRoute = route({
  method: 'GET',
  path: '/api/v1/status-pages',
  credentials: 'bearer',
  tag,
  summary: 'List status pages by name',
  query: z.object({
    ...pageQuery,
    workspace_id: idSchema.optional(),
    search: searchText.optional().describe('Case-insensitive part of name, description or slug.'),
  }),
  success: { status: 200, answer: listOf('status_pages', statusPageSchema).meta({ id: 'StatusPageList' }) },
  errors: [404],
});

export const createStatusPageRoute = route({
  method: 'POST',
  path: '/api/v1/status-pages',
  credentials: 'bearer',
  tag,
  summary: 'Create a status page',
  description: `At most ${statusPageLimits.ofWorkspace} a workspace. It can be read by the public once \`is_published\` is true.`,
  body: createStatusPageSchema,
  idempotent: true,
  success: { status: 201, answer: statusPageSchema },
  errors: [403, 404, 409],
});

export const previewStatusPageRoute = route({
  method: 'POST',
  path: '/api/v1/status-pages/preview',
  credentials: 'bearer',
  tag,
  summary: 'Show a status page as it would look',
  description:
    'The body is that of a page to be created; nothing is stored, and the page need not be published. What it shows is what the workspace measures now. The answer has the policy (`Content-Security-Policy`) of such a page.',
  body: createStatusPageSchema,
  success: { status: 200, answer: z.string(), contentType: 'text/html; charset=utf-8' },
  errors: [403, 404],
});

export const readStatusPageRoute = route({
  method: 'GET',
  path: '/api/v1/status-pages/:id',
  credentials: 'bearer',
  tag,
  summary: 'Read a status page and what it shows',
  params,
  success: { status: 200, answer: statusPageSchema },
  errors: [404],
});

export const updateStatusPageRoute = route({
  method: 'PUT',
  path: '/api/v1/status-pages/:id',
  credentials: 'bearer',
  tag,
  summary: 'Change a status page',
  description: `An absent key keeps, \`null\` clears or goes back to the default. ${ifMatch}`,
  params,
  body: updateStatusPageSchema,
  success: { status: 200, answer: statusPageSchema },
  errors: [403, 404, 409, 412],
  measured: ['is_empty'],
});

export const deleteStatusPageRoute = route({
  method: 'DELETE',
  path: '/api/v1/status-pages/:id',
  credentials: 'bearer',
  tag,
  summary: 'Delete a status page',
  description: `What it shows stays. Nobody can take its slug for ${statusPageLimits.deletedDays} days. ${ifMatch}`,
  params,
  success: { status: 204 },
  errors: [403, 404, 412],
});

export const addStatusPageItemsRoute = route({
  method: 'POST',
  path: '/api/v1/status-pages/:id/monitors',
  credentials: 'bearer',
  tag,
  summary: 'Add components to a status page',
  description: `After those that it has. Those that are on it already stay as they are. At most ${statusPageLimits.items}. ${ifMatch}`,
  params,
  body: addStatusPageItemsSchema,
  success: { status: 200, answer: statusPageSchema },
  errors: [403, 404, 412],
});

export const removeStatusPageItemRoute = route({
  method: 'DELETE',
  path: '/api/v1/status-pages/:id/monitors/:monitor_id',
  credentials: 'bearer',
  tag,
  summary: 'Remove a component from a status page',
  description: `404 where the page does not show it. ${ifMatch}`,
  params: z.object({ id: idSchema, monitor_id: idSchema.describe('The number of what `type` says.') }),
  query: z.object({ type: wordParameter(z.enum(statusPageItemTypes)).default('monitor') }),
  success: { status: 204, headers: ['ETag'] },
  errors: [403, 404, 412],
});
