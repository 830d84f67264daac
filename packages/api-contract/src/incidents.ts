import { z } from 'zod';
import { rangeEvidenceSchema } from './result-shapes.ts';
import { route } from './route.ts';
import { idSchema, listOf, pageQuery, timestamp } from './shared.ts';

export const incidentStatuses = ['open', 'acknowledged', 'resolved'] as const;
export const incidentResolutions = ['auto', 'manual', 'paused', 'corrected', 'deleted'] as const;
export type IncidentResolution = (typeof incidentResolutions)[number];

const causeSchema = z
  .object({
    status: z.enum(['DOWN', 'TIMEOUT']),
    evidence: rangeEvidenceSchema,
    incidents: z
      .array(z.object({ incident_id: z.number().int(), monitor_id: z.number().int(), name: z.string() }))
      .optional()
      .describe(
        'Of a monitor of the protocol `group`: the incidents of its members, which have told the cause already.',
      ),
  })
  .describe('What the monitor was found to be, and which probe said what.');

/** A confirmed outage. */
export const incidentSchema = z
  .object({
    id: z.number().int(),
    workspace_id: z.number().int(),
    monitor_id: z.number().int(),
    title: z.string(),
    status: z.enum(incidentStatuses),
    severity: z.enum(['minor', 'major', 'critical']),
    resolution: z.enum(incidentResolutions).nullable(),
    started_at: timestamp.describe('Onset: when the outage began, not when it was confirmed.'),
    acknowledged_at: timestamp.nullable(),
    resolved_at: timestamp.nullable(),
    detected_late: z
      .boolean()
      .describe('Found more than 15 minutes after it was over: recorded, and nobody was woken.'),
    cause: causeSchema,
    members: z.array(
      z.object({
        type: z.literal('monitor'),
        id: z.number().int(),
        name: z.string(),
        started_at: timestamp,
        ended_at: timestamp.nullable(),
        cause: causeSchema,
      }),
    ),
    created_at: timestamp,
    updated_at: timestamp,
    version: z.number().int(),
  })
  .meta({ id: 'Incident' });
export type Incident = z.output<typeof incidentSchema>;

const tag = 'Incidents';

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
    monitor_id: idSchema.optional(),
  }),
  success: { status: 200, answer: listOf('incidents', incidentSchema).meta({ id: 'IncidentList' }) },
  errors: [404],
});

export const readIncidentRoute = route({
  method: 'GET',
  path: '/api/v1/incidents/:incident_id',
  credentials: 'bearer',
  tag,
  summary: 'Read an incident',
  params: z.object({ incident_id: idSchema }),
  success: { status: 200, answer: incidentSchema },
  errors: [404],
});
