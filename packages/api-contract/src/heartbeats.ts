import { z } from 'zod';
import { descriptionSchema, tagSchema, tagsSchema } from './monitor-shapes.ts';
import { searchText } from './monitors.ts';
import { route } from './route.ts';
import { idSchema, integerParameter, listOf, nameSchema, orDefault, pageQuery, timestamp } from './shared.ts';

export const scheduleTypes = ['period', 'cron', 'on_calendar'] as const;
export const heartbeatStatuses = ['new', 'up', 'late', 'down', 'paused'] as const;
export type HeartbeatStatus = (typeof heartbeatStatuses)[number];
export const downReasons = ['missed', 'overran', 'failed', 'too_fast'] as const;
export type DownReason = (typeof downReasons)[number];
export const signalKinds = ['ping', 'start', 'success', 'fail', 'log', 'keepalive', 'ignored'] as const;
export type SignalKind = (typeof signalKinds)[number];

/** Heartbeats of one workspace. */
export const mostHeartbeats = 10_000;

/** Words behind a slug or a uuid that say what a signal is; no slug is one of them, nor a number from 0 to 255, which is an exit code. */
export const signalWords = ['start', 'success', 'fail', 'log', 'keepalive'] as const;

const isReserved = (slug: string): boolean =>
  (signalWords as readonly string[]).includes(slug) || (/^[0-9]{1,3}$/.test(slug) && Number(slug) <= 255);

export const slugSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,99}$/, 'must be lower-case letters, digits, - and _, and begin with a letter or digit')
  .refine(
    (slug) => !isReserved(slug),
    `must not be a word of a signal (${signalWords.join(', ')}) nor a number from 0 to 255`,
  );

const yearSeconds = 31_536_000;
const runtimeSeconds = z.number().int().min(1).max(2_592_000);

const fields = {
  name: nameSchema,
  description: descriptionSchema,
  tags: tagsSchema,
  slug: slugSchema.describe('Unique within the workspace; it stays when the heartbeat is renamed.'),
  schedule_type: z.enum(scheduleTypes),
  schedule: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .describe(
      'With `cron`: five fields or a nickname, as of Debian, daylight saving included. With `on_calendar`: a calendar event of systemd. With `period`: null.',
    ),
  timezone: z.string().min(1).max(64).describe("IANA time zone of the schedule; left out, the caller's."),
  expected_interval_seconds: z
    .number()
    .int()
    .min(1)
    .max(yearSeconds)
    .describe('With `period`: from one end of a run to the next.'),
  grace_period_seconds: z
    .number()
    .int()
    .min(0)
    .max(yearSeconds)
    .describe('From when a signal was expected to the alarm.'),
  max_runtime_seconds: runtimeSeconds.describe(
    'From a start, or the last sign of life of a run, to the alarm. A run that has begun in time is not missed before. Null: a run must end by the deadline of the schedule.',
  ),
  min_runtime_seconds: runtimeSeconds.describe('A run that ends sooner counts as failed.'),
  failures_before_alert: z
    .number()
    .int()
    .min(1)
    .max(100)
    .describe('Failed and missed runs in a row that make it down.'),
  require_secret: z.boolean().describe('Whether signals by slug (start, success, fail …) need the header `X-Secret`.'),
  resume_on_ping: z.boolean().describe('Whether a signal resumes it when it is paused.'),
  methods: z.enum(['any', 'post']).describe('`post`: GET and HEAD are recorded as `ignored`.'),
};

/** Body of POST /heartbeats. */
export const createHeartbeatSchema = z
  .strictObject({
    name: fields.name,
    description: fields.description.nullish(),
    tags: fields.tags.nullish(),
    slug: fields.slug.nullish().describe('Made from the name when left out.'),
    schedule_type: fields.schedule_type.default('period'),
    schedule: fields.schedule.nullish(),
    timezone: fields.timezone.nullish(),
    expected_interval_seconds: fields.expected_interval_seconds.default(86_400),
    grace_period_seconds: fields.grace_period_seconds.default(3_600),
    max_runtime_seconds: fields.max_runtime_seconds.nullish(),
    min_runtime_seconds: fields.min_runtime_seconds.nullish(),
    failures_before_alert: fields.failures_before_alert.default(1),
    require_secret: fields.require_secret.default(true),
    resume_on_ping: fields.resume_on_ping.default(false),
    methods: fields.methods.default('any'),
  })
  .meta({ id: 'CreateHeartbeat' });
export type CreateHeartbeat = z.output<typeof createHeartbeatSchema>;

/** Body of PATCH /heartbeats/{id}: an absent key keeps, `null` clears or goes back to the default. */
export const updateHeartbeatSchema = z
  .strictObject({
    name: fields.name.optional(),
    description: fields.description.nullish(),
    tags: fields.tags.nullish(),
    slug: fields.slug.optional(),
    schedule_type: orDefault(fields.schedule_type, 'period'),
    schedule: fields.schedule.nullish(),
    timezone: fields.timezone.optional(),
    expected_interval_seconds: orDefault(fields.expected_interval_seconds, 86_400),
    grace_period_seconds: orDefault(fields.grace_period_seconds, 3_600),
    max_runtime_seconds: fields.max_runtime_seconds.nullish(),
    min_runtime_seconds: fields.min_runtime_seconds.nullish(),
    failures_before_alert: orDefault(fields.failures_before_alert, 1),
    require_secret: orDefault(fields.require_secret, true),
    resume_on_ping: orDefault(fields.resume_on_ping, false),
    methods: orDefault(fields.methods, 'any'),
  })
  .meta({ id: 'UpdateHeartbeat' });
export type UpdateHeartbeat = z.output<typeof updateHeartbeatSchema>;

const forEditors = 'Null for viewers.';

/** A heartbeat as every route answers it. */
export const heartbeatSchema = z
  .object({
    id: z.number().int(),
    workspace_id: z.number().int(),
    name: z.string(),
    description: z.string(),
    tags: z.array(z.string()),
    slug: z.string(),
    schedule_type: z.enum(scheduleTypes),
    schedule: z.string().nullable(),
    timezone: z.string(),
    expected_interval_seconds: z.number().int(),
    grace_period_seconds: z.number().int(),
    max_runtime_seconds: z.number().int().nullable(),
    min_runtime_seconds: z.number().int().nullable(),
    failures_before_alert: z.number().int(),
    require_secret: z.boolean(),
    resume_on_ping: z.boolean(),
    methods: z.enum(['any', 'post']),
    status: z.enum(heartbeatStatuses).describe('`late`: expected, and inside the grace period.'),
    status_since: timestamp,
    down_reason: z.enum(downReasons).nullable(),
    is_running: z.boolean(),
    consecutive_failures: z.number().int(),
    last_ping_at: timestamp.nullable(),
    last_duration_ms: z.number().int().nullable(),
    next_expected_at: timestamp.nullable(),
    deadline_at: timestamp.nullable().describe('When the alarm is given.'),
    ping_key: z.string().nullable().describe(forEditors),
    uuid: z.string().nullable().describe(`Whoever knows it may send signals. ${forEditors}`),
    ping_url: z.string().nullable().describe(`By ping key and slug. ${forEditors}`),
    ping_url_by_uuid: z
      .string()
      .nullable()
      .describe(`For clients of Healthchecks: needs no header for any signal. ${forEditors}`),
    created_at: timestamp,
    updated_at: timestamp,
    version: z.number().int().describe('Counts changes of the configuration; the ETag.'),
  })
  .meta({ id: 'Heartbeat' });
export type Heartbeat = z.output<typeof heartbeatSchema>;

const withSecretSchema = heartbeatSchema
  .extend({ secret: z.string().describe('What signals by slug carry in `X-Secret`. Shown once.') })
  .meta({ id: 'HeartbeatWithSecret' });

const exchangedSchema = withSecretSchema
  .extend({
    push_url: z
      .string()
      .nullable()
      .describe('For clients of Uptime Kuma, in place of the imported one. Shown once; null where none was imported.'),
  })
  .meta({ id: 'HeartbeatWithNewSecret' });

/** A signal as it was recorded. */
export const pingSchema = z
  .object({
    n: z.number().int().describe('Counts the signals of the heartbeat.'),
    received_at: timestamp,
    kind: z.enum(signalKinds),
    exit_code: z.number().int().nullable(),
    rid: z.string().nullable().describe('The run that it belongs to.'),
    duration_ms: z.number().int().nullable(),
    payload: z.unknown().describe('Object of the JSON body; kept of the last 100 signals, as the body is.'),
    body: z.string().nullable(),
    body_truncated: z.boolean(),
    method: z.string(),
    remote_address: z.string(),
    warnings: z
      .array(z.string())
      .describe('What was wrong with it, or with its place among the others; it counts all the same.'),
  })
  .meta({ id: 'HeartbeatPing' });

const count = z.number().int();

export const heartbeatStatsSchema = z
  .object({
    from: timestamp,
    to: timestamp,
    hours: z.number().int().describe('What was asked for.'),
    uptime_percent: z.number().nullable().describe('Of the time that is known; null when none is.'),
    seconds: z.object({
      up: z.number(),
      down: z.number(),
      unknown: z.number().describe('New, paused, under maintenance, or no signals could be taken.'),
    }),
    outages: count,
    pings: z.object({
      total: count,
      ping: count,
      start: count,
      success: count,
      fail: count,
      log: count,
      keepalive: count,
      ignored: count,
    }),
    overlaps: count.describe('Starts while another run was open.'),
    duration_ms: z.object({ minimum: count.nullable(), average: count.nullable(), maximum: count.nullable() }),
  })
  .meta({ id: 'HeartbeatStats' });

const tag = 'Heartbeats';
const params = z.object({ id: idSchema });
const ifMatch = '`If-Match` takes the version.';

export const listHeartbeatsRoute = route({
  method: 'GET',
  path: '/api/v1/heartbeats',
  credentials: 'bearer',
  tag,
  summary: 'List heartbeats by name',
  query: z.object({
    ...pageQuery,
    workspace_id: idSchema.optional(),
    status: z.enum(heartbeatStatuses).optional(),
    tag: tagSchema.optional(),
    search: searchText.optional().describe('Case-insensitive part of name, description or slug.'),
  }),
  success: { status: 200, answer: listOf('heartbeats', heartbeatSchema).meta({ id: 'HeartbeatList' }) },
  errors: [404],
});

export const createHeartbeatRoute = route({
  method: 'POST',
  path: '/api/v1/heartbeats',
  credentials: 'bearer',
  tag,
  summary: 'Create a heartbeat',
  query: z.object({ workspace_id: idSchema }),
  body: createHeartbeatSchema,
  idempotent: true,
  success: { status: 201, answer: withSecretSchema },
  errors: [403, 404, 409],
});

export const readHeartbeatRoute = route({
  method: 'GET',
  path: '/api/v1/heartbeats/:id',
  credentials: 'bearer',
  tag,
  summary: 'Read a heartbeat',
  params,
  success: { status: 200, answer: heartbeatSchema },
  errors: [404],
});

export const updateHeartbeatRoute = route({
  method: 'PATCH',
  path: '/api/v1/heartbeats/:id',
  credentials: 'bearer',
  tag,
  summary: 'Change a heartbeat',
  description: `An absent key keeps, \`null\` clears. A changed schedule counts from the last run, or from now where it would be overdue by that. ${ifMatch}`,
  params,
  body: updateHeartbeatSchema,
  success: { status: 200, answer: heartbeatSchema },
  errors: [403, 404, 409, 412],
  measured: [
    'status',
    'status_since',
    'down_reason',
    'is_running',
    'consecutive_failures',
    'last_ping_at',
    'last_duration_ms',
    'next_expected_at',
    'deadline_at',
  ],
});

export const deleteHeartbeatRoute = route({
  method: 'DELETE',
  path: '/api/v1/heartbeats/:id',
  credentials: 'bearer',
  tag,
  summary: 'Delete a heartbeat with its signals',
  params,
  success: { status: 204 },
  errors: [403, 404, 412],
});

export const pauseHeartbeatRoute = route({
  method: 'POST',
  path: '/api/v1/heartbeats/:id/pause',
  credentials: 'bearer',
  tag,
  summary: 'Pause a heartbeat',
  description: 'Nothing is expected of it. Signals are recorded, and resume it only with `resume_on_ping`.',
  params,
  success: { status: 200, answer: heartbeatSchema },
  errors: [403, 404],
});

export const resumeHeartbeatRoute = route({
  method: 'POST',
  path: '/api/v1/heartbeats/:id/resume',
  credentials: 'bearer',
  tag,
  summary: 'Resume a heartbeat',
  description: 'The next signal is expected as if a run had ended now; one that never sent any is new again.',
  params,
  success: { status: 200, answer: heartbeatSchema },
  errors: [403, 404],
});

export const regenerateHeartbeatSecretRoute = route({
  method: 'POST',
  path: '/api/v1/heartbeats/:id/regenerate-secret',
  credentials: 'bearer',
  tag,
  summary: 'Make a new secret, uuid and push token',
  description:
    'The previous secret and the previous URLs by uuid and by push token stop working immediately. The URL by ping key and slug stays: its ping key belongs to the workspace.',
  params,
  success: { status: 200, answer: exchangedSchema },
  errors: [403, 404],
});

export const heartbeatStatsRoute = route({
  method: 'GET',
  path: '/api/v1/heartbeats/:id/stats',
  credentials: 'bearer',
  tag,
  summary: 'Uptime and counts of a heartbeat',
  params,
  query: z.object({ hours: integerParameter(1, 2_160).default(720) }),
  success: { status: 200, answer: heartbeatStatsSchema },
  errors: [404],
});

export const heartbeatPingsRoute = route({
  method: 'GET',
  path: '/api/v1/heartbeats/:id/pings',
  credentials: 'bearer',
  tag,
  summary: 'Signals of a heartbeat, newest first',
  params,
  query: z.object({ ...pageQuery, kind: z.enum(signalKinds).optional() }),
  success: { status: 200, answer: listOf('pings', pingSchema).meta({ id: 'HeartbeatPingList' }) },
  errors: [404],
});
