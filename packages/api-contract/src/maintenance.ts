import { z } from 'zod';
import { subjectTypes } from './incidents.ts';
import { descriptionSchema, tagSchema } from './monitor-shapes.ts';
import { searchText } from './monitors.ts';
import { route } from './route.ts';
import {
  booleanQuery,
  bodyId,
  distinctIds,
  hasControlCharacter,
  idSchema,
  instant,
  listOf,
  nameSchema,
  pageQuery,
  timestamp,
} from './shared.ts';

export const maintenanceStatuses = ['scheduled', 'active', 'completed', 'cancelled'] as const;
export type MaintenanceStatus = (typeof maintenanceStatuses)[number];

/** Of one occurrence: a minute to 31 days. */
export const maintenanceSeconds = { least: 60, most: 2_678_400 } as const;
/** Exceptions of one series. */
export const mostExdates = 500;
/** Windows of one workspace that are not over. */
export const mostMaintenance = 1_000;
const mostScoped = 1_000;

const ids = distinctIds(mostScoped, 'must not repeat');

const scopeSchema = z
  .strictObject({
    all: z.boolean().optional().describe('Everything of the workspace, also what is added while it lasts.'),
    monitor_ids: ids.optional(),
    heartbeat_ids: ids.optional(),
    webhook_check_ids: ids.optional(),
    group_ids: ids.optional().describe('Their members, as they are while it lasts.'),
    tags: z.array(tagSchema).max(50).optional().describe('What has one of the tags, or is in a group that has.'),
  })
  .describe('What it is for: `all`, or at least one of the lists.')
  .meta({ id: 'MaintenanceScopeInput' });
export type MaintenanceScope = z.output<typeof scopeSchema>;

const moment = z.union([instant, z.iso.datetime({ local: true, offset: true }).max(40)]).meta({ format: 'date-time' });

const scheduleFields = {
  starts_at: moment.describe(
    'With an offset, or without one as a local time of `timezone`. Not more than 5 minutes ago. Of a series the first occurrence.',
  ),
  ends_at: moment.nullish().describe('In place of `duration_seconds`.'),
  duration_seconds: z.number().int().min(maintenanceSeconds.least).max(maintenanceSeconds.most).nullish(),
  rrule: z
    .string()
    .trim()
    .min(1)
    .max(500)
    .refine((text) => !hasControlCharacter(text), 'must not contain control characters')
    .nullish()
    .describe(
      'RFC 5545: DAILY, WEEKLY, MONTHLY or YEARLY, with INTERVAL, COUNT or UNTIL, BYMONTH, BYMONTHDAY, BYDAY, BYSETPOS, WKST. ' +
        'It recurs at the same time of day of `timezone`.',
    ),
  timezone: z.string().min(1).max(100).nullish().describe('IANA zone. Default: UTC.'),
  exdates: z
    .array(instant)
    .max(mostExdates)
    .nullish()
    .describe('Occurrences of a series that are left out, by their beginning.'),
};

export const createMaintenanceSchema = z
  .strictObject({
    workspace_id: bodyId,
    title: nameSchema,
    description: descriptionSchema.nullish(),
    scope: scopeSchema,
    ...scheduleFields,
  })
  .meta({ id: 'CreateMaintenance' });
export type CreateMaintenance = z.output<typeof createMaintenanceSchema>;

export const updateMaintenanceSchema = z
  .strictObject({
    title: nameSchema.optional(),
    description: descriptionSchema.nullish(),
    scope: scopeSchema.optional(),
    ...scheduleFields,
    starts_at: moment.optional(),
  })
  .meta({ id: 'UpdateMaintenance' });
export type UpdateMaintenance = z.output<typeof updateMaintenanceSchema>;

const spanFields = { starts_at: timestamp, ends_at: timestamp };

const occurrenceSchema = z
  .object({
    id: z.number().int(),
    ...spanFields,
    ended_at: timestamp.nullable().describe('null while it is under way; before `ends_at` where somebody ended it.'),
  })
  .meta({ id: 'MaintenanceOccurrence' });

export const maintenanceSchema = z
  .object({
    id: z.number().int(),
    workspace_id: z.number().int(),
    title: z.string(),
    description: z.string(),
    status: z.enum(maintenanceStatuses).describe('A series is scheduled between its occurrences.'),
    scope: z
      .object({
        all: z.boolean(),
        monitor_ids: z.array(z.number().int()),
        heartbeat_ids: z.array(z.number().int()),
        webhook_check_ids: z.array(z.number().int()),
        group_ids: z.array(z.number().int()),
        tags: z.array(z.string()),
      })
      .meta({ id: 'MaintenanceScope' }),
    ...spanFields,
    duration_seconds: z.number().int(),
    rrule: z.string().nullable(),
    timezone: z.string(),
    exdates: z.array(timestamp),
    next_occurrence: z.object(spanFields).nullable().describe('The next that has not begun.'),
    occurrences: z.array(occurrenceSchema).describe('What has begun, newest first, at most 20. It stays as it was.'),
    created_at: timestamp,
    updated_at: timestamp,
    version: z.number().int().describe('The ETag.'),
  })
  .meta({ id: 'Maintenance' });
export type Maintenance = z.output<typeof maintenanceSchema>;

const previewSchema = z
  .object({
    occurrences: z
      .array(
        z.object({
          ...spanFields,
          is_shifted: z
            .boolean()
            .describe('Clocks go forward over its time of day: it begins as much later as they do.'),
        }),
      )
      .describe('The next ones, at most 20; those that overlap are one.'),
    subjects: z
      .array(z.object({ type: z.enum(subjectTypes), id: z.number().int(), name: z.string() }))
      .describe('What it covers now, at most 100.'),
    subject_count: z.number().int(),
    held_incidents: z
      .array(z.object({ incident_id: z.number().int(), title: z.string(), started_at: timestamp }))
      .describe(
        'Incidents of the last 30 days that would have been held back had the series been there, at most 100. Of what is once: none.',
      ),
  })
  .meta({ id: 'MaintenancePreview' });

const tag = 'Maintenance';
const params = z.object({ id: idSchema });
const ifMatch = '`If-Match` takes the version.';

export const listMaintenanceRoute = route({
  method: 'GET',
  path: '/api/v1/maintenance',
  credentials: 'bearer',
  tag,
  summary: 'List maintenance windows, the latest first',
  query: z.object({
    ...pageQuery,
    workspace_id: idSchema.optional(),
    status: z.enum(maintenanceStatuses).optional(),
    monitor_id: idSchema.optional().describe('Only windows that name this monitor, one of its groups or tags, or all.'),
    search: searchText.optional().describe('Case-insensitive part of title or description.'),
  }),
  success: { status: 200, answer: listOf('maintenance', maintenanceSchema).meta({ id: 'MaintenanceList' }) },
  errors: [404],
});

export const createMaintenanceRoute = route({
  method: 'POST',
  path: '/api/v1/maintenance',
  credentials: 'bearer',
  tag,
  summary: 'Plan a maintenance',
  description:
    'While it lasts its subjects are checked as ever; the time counts neither as up nor as down, and what fails is announced when it is over, if it still fails.',
  body: createMaintenanceSchema,
  idempotent: true,
  success: { status: 201, answer: maintenanceSchema },
  errors: [403, 404, 409],
});

export const previewMaintenanceRoute = route({
  method: 'POST',
  path: '/api/v1/maintenance/preview',
  credentials: 'bearer',
  tag,
  summary: 'See what a maintenance would be',
  body: createMaintenanceSchema.partial({ title: true }).meta({ id: 'PreviewMaintenance' }),
  success: { status: 200, answer: previewSchema },
  errors: [403, 404],
});

export const readMaintenanceRoute = route({
  method: 'GET',
  path: '/api/v1/maintenance/:id',
  credentials: 'bearer',
  tag,
  summary: 'Read a maintenance window',
  params,
  success: { status: 200, answer: maintenanceSchema },
  errors: [404],
});

export const updateMaintenanceRoute = route({
  method: 'PUT',
  path: '/api/v1/maintenance/:id',
  credentials: 'bearer',
  tag,
  summary: 'Change a maintenance window',
  description: `An absent key keeps, \`null\` clears. What has begun stays as it is: 409 for the times of one that is under way or over. ${ifMatch}`,
  params,
  body: updateMaintenanceSchema,
  success: { status: 200, answer: maintenanceSchema },
  errors: [403, 404, 409, 412],
});

export const deleteMaintenanceRoute = route({
  method: 'DELETE',
  path: '/api/v1/maintenance/:id',
  credentials: 'bearer',
  tag,
  summary: 'Delete a maintenance window',
  description: `What is under way ends now. Times that it covered stay left out of uptime. ${ifMatch}`,
  params,
  success: { status: 204 },
  errors: [403, 404, 412],
});

export const cancelMaintenanceRoute = route({
  method: 'POST',
  path: '/api/v1/maintenance/:id/cancel',
  credentials: 'bearer',
  tag,
  summary: 'Cancel a maintenance window',
  description:
    'The whole series; what is under way ends now. One that is cancelled is answered as it is, one that is completed is 409.',
  params,
  success: { status: 200, answer: maintenanceSchema },
  errors: [403, 404, 409],
});

export const endMaintenanceRoute = route({
  method: 'POST',
  path: '/api/v1/maintenance/:id/end',
  credentials: 'bearer',
  tag,
  summary: 'End the occurrence that is under way',
  description: 'A series goes on with its next occurrence. 409 when none is under way.',
  params,
  success: { status: 200, answer: maintenanceSchema },
  errors: [403, 404, 409],
});

export const makeCalendarTokenRoute = route({
  method: 'POST',
  path: '/api/v1/maintenance/calendar-token',
  credentials: 'bearer',
  tag,
  summary: 'Make the address of the calendar of a workspace',
  description: 'Whoever has it reads the windows without an account. It is shown once; the one before is void.',
  body: z.strictObject({ workspace_id: bodyId }).meta({ id: 'MakeCalendarToken' }),
  idempotent: true,
  success: {
    status: 201,
    answer: z.object({ token: z.string(), url: z.string(), created_at: timestamp }).meta({ id: 'CalendarToken' }),
  },
  errors: [403, 404],
});

export const revokeCalendarTokenRoute = route({
  method: 'DELETE',
  path: '/api/v1/maintenance/calendar-token',
  credentials: 'bearer',
  tag,
  summary: 'Void the address of the calendar of a workspace',
  query: z.object({ workspace_id: idSchema }),
  success: { status: 204 },
  errors: [403, 404],
});

export const readCalendarRoute = route({
  method: 'GET',
  path: '/api/v1/maintenance/calendar.ics',
  credentials: 'none',
  tag,
  summary: 'Maintenance windows as a calendar (RFC 5545)',
  description: 'The token stands in the query, since logs are written without that.',
  query: z.object({ token: z.string().min(1).max(200) }),
  success: { status: 200, answer: z.string(), contentType: 'text/calendar; charset=utf-8' },
  errors: [404],
  perAddressPerMinute: 60,
});

const importedSchema = z
  .object({
    total: z.number().int(),
    created: z.number().int(),
    skipped: z.number().int(),
    failed: z.number().int(),
    events: z.array(
      z.object({
        uid: z.string().nullable(),
        title: z.string(),
        result: z.enum(['created', 'skipped', 'failed']),
        detail: z.string().nullable().describe('Why it was not created.'),
        maintenance_id: z.number().int().nullable(),
      }),
    ),
  })
  .meta({ id: 'MaintenanceImport' });

export const importMaintenanceRoute = route({
  method: 'POST',
  path: '/api/v1/maintenance/import/ics',
  credentials: 'bearer',
  tag,
  summary: 'Import maintenance windows from a calendar (RFC 5545)',
  description:
    'The events of the file become windows with the scope of the query. An event that was imported before, by its UID, is skipped, as is what is over or cancelled. At most 500 events and 1 MiB.',
  query: z.object({
    workspace_id: idSchema,
    monitor_ids: z.union([idSchema, z.array(idSchema).max(100)]).optional(),
    group_ids: z.union([idSchema, z.array(idSchema).max(100)]).optional(),
    tags: z
      .union([tagSchema, z.array(tagSchema).max(50)])
      .optional()
      .describe('Without any of the three: all.'),
    dry_run: booleanQuery(false),
  }),
  file: { types: ['text/calendar', 'multipart/form-data'], maxBytes: 1_048_576 },
  success: { status: 200, answer: importedSchema },
  errors: [403, 404, 413, 415],
});
export type MaintenanceImport = z.output<typeof importedSchema>;
