import { z } from 'zod';
import { descriptionSchema } from './monitor-shapes.ts';
import { searchText } from './monitors.ts';
import { rangeEvidenceSchema } from './result-shapes.ts';
import { route } from './route.ts';
import {
  bodyId,
  booleanParameter,
  distinctIds,
  hasControlCharacter,
  idSchema,
  instant,
  integerParameter,
  listOf,
  nameSchema,
  orDefault,
  pageQuery,
  timestamp,
} from './shared.ts';

export const incidentStatuses = ['open', 'acknowledged', 'resolved'] as const;
export const incidentSeverities = ['minor', 'major', 'critical'] as const;
export const incidentResolutions = ['auto', 'manual', 'paused', 'corrected', 'deleted', 'folded'] as const;
export type IncidentResolution = (typeof incidentResolutions)[number];
export const incidentUpdateKinds = ['investigating', 'identified', 'monitoring', 'resolved', 'note'] as const;

/** What of an incident the public sees. */
export const incidentVisibilities = ['auto', 'public', 'hidden'] as const;

/** Words that somebody may give a component of a status page for as long as an incident lasts. */
export const impactStatuses = ['maintenance', 'degraded', 'partial_outage', 'major_outage'] as const;

/** What can be watched: ranges, incidents, alerts and maintenance refer to one by its type and number. */
export const subjectTypes = ['monitor', 'heartbeat', 'webhook_check'] as const;
export type SubjectType = (typeof subjectTypes)[number];

/** Updates of one incident. */
export const mostIncidentUpdates = 500;
/** Members of one incident by hand. */
export const mostManualMembers = 1_000;
/** Members that a list shows of each incident. */
export const listedMembers = 20;

const causeSchema = z
  .object({
    at: timestamp.describe('Since when it is so.'),
    status: z
      .enum(['DOWN', 'TIMEOUT', 'missed', 'failed'])
      .describe('Of a monitor DOWN or TIMEOUT; a heartbeat or a webhook check was missed or has failed.'),
    evidence: z
      .union([rangeEvidenceSchema, z.record(z.string(), z.unknown())])
      .describe(
        'Of a monitor the votes at that instant; of a heartbeat or a webhook check what it told of itself, such as `reason` and `last_ping_at`.',
      ),
    incidents: z
      .array(z.object({ incident_id: z.number().int(), monitor_id: z.number().int(), name: z.string() }))
      .optional()
      .describe(
        'Of a monitor of the protocol `group`: the incidents of its members, which have told the cause already.',
      ),
  })
  .describe('What the subject was found to be, and which probe said what.');

const memberSchema = z
  .object({
    type: z.enum(subjectTypes),
    id: z.number().int(),
    name: z.string(),
    started_at: timestamp,
    ended_at: timestamp.nullable(),
    resolution: z.enum(['auto', 'manual', 'paused', 'corrected', 'deleted']).nullable(),
    is_manual: z.boolean().describe('Named by a person: it ends with the incident, not by a measurement.'),
    range_id: z
      .number()
      .int()
      .nullable()
      .describe('Of a monitor: its range, whose evidence is at `/monitors/{id}/status-ranges/{range_id}/evidence`.'),
    cause: causeSchema.nullable().describe('What it began with.'),
    causes: z.array(causeSchema).describe('All of them, oldest first: what it began with, and what it changed to.'),
  })
  .meta({ id: 'IncidentMember' });

const impactSchema = z
  .strictObject({
    component_id: z.string().regex(/^[a-z0-9]{12}$/),
    status: z
      .enum(impactStatuses)
      .describe('Shown while the incident lasts where it is worse than what is measured; never a better one.'),
  })
  .meta({ id: 'IncidentImpact' });

const updateSchema = z
  .object({
    id: z.number().int(),
    kind: z.enum(incidentUpdateKinds),
    body: z.string(),
    is_public: z.boolean().describe('Shown on status pages.'),
    notify: z.boolean().describe('Whether subscribers of status pages are told.'),
    impacts: z.array(impactSchema),
    display_at: timestamp.nullable().describe('The time that status pages show; null: `created_at`.'),
    author: z.object({ id: z.number().int(), display_name: z.string().nullable() }).nullable(),
    created_at: timestamp,
  })
  .meta({ id: 'IncidentUpdate' });

const personSchema = z.object({ id: z.number().int(), display_name: z.string().nullable() }).nullable();

/** What is known of an incident in lists. */
const incidentFields = {
  id: z.number().int(),
  workspace_id: z.number().int(),
  monitor_id: z.number().int().nullable().describe('The monitor among its members that failed first.'),
  title: z.string(),
  description: z.string(),
  status: z.enum(incidentStatuses),
  severity: z.enum(incidentSeverities),
  resolution: z
    .enum(incidentResolutions)
    .nullable()
    .describe('`corrected`: there was no outage. `folded`: it turned out to be part of another one, `folded_into`.'),
  is_manual: z.boolean().describe('Opened by a person.'),
  started_at: timestamp.describe('Onset: when the first outage began, not when it was confirmed.'),
  acknowledged_at: timestamp.nullable(),
  acknowledged_by: personSchema,
  resolved_at: timestamp.nullable(),
  resolved_by: personSchema,
  assignee: personSchema,
  detected_late: z.boolean().describe('Found more than 15 minutes after it was over: recorded, and nobody was woken.'),
  is_held: z.boolean().describe('Not announced yet, since all of it lies in a maintenance.'),
  shared_cause: z
    .string()
    .nullable()
    .describe('What its members have in common: `address:…`, `certificate:…`, `name_server:…` or `probe:…`.'),
  folded_into: z.number().int().nullable(),
  cause: causeSchema.nullable().describe('That of the first member.'),
  member_count: z.number().int(),
  members: z.array(memberSchema).describe(`By their onset. A list shows the first ${listedMembers} of each.`),
  postmortem: z.string().nullable(),
  public_id: z.string().describe('By which status pages name it.'),
  visibility: z
    .enum(incidentVisibilities)
    .describe(
      'On status pages. `auto`: one that the product opened as each page has it set; one by hand from its first public update. `public`: at once. `hidden`: never.',
    ),
  public_title: z
    .string()
    .nullable()
    .describe('Its title on status pages; null: for one by hand its title, otherwise the names of the components.'),
  postmortem_public: z.boolean().describe('Whether status pages show the postmortem.'),
  postmortem_notify: z.boolean().describe('Whether subscribers of status pages are told of the postmortem.'),
  created_at: timestamp,
  updated_at: timestamp,
  version: z.number().int().describe('The ETag.'),
};

/** One incident in a list. */
export const incidentSchema = z.object(incidentFields).meta({ id: 'Incident' });
export type Incident = z.output<typeof incidentSchema>;

/** One incident with all that was said of it. */
export const incidentReportSchema = z
  .object({ ...incidentFields, updates: z.array(updateSchema).describe('Oldest first.') })
  .meta({ id: 'IncidentReport' });
export type IncidentReport = z.output<typeof incidentReportSchema>;

/** Text of several lines that people write, trimmed. */
export const longText = (most: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(most)
    .refine((text) => !hasControlCharacter(text.replaceAll(/[\t\n\r]/g, '')), 'must not contain control characters');

const bodyText = longText(10_000);

const publicUpdate = {
  is_public: z.boolean().default(false).describe('Whether status pages show it.'),
  notify: z.boolean().default(true).describe('Whether subscribers of status pages are told of it, when it is public.'),
};

const firstUpdate = {
  kind: z.enum(incidentUpdateKinds).default('note'),
  body: bodyText,
  ...publicUpdate,
  impacts: z
    .array(impactSchema)
    .max(200)
    .default([])
    .describe('Worse words for components of status pages than what is measured, while the incident lasts.'),
  display_at: instant.nullish().describe('The time that status pages show. Default: now. Not in the future.'),
};

const publicFields = {
  visibility: orDefault(z.enum(incidentVisibilities), 'auto'),
  public_title: nameSchema.nullish().describe('Its title on status pages.'),
};

export const createIncidentSchema = z
  .strictObject({
    workspace_id: bodyId,
    template_id: bodyId
      .nullish()
      .describe(
        'A template of the workspace: it fills `title`, `severity`, `public_title` and `update` where they are absent.',
      ),
    title: nameSchema.optional().describe('Needed without a template.'),
    description: descriptionSchema.nullish(),
    severity: z.enum(incidentSeverities).optional().describe('Default: that of the template, else `major`.'),
    started_at: instant.nullish().describe('Default: now. Not in the future.'),
    resolved_at: instant
      .nullish()
      .describe(
        'For what is over already: it is recorded as resolved, and nobody is told. Not before `started_at`, not in the future.',
      ),
    assignee_id: bodyId.nullish().describe('A member of the workspace.'),
    ...publicFields,
    monitor_ids: distinctIds(mostManualMembers, 'must not repeat').nullish().describe('Monitors that it concerns.'),
    update: z
      .strictObject({ ...firstUpdate, kind: z.enum(incidentUpdateKinds).exclude(['resolved']).default('note') })
      .nullish()
      .describe('What is said of it at first.'),
  })
  .refine(({ title, template_id: templateId }) => title !== undefined || templateId != null, {
    path: ['title'],
    error: 'is needed without a template',
  })
  .meta({ id: 'CreateIncident' });
export type CreateIncident = z.output<typeof createIncidentSchema>;

export const updateIncidentSchema = z
  .strictObject({
    title: nameSchema.nullish().describe('`null`: made from its members again; that of one by hand stays.'),
    description: descriptionSchema.nullish(),
    severity: orDefault(z.enum(incidentSeverities), 'major'),
    assignee_id: bodyId.nullish().describe('A member of the workspace.'),
    postmortem: longText(50_000).nullish(),
    ...publicFields,
    postmortem_public: orDefault(z.boolean(), false).describe('Whether status pages show the postmortem.'),
    postmortem_notify: orDefault(z.boolean(), true).describe(
      'Whether subscribers of status pages are told of the postmortem, once, when it becomes public.',
    ),
  })
  .meta({ id: 'UpdateIncident' });
export type UpdateIncident = z.output<typeof updateIncidentSchema>;

export const incidentStatsSchema = z
  .object({
    from: timestamp,
    to: timestamp,
    total: z.number().int().describe('Incidents that lasted in the window; what was corrected or folded is none.'),
    ongoing: z.number().int(),
    resolved: z.number().int(),
    mttr_seconds: z
      .number()
      .nullable()
      .describe('Mean time from onset to end of those that ended in the window by themselves or by hand.'),
  })
  .meta({ id: 'IncidentStats' });

const tag = 'Incidents';
const params = z.object({ incident_id: idSchema });
const ifMatch = '`If-Match` takes the version.';

export const listIncidentsRoute = route({
  method: 'GET',
  path: '/api/v1/incidents',
  credentials: 'bearer',
  tag,
  summary: 'List incidents, newest first',
  query: z.object({
    ...pageQuery,
    workspace_id: idSchema.optional(),
    status: z.enum(incidentStatuses).optional(),
    is_ongoing: booleanParameter.optional().describe('true: open or acknowledged.'),
    severity: z.enum(incidentSeverities).optional(),
    is_manual: booleanParameter.optional(),
    monitor_id: idSchema.optional().describe('With this monitor among its members.'),
    subject_type: z.enum(subjectTypes).optional().describe('With a member of this type.'),
    subject_id: idSchema.optional().describe('With this member; needs `subject_type`.'),
    assignee_id: idSchema.optional(),
    search: searchText.optional().describe('Case-insensitive part of title or description.'),
    start_time: instant.optional().describe('Only what lasted at this time or later.'),
    end_time: instant.optional().describe('Only what began at this time or before.'),
  }),
  success: { status: 200, answer: listOf('incidents', incidentSchema).meta({ id: 'IncidentList' }) },
  errors: [404],
});

export const createIncidentRoute = route({
  method: 'POST',
  path: '/api/v1/incidents',
  credentials: 'bearer',
  tag,
  summary: 'Open an incident by hand',
  description: 'It lasts until somebody resolves it.',
  body: createIncidentSchema,
  idempotent: true,
  success: { status: 201, answer: incidentReportSchema },
  errors: [403, 404],
});

export const incidentStatsRoute = route({
  method: 'GET',
  path: '/api/v1/incidents/stats',
  credentials: 'bearer',
  tag,
  summary: 'Count incidents',
  query: z.object({ workspace_id: idSchema.optional(), hours: integerParameter(1, 2_160).default(720) }),
  success: { status: 200, answer: incidentStatsSchema },
  errors: [404],
});

export const readIncidentRoute = route({
  method: 'GET',
  path: '/api/v1/incidents/:incident_id',
  credentials: 'bearer',
  tag,
  summary: 'Read an incident',
  params,
  success: { status: 200, answer: incidentReportSchema },
  errors: [404],
});

export const updateIncidentRoute = route({
  method: 'PUT',
  path: '/api/v1/incidents/:incident_id',
  credentials: 'bearer',
  tag,
  summary: 'Change an incident',
  description: `An absent key keeps, \`null\` clears. ${ifMatch}`,
  params,
  body: updateIncidentSchema,
  success: { status: 200, answer: incidentReportSchema },
  errors: [403, 404, 412],
  measured: ['cause', 'member_count', 'members', 'is_held', 'shared_cause', 'updates'],
});

export const deleteIncidentRoute = route({
  method: 'DELETE',
  path: '/api/v1/incidents/:incident_id',
  credentials: 'bearer',
  tag,
  summary: 'Delete an incident',
  description: `The outages stay in the timelines, and the same ones open no other incident. ${ifMatch}`,
  params,
  success: { status: 204 },
  errors: [403, 404, 412],
});

export const addIncidentUpdateRoute = route({
  method: 'POST',
  path: '/api/v1/incidents/:incident_id/updates',
  credentials: 'bearer',
  tag,
  summary: 'Say something of an incident',
  description: `The kind \`resolved\` resolves it. At most ${mostIncidentUpdates} updates, then 409.`,
  params,
  body: z.strictObject(firstUpdate).meta({ id: 'AddIncidentUpdate' }),
  idempotent: true,
  success: { status: 201, answer: incidentReportSchema },
  errors: [403, 404, 409],
});

export const resolveIncidentRoute = route({
  method: 'POST',
  path: '/api/v1/incidents/:incident_id/resolve',
  credentials: 'bearer',
  tag,
  summary: 'Resolve an incident by hand',
  description:
    'What still fails opens no other incident; its recovery is told. One that is resolved already is answered as it is.',
  params,
  body: z
    .strictObject({ body: bodyText.optional(), ...publicUpdate })
    .nullish()
    .meta({ id: 'ResolveIncident', description: '`body` is kept as an update of the kind `resolved`.' }),
  success: { status: 200, answer: incidentReportSchema },
  errors: [403, 404],
});

export const acknowledgeIncidentRoute = route({
  method: 'POST',
  path: '/api/v1/incidents/:incident_id/acknowledge',
  credentials: 'bearer',
  tag,
  summary: 'Acknowledge an incident',
  description: 'Somebody looks after it: escalation ends. Doing it again changes nothing; one that is resolved is 409.',
  params,
  success: { status: 200, answer: incidentReportSchema },
  errors: [403, 404, 409],
});
