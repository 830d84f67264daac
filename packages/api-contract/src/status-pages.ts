import { z } from 'zod';
import { searchText } from './monitors.ts';
import { route } from './route.ts';
import { idSchema, listOf, pageQuery, wordParameter } from './shared.ts';
import {
  addStatusPageItemsSchema,
  createStatusPageSchema,
  statusPageFileKinds,
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

export const verifyStatusPageDomainRoute = route({
  method: 'POST',
  path: '/api/v1/status-pages/:id/domain/verify',
  credentials: 'bearer',
  tag,
  summary: 'Verify the domain of a status page',
  description: `Looks for \`domain_txt\` in the TXT record \`_parallax.{domain}\`. 409 \`domain_unproven\`: it is not there; the answer says what is. 409 \`domain_taken\`: another page has proven the same domain, and its proof stands. The proof must stay: it is looked for every day, and a domain without it for ${statusPageLimits.missingDays} days is lost. ${ifMatch}`,
  params,
  success: { status: 200, answer: statusPageSchema },
  errors: [403, 404, 409, 412],
});

const fileParams = z.object({ id: idSchema, kind: wordParameter(z.enum(statusPageFileKinds)) });
/** What a form adds to the file in it. */
const formOverheadBytes = 10_000;

export const putStatusPageFileRoute = route({
  method: 'PUT',
  path: '/api/v1/status-pages/:id/files/:kind',
  credentials: 'bearer',
  tag,
  summary: 'Give a status page a logo or a favicon',
  description: `A PNG or WebP of at most ${statusPageLimits.picturePixels} pixels a side and ${statusPageLimits.pictureBytes} bytes, or an SVG of at most ${statusPageLimits.vectorBytes}. What the bytes are decides, not the type that the request names. An SVG may hold shapes, texts and gradients alone: a script, a style sheet, a reference to elsewhere or any other element is refused with its name. ${ifMatch}`,
  params: fileParams,
  file: {
    types: ['image/png', 'image/webp', 'image/svg+xml', 'multipart/form-data'],
    maxBytes: statusPageLimits.pictureBytes + formOverheadBytes,
  },
  success: { status: 200, answer: statusPageSchema },
  errors: [403, 404, 412, 413, 415],
});

export const deleteStatusPageFileRoute = route({
  method: 'DELETE',
  path: '/api/v1/status-pages/:id/files/:kind',
  credentials: 'bearer',
  tag,
  summary: 'Take a logo or favicon from a status page',
  description: `404 where it has none. ${ifMatch}`,
  params: fileParams,
  success: { status: 204, headers: ['ETag'] },
  errors: [403, 404, 412],
});
