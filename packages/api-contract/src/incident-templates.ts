import { z } from 'zod';
import { incidentSeverities, incidentUpdateKinds, longText } from './incidents.ts';
import { searchText } from './monitors.ts';
import { route } from './route.ts';
import { bodyId, idSchema, listOf, nameSchema, orDefault, pageQuery, timestamp } from './shared.ts';

/** Templates of incidents that a workspace may have. */
export const mostIncidentTemplates = 100;

const updateInput = z
  .strictObject({
    kind: z.enum(incidentUpdateKinds).exclude(['resolved']).default('investigating'),
    body: longText(10_000),
  })
  .describe('What is said first of an incident that is made from the template.')
  .meta({ id: 'IncidentTemplateUpdate' });

const title = nameSchema.describe('The title of incidents that are made from it.');
const publicTitle = nameSchema.nullish().describe('Their title on status pages.');

/** Body of POST /incident-templates. */
export const createIncidentTemplateSchema = z
  .strictObject({
    workspace_id: bodyId,
    name: nameSchema.describe('By which people find it.'),
    title,
    severity: z.enum(incidentSeverities).default('major'),
    public_title: publicTitle,
    update: updateInput.nullish(),
  })
  .meta({ id: 'CreateIncidentTemplate' });
export type CreateIncidentTemplate = z.output<typeof createIncidentTemplateSchema>;

/** Body of PUT /incident-templates/{id}: an absent key keeps, `null` clears or goes back to the default. */
export const updateIncidentTemplateSchema = z
  .strictObject({
    name: nameSchema.optional(),
    title: title.optional(),
    severity: orDefault(z.enum(incidentSeverities), 'major'),
    public_title: publicTitle,
    update: updateInput.nullish().describe('Replaced as a whole.'),
  })
  .meta({ id: 'UpdateIncidentTemplate' });
export type UpdateIncidentTemplate = z.output<typeof updateIncidentTemplateSchema>;

const incidentTemplateSchema = z
  .object({
    id: z.number().int(),
    workspace_id: z.number().int(),
    name: z.string(),
    title: z.string(),
    severity: z.enum(incidentSeverities),
    public_title: z.string().nullable(),
    update: z.object({ kind: z.enum(incidentUpdateKinds), body: z.string() }).nullable(),
    created_at: timestamp,
    updated_at: timestamp,
    version: z.number().int().describe('The ETag.'),
  })
  .meta({ id: 'IncidentTemplate' });
export type IncidentTemplate = z.output<typeof incidentTemplateSchema>;

const tag = 'Incidents';
const params = z.object({ id: idSchema });
const ifMatch = '`If-Match` takes the version.';

export const listIncidentTemplatesRoute = route({
  method: 'GET',
  path: '/api/v1/incident-templates',
  credentials: 'bearer',
  tag,
  summary: 'List templates of incidents by name',
  query: z.object({
    ...pageQuery,
    workspace_id: idSchema.optional(),
    search: searchText.optional().describe('Case-insensitive part of name or title.'),
  }),
  success: {
    status: 200,
    answer: listOf('incident_templates', incidentTemplateSchema).meta({ id: 'IncidentTemplateList' }),
  },
  errors: [404],
});

export const createIncidentTemplateRoute = route({
  method: 'POST',
  path: '/api/v1/incident-templates',
  credentials: 'bearer',
  tag,
  summary: 'Create a template of incidents',
  description: `At most ${mostIncidentTemplates} a workspace. POST /incidents takes it as \`template_id\`.`,
  body: createIncidentTemplateSchema,
  idempotent: true,
  success: { status: 201, answer: incidentTemplateSchema },
  errors: [403, 404, 409],
});

export const readIncidentTemplateRoute = route({
  method: 'GET',
  path: '/api/v1/incident-templates/:id',
  credentials: 'bearer',
  tag,
  summary: 'Read a template of incidents',
  params,
  success: { status: 200, answer: incidentTemplateSchema },
  errors: [404],
});

export const updateIncidentTemplateRoute = route({
  method: 'PUT',
  path: '/api/v1/incident-templates/:id',
  credentials: 'bearer',
  tag,
  summary: 'Change a template of incidents',
  description: `An absent key keeps, \`null\` clears or goes back to the default. Incidents that were made from it stay. ${ifMatch}`,
  params,
  body: updateIncidentTemplateSchema,
  success: { status: 200, answer: incidentTemplateSchema },
  errors: [403, 404, 412],
});

export const deleteIncidentTemplateRoute = route({
  method: 'DELETE',
  path: '/api/v1/incident-templates/:id',
  credentials: 'bearer',
  tag,
  summary: 'Delete a template of incidents',
  description: `Incidents that were made from it stay. ${ifMatch}`,
  params,
  success: { status: 204 },
  errors: [403, 404, 412],
});
