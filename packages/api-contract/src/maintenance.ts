import { z } from 'zod';
import { longText } from './incidents.ts';
import { descriptionSchema, tagSchema, tagsSchema } from './monitor-shapes.ts';
import { searchText } from './monitors.ts';
import { route } from './route.ts';
import {
  bodyId,
  booleanQuery,
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

export const maintenanceStatuses = ['scheduled', 'active', 'completed', 'cancelled'] as const;
export type MaintenanceStatus = (typeof maintenanceStatuses)[number];

/** What may be named one by one. */
export const maintenanceSubjectTypes = ['monitor', 'heartbeat', 'webhook_check'] as const;
export type MaintenanceSubjectType = (typeof maintenanceSubjectTypes)[number];

/** Bounds of a maintenance; durations in seconds. */
export const maintenanceLimits = {
  subjects: 1_000,
  exdates: 500,
  ruleCharacters: 500,
  leastSeconds: 60,
  mostSeconds: 31 * 86_400,
  /** That are scheduled or active in one workspace. */
  ofWorkspace: 1_000,
  /** Events of one calendar file, and bytes of it. */
  events: 500,
  fileBytes: 1_048_576,
} as const;

/** What a form puts around a file. */
const formOverheadBytes = 65_536;

const scopeSchema = z
  .strictObject({
    all: z.boolean().optional().describe('Everything of the workspace; then no list is given.'),
    subjects: z
      .array(z.strictObject({ type: z.enum(maintenanceSubjectTypes), id: bodyId }))
      .max(maintenanceLimits.subjects)
      .optional(),
    group_ids: z.array(bodyId).max(maintenanceLimits.subjects).optional().describe('Monitor groups: who is a member.'),
    tags: tagsSchema.optional().describe('Subjects with one of the tags, and members of groups with one.'),
  })
  .describe(
    '`all`, or lists of which at least one names something. Who joins a group or gets a tag later is covered from then on.',
  )
  .meta({ id: 'MaintenanceScopeInput' });
export type MaintenanceScopeInput = z.output<typeof scopeSchema>;

const scheduleFields = {
  starts_at: instant.describe('Not earlier than five minutes ago unless it repeats; at most five years ahead.'),
  ends_at: instant.nullish().describe('This or `duration_seconds`.'),
  duration_seconds: z
    .number()
    .int()
    .nullish()
    .describe(
      `${maintenanceLimits.leastSeconds} to ${maintenanceLimits.mostSeconds} (31 days). Exact, also across daylight saving.`,
    ),
  rrule: z
    .string()
    .max(maintenanceLimits.ruleCharacters)
    .nullish()
    .describe(
      'RFC 5545, daily or slower: FREQ, INTERVAL, COUNT, UNTIL, BYDAY, BYMONTHDAY, BYYEARDAY, BYMONTH, BYSETPOS, WKST. `starts_at` must be its first instance.',
    ),
  timezone: z.string().min(1).max(100).nullish().describe('IANA zone by whose wall clock it repeats. Default: UTC.'),
  exdates: z.array(instant).max(maintenanceLimits.exdates).nullish().describe('Starts that are left out.'),
};

const publicFields = {
  is_public: orDefault(z.boolean(), true).describe(
    'Whether status pages tell of it. When it is not public they show its components as under maintenance, and nothing else.',
  ),
  public_title: nameSchema
    .nullish()
    .describe('Its title on status pages. Without one its word alone is shown, never its `name`.'),
  public_text: longText(5_000).nullish().describe('Markdown for readers of status pages.'),
  notify: orDefault(z.boolean(), true).describe(
    'Whether subscribers of status pages are told when it is planned, moved or cancelled, and when it begins and ends.',
  ),
};

/** Body of POST /maintenance. */
export const createMaintenanceSchema = z
  .strictObject({
    workspace_id: bodyId,
    name: nameSchema,
    description: descriptionSchema.nullish(),
    scope: scopeSchema,
    ...publicFields,
    ...scheduleFields,
  })
  .meta({ id: 'CreateMaintenance' });
export type CreateMaintenance = z.output<typeof createMaintenanceSchema>;

/** Body of PUT /maintenance/{id}: an absent key keeps, `null` clears. */
export const updateMaintenanceSchema = z
  .strictObject({
    name: nameSchema.optional(),
    description: descriptionSchema.nullish(),
    scope: scopeSchema.optional(),
    ...publicFields,
    ...scheduleFields,
    starts_at: scheduleFields.starts_at.optional(),
  })
  .meta({ id: 'UpdateMaintenance' });
export type UpdateMaintenance = z.output<typeof updateMaintenanceSchema>;

const windowFields = {
  starts_at: timestamp,
  ends_at: timestamp.describe('As planned; exclusive.'),
};
const nextSchema = z
  .object({
    ...windowFields,
    is_shifted: z
      .boolean()
      .describe('Daylight saving leaps over the time, so it begins later by the length of the gap.'),
  })
  .meta({ id: 'MaintenanceWindow' });
export type MaintenanceWindow = z.output<typeof nextSchema>;

export const occurrenceEnds = ['elapsed', 'ended', 'cancelled', 'deleted'] as const;
export type OccurrenceEnd = (typeof occurrenceEnds)[number];

export const maintenanceOccurrenceSchema = z
  .object({
    id: z.number().int(),
    ...windowFields,
    ended_at: timestamp.nullable().describe('When it really ended; null while it lasts.'),
    end_reason: z.enum(occurrenceEnds).nullable(),
  })
  .meta({ id: 'MaintenanceOccurrence' });

/** Why a maintenance covers nothing. */
export const maintenanceDisabledReasons = ['scope_empty'] as const;

/** A maintenance as every route answers it. */
export const maintenanceSchema = z
  .object({
    id: z.number().int(),
    workspace_id: z.number().int(),
    name: z.string(),
    description: z.string(),
    is_public: z.boolean(),
    public_title: z.string().nullable(),
    public_text: z.string().nullable(),
    notify: z.boolean().describe('Whether subscribers of status pages are told of it.'),
    status: z.enum(maintenanceStatuses).describe('A series is `scheduled` between its occurrences.'),
    disabled_reason: z
      .enum(maintenanceDisabledReasons)
      .nullable()
      .describe('Why it covers nothing. `scope_empty`: all that its scope named is gone. `null`: nothing hinders it.'),
    scope: z
      .object({
        all: z.boolean(),
        subjects: z.array(z.object({ type: z.enum(maintenanceSubjectTypes), id: z.number().int() })),
        group_ids: z.array(z.number().int()),
        tags: z.array(z.string()),
      })
      .meta({ id: 'MaintenanceScope' }),
    starts_at: timestamp.describe('Of the first occurrence.'),
    ends_at: timestamp.describe('Of the first occurrence.'),
    duration_seconds: z.number().int(),
    rrule: z.string().nullable(),
    timezone: z.string(),
    exdates: z.array(timestamp),
    current: maintenanceOccurrenceSchema.nullable().describe('The occurrence that lasts now.'),
    next: nextSchema.nullable().describe('The next that has not begun.'),
    created_at: timestamp,
    updated_at: timestamp,
    version: z.number().int().describe('Counts every change by a route, and of the status by the clock; the ETag.'),
  })
  .meta({ id: 'Maintenance' });
export type Maintenance = z.output<typeof maintenanceSchema>;

const previewSchema = z
  .object({
    occurrences: z.array(nextSchema).describe('The next ones; those that overlap are one.'),
    monitors: z.number().int().describe('Monitors that it would cover now.'),
    heartbeats: z.number().int(),
    webhook_checks: z.number().int(),
    held: z
      .object({
        start_time: timestamp,
        end_time: timestamp,
        outages: z.number().int().describe('That began inside: their alerts would have been held.'),
        over_before_end: z
          .number()
          .int()
          .describe('Of these, over before the time ended: one all-clear instead of the alert.'),
        subjects: z.number().int().describe('Of how many monitors, heartbeats and webhook checks.'),
      })
      .describe(
        'What it would have held of the last 30 days, had the series been there; none for one that does not repeat.',
      ),
  })
  .meta({ id: 'MaintenancePreview' });

const importedEventSchema = z
  .object({
    event: z.number().int().describe('Place in the file; the first is 1.'),
    uid: z.string().nullable(),
    name: z.string().nullable(),
    status: z.enum(['created', 'skipped', 'failed']).describe('With `dry_run` what it would be.'),
    maintenance_id: z.number().int().nullable().describe('Of the new one, or of the one that the event is already.'),
    code: z.string().optional().describe('Why it was skipped or failed.'),
    reason: z.string().optional().describe('The same in words.'),
    warnings: z.array(z.string()).describe('What was understood otherwise than it stands there, or left out.'),
  })
  .meta({ id: 'ImportedMaintenanceEvent' });
export type ImportedMaintenanceEvent = z.output<typeof importedEventSchema>;

const calendarSchema = z
  .object({
    workspace_id: z.number().int(),
    url: z.string().nullable().describe('Whoever has it reads the calendar. Null: there is none; `rotate` makes one.'),
    created_at: timestamp.nullable(),
  })
  .meta({ id: 'MaintenanceCalendar' });

const tag = 'Maintenance';
const params = z.object({ id: idSchema });
const ifMatch = '`If-Match` takes the version.';

export const listMaintenanceRoute = route({
  method: 'GET',
  path: '/api/v1/maintenance',
  credentials: 'bearer',
  tag,
  summary: 'List maintenance: what lasts, then what comes next, then what is over, newest first',
  query: z.object({
    ...pageQuery,
    workspace_id: idSchema.optional(),
    status: z.enum(maintenanceStatuses).optional(),
    monitor_id: idSchema.optional().describe('What covers this monitor now, also by a group or a tag.'),
    search: searchText.optional().describe('Case-insensitive part of name or description.'),
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
    'Alerts of what it covers are held while it lasts, and its time is left out of uptime. What is still down at its end is told then; an outage that was ' +
    'over gives one all-clear.',
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
  summary: 'What a maintenance would be',
  description: 'Takes the body of a new maintenance and stores nothing.',
  query: z.object({ count: integerParameter(1, 100).default(10).describe('Occurrences that are listed at most.') }),
  body: createMaintenanceSchema.extend({ name: nameSchema.nullish() }).meta({ id: 'PreviewMaintenance' }),
  success: { status: 200, answer: previewSchema },
  errors: [403, 404],
});

export const readMaintenanceRoute = route({
  method: 'GET',
  path: '/api/v1/maintenance/:id',
  credentials: 'bearer',
  tag,
  summary: 'Read a maintenance',
  params,
  success: { status: 200, answer: maintenanceSchema },
  errors: [404],
});

export const updateMaintenanceRoute = route({
  method: 'PUT',
  path: '/api/v1/maintenance/:id',
  credentials: 'bearer',
  tag,
  summary: 'Change a maintenance',
  description:
    `An absent key keeps, \`null\` clears. An occurrence that has started keeps its times: a changed schedule counts from its end on, without a break where the two ` +
    `touch; what it covers follows a changed scope. One that is over takes a new name and description only. ${ifMatch}`,
  params,
  body: updateMaintenanceSchema,
  success: { status: 200, answer: maintenanceSchema },
  errors: [403, 404, 409, 412],
  measured: ['status', 'current', 'next'],
});

export const deleteMaintenanceRoute = route({
  method: 'DELETE',
  path: '/api/v1/maintenance/:id',
  credentials: 'bearer',
  tag,
  summary: 'Delete a maintenance',
  description: `An occurrence that lasts ends now. The time that was maintenance stays out of uptime. ${ifMatch}`,
  params,
  success: { status: 204 },
  errors: [403, 404, 412],
});

export const cancelMaintenanceRoute = route({
  method: 'POST',
  path: '/api/v1/maintenance/:id/cancel',
  credentials: 'bearer',
  tag,
  summary: 'Cancel a maintenance',
  description: `With all occurrences to come; one that lasts ends now. Sent again, it changes nothing. ${ifMatch}`,
  params,
  success: { status: 200, answer: maintenanceSchema },
  errors: [403, 404, 409, 412],
});

export const endMaintenanceRoute = route({
  method: 'POST',
  path: '/api/v1/maintenance/:id/end',
  credentials: 'bearer',
  tag,
  summary: 'End the occurrence that lasts',
  description: `A series goes on with its next one. 409 while none lasts. ${ifMatch}`,
  params,
  success: { status: 200, answer: maintenanceSchema },
  errors: [403, 404, 409, 412],
});

export const listMaintenanceOccurrencesRoute = route({
  method: 'GET',
  path: '/api/v1/maintenance/:id/occurrences',
  credentials: 'bearer',
  tag,
  summary: 'Occurrences that have started, newest first',
  params,
  query: z.object(pageQuery),
  success: {
    status: 200,
    answer: listOf('occurrences', maintenanceOccurrenceSchema).meta({ id: 'MaintenanceOccurrenceList' }),
  },
  errors: [404],
});

export const readMaintenanceCalendarRoute = route({
  method: 'GET',
  path: '/api/v1/maintenance/calendar',
  credentials: 'bearer',
  tag,
  summary: 'The address of the calendar of a workspace',
  query: z.object({ workspace_id: idSchema }),
  success: { status: 200, answer: calendarSchema },
  errors: [403, 404],
});

export const rotateMaintenanceCalendarRoute = route({
  method: 'POST',
  path: '/api/v1/maintenance/calendar/rotate',
  credentials: 'bearer',
  tag,
  summary: 'Give the calendar of a workspace a new address',
  description: 'The one of before stops working at once.',
  body: z.strictObject({ workspace_id: bodyId }).meta({ id: 'RotateMaintenanceCalendar' }),
  success: { status: 200, answer: calendarSchema },
  errors: [403, 404],
});

export const publicMaintenanceCalendarRoute = route({
  method: 'GET',
  path: '/api/v1/public/maintenance/:token',
  credentials: 'none',
  tag,
  summary: 'The maintenance of a workspace as a calendar',
  description: 'iCalendar (RFC 5545), for programs that subscribe to an address. The token may end in `.ics`.',
  params: z.object({ token: z.string().min(1).max(200) }),
  success: {
    status: 200,
    answer: z.string(),
    contentType: 'text/calendar; charset=utf-8',
    headers: ['Content-Disposition'],
  },
  errors: [404],
  perAddressPerMinute: 60,
});

const manyIds = z.union([idSchema, z.array(idSchema).max(100)]);

export const importMaintenanceRoute = route({
  method: 'POST',
  path: '/api/v1/maintenance/import/ics',
  credentials: 'bearer',
  tag,
  summary: 'Plan maintenance from a calendar file',
  description:
    'A form with the file in the field `file`, or the file itself: iCalendar (RFC 5545), at most 500 events and 1 MiB. Each event is reported: a bad one does not ' +
    'stop the others. An event whose UID is there already is skipped. A series that began in the past goes on with its next occurrence.',
  query: z.object({
    workspace_id: idSchema,
    all: booleanQuery(false).describe('Every event covers everything of the workspace.'),
    monitor_ids: manyIds.optional().describe('Or these monitors'),
    group_ids: manyIds.optional().describe('and these groups'),
    tags: z
      .union([tagSchema, z.array(tagSchema).max(20)])
      .optional()
      .describe('and these tags.'),
    timezone: z
      .string()
      .min(1)
      .max(100)
      .refine((text) => !hasControlCharacter(text), 'must not contain control characters')
      .default('UTC')
      .describe('Of times that name no zone.'),
    dry_run: booleanQuery(false).describe('Create nothing and answer what would be done.'),
  }),
  file: {
    types: ['multipart/form-data', 'text/calendar'],
    maxBytes: maintenanceLimits.fileBytes + formOverheadBytes,
  },
  success: {
    status: 200,
    answer: z
      .object({
        dry_run: z.boolean(),
        total: z.number().int(),
        created: z.number().int(),
        skipped: z.number().int(),
        failed: z.number().int(),
        events: z.array(importedEventSchema).describe('In the order of the file.'),
      })
      .meta({ id: 'MaintenanceImport' }),
  },
  errors: [403, 404, 413, 415],
});
