import { z } from 'zod';
import { alertEventSchema, alertLimits, alertSchema, createAlertSchema, updateAlertSchema } from './alert-shapes.ts';
import { incidentSeverities, subjectTypes } from './incidents.ts';
import { searchText } from './monitors.ts';
import { route } from './route.ts';
import {
  bodyId,
  booleanParameter,
  hasControlCharacter,
  idSchema,
  instant,
  integerParameter,
  listOf,
  pageQuery,
  timestamp,
} from './shared.ts';

/** What becomes of a notification. */
export const notificationStatuses = ['held', 'queued', 'sent', 'failed', 'suppressed', 'deduplicated'] as const;
export type NotificationStatus = (typeof notificationStatuses)[number];

const historyEntrySchema = z
  .object({
    id: z.number().int(),
    workspace_id: z.number().int(),
    alert_id: z.number().int().nullable().describe('`null`: the alert was deleted, or it is a test of none.'),
    alert_name: z.string().nullable().describe('`null`: a test of no alert.'),
    occasion: z.string().describe('What it is about, the same from its beginning to its end: `incident:17`.'),
    incident_id: z.number().int().nullable(),
    event: z.string().describe('One of the `events` of alerts, or `test`.'),
    kind: z.string().describe('`opened`, `updated`, `reminder`, `escalated`, `acknowledged`, `resolved`, `test` …'),
    severity: z.enum(incidentSeverities),
    title: z.string(),
    subject: z
      .object({ type: z.string(), id: z.number().int() })
      .nullable()
      .describe(
        'Of an incident its first member: a `monitor`, a `heartbeat` or a `webhook_check`; else also a `probe` or a `maintenance`.',
      ),
    status: z
      .enum(notificationStatuses)
      .describe('`deduplicated`: another alert has told the same target. `suppressed`: it was not to be told.'),
    reason: z
      .string()
      .nullable()
      .describe(
        'Why it is held (`quiet_hours`, `muted`, `maintenance`, `flapping`) or was not sent (`over`, `folded`, `target_unusable`): docs/alerts.md.',
      ),
    channel: z.string(),
    target_masked: z.string(),
    attempts: z.number().int(),
    error_code: z.string().nullable().describe('One of the error codes of docs/channels.md.'),
    error: z.string().nullable(),
    latency_ms: z.number().int().nullable().describe('Of the attempt that succeeded.'),
    text: z.string().nullable().describe('What was sent, as text. A digest has it in each of its entries.'),
    due_at: timestamp.nullable().describe('When it is to be sent, while it is held or queued.'),
    sent_at: timestamp.nullable(),
    created_at: timestamp,
  })
  .meta({ id: 'AlertHistoryEntry' });
export type AlertHistoryEntry = z.output<typeof historyEntrySchema>;

const testResultSchema = z
  .object({
    ok: z.boolean().describe('Every message was delivered.'),
    results: z.array(
      z
        .object({
          channel: z.string(),
          target_masked: z.string(),
          ok: z.boolean(),
          error_code: z.string().nullable(),
          error: z.string().nullable(),
          latency_ms: z.number().int().nullable(),
          retry_after_seconds: z
            .number()
            .int()
            .nullable()
            .describe('Of `rate_limited`: when this target may be sent a test again. `null` of others.'),
        })
        .meta({ id: 'AlertTestResult' }),
    ),
  })
  .meta({ id: 'AlertTest' });
export type AlertTest = z.output<typeof testResultSchema>;

const previewEntrySchema = z
  .object({
    alert: z.object({ id: z.number().int(), name: z.string() }),
    is_muted: z.boolean().describe('Silenced now.'),
    is_quiet: z.boolean().describe('In its quiet hours now: it would be held.'),
    steps: alertSchema.shape.steps,
  })
  .meta({ id: 'AlertPreviewEntry' });

const tag = 'Alerts';
const params = z.object({ alert_id: idSchema });
const ifMatch = '`If-Match` takes the version.';

export const listAlertsRoute = route({
  method: 'GET',
  path: '/api/v1/alerts',
  credentials: 'bearer',
  tag,
  summary: 'List alerts by name',
  query: z.object({
    ...pageQuery,
    workspace_id: idSchema.optional(),
    is_active: booleanParameter.optional(),
    search: searchText.optional().describe('Case-insensitive part of name or description.'),
  }),
  success: { status: 200, answer: listOf('alerts', alertSchema).meta({ id: 'AlertList' }) },
  errors: [404],
});

export const createAlertRoute = route({
  method: 'POST',
  path: '/api/v1/alerts',
  credentials: 'bearer',
  tag,
  summary: 'Create an alert',
  description:
    'What fails already is told at once. Its targets name configurations of whoever makes it. Readers of mail addresses whom nobody has asked are asked by a letter, as far as ' +
    '`channel_confirmation` allows it; `unusable_targets` says of whom an answer is awaited.',
  body: createAlertSchema,
  idempotent: true,
  success: { status: 201, answer: alertSchema },
  errors: [403, 404, 409],
});

export const readAlertRoute = route({
  method: 'GET',
  path: '/api/v1/alerts/:alert_id',
  credentials: 'bearer',
  tag,
  summary: 'Read an alert',
  params,
  success: { status: 200, answer: alertSchema },
  errors: [404],
});

export const updateAlertRoute = route({
  method: 'PATCH',
  path: '/api/v1/alerts/:alert_id',
  credentials: 'bearer',
  tag,
  summary: 'Change an alert',
  description:
    'An absent key keeps, `null` clears. What fails already is told at once to whom it now concerns. `steps` and `failover` are changed by the owner of the ' +
    `alert; sent as they were answered, they change nothing. Readers of new mail addresses are asked. ${ifMatch}`,
  params,
  body: updateAlertSchema,
  success: { status: 200, answer: alertSchema },
  errors: [403, 404, 412],
  measured: ['disabled_reason', 'unusable_targets'],
});

export const deleteAlertRoute = route({
  method: 'DELETE',
  path: '/api/v1/alerts/:alert_id',
  credentials: 'bearer',
  tag,
  summary: 'Delete an alert',
  description: `Nobody is told by it any more. Its history stays for 90 days. ${ifMatch}`,
  params,
  success: { status: 204 },
  errors: [403, 404, 412],
});

export const toggleAlertRoute = route({
  method: 'POST',
  path: '/api/v1/alerts/:alert_id/toggle',
  credentials: 'bearer',
  tag,
  summary: 'Turn an alert on or off',
  description: `An active one becomes inactive, and the other way round. ${ifMatch}`,
  params,
  success: { status: 200, answer: alertSchema },
  errors: [403, 404, 412],
});

export const testAlertRoute = route({
  method: 'POST',
  path: '/api/v1/alerts/:alert_id/test',
  credentials: 'bearer',
  tag,
  summary: 'Send a test message to the targets of an alert',
  description:
    `At once, each target once, the first ${alertLimits.testTargets}. Quiet hours and an inactive alert do not hold it. 10 an hour, and 3 an hour to one target: ` +
    'a target that has had them is `rate_limited` in the results, and the answer is 429 when no target is left. Both say when to try again.',
  params,
  success: { status: 200, answer: testResultSchema },
  errors: [403, 404, 409],
});

export const snoozeAlertRoute = route({
  method: 'POST',
  path: '/api/v1/alerts/:alert_id/snooze',
  credentials: 'bearer',
  tag,
  summary: 'Silence an alert for a while',
  description: `Until then it says nothing; what still lasts at the end is told then. \`muted_until\` of PATCH is the same, \`null\` ends it. ${ifMatch}`,
  params,
  body: z
    .strictObject({
      minutes: z
        .number()
        .int()
        .min(1)
        .max(alertLimits.mostMutedSeconds / 60)
        .optional(),
      until: instant.optional().describe('In place of `minutes`; at most a year ahead.'),
    })
    .refine((body) => (body.minutes === undefined) !== (body.until === undefined), 'give either minutes or until')
    .meta({ id: 'SnoozeAlert' }),
  success: { status: 200, answer: alertSchema },
  errors: [403, 404, 412],
});

export const previewAlertsRoute = route({
  method: 'POST',
  path: '/api/v1/alerts/preview',
  credentials: 'bearer',
  tag,
  summary: 'Who would be told',
  description:
    'Which active alerts tell of an event of a subject, and whom, by name of the alert. Without a subject: of something about none, such as an incident that was opened by hand. Nothing is sent or stored.',
  body: z
    .strictObject({
      workspace_id: bodyId,
      event: alertEventSchema,
      subject: z.strictObject({ type: z.enum(subjectTypes), id: bodyId }).nullish(),
    })
    .meta({ id: 'PreviewAlerts' }),
  success: {
    status: 200,
    answer: z.object({ alerts: z.array(previewEntrySchema) }).meta({ id: 'AlertPreview' }),
  },
  errors: [404],
});

const historyFilter = {
  channel: z
    .string()
    .min(1)
    .max(50)
    .refine((text) => !hasControlCharacter(text), 'must not contain control characters')
    .optional()
    .describe('The name of a channel or an alias of it, such as `slack`; others are refused.'),
  status: z.enum(notificationStatuses).optional(),
  start_time: instant.optional().describe('Inclusive.'),
  end_time: instant.optional().describe('Inclusive.'),
};
const historyAnswer = listOf('history', historyEntrySchema).meta({ id: 'AlertHistory' });

export const listAlertHistoryRoute = route({
  method: 'GET',
  path: '/api/v1/alerts/:alert_id/history',
  credentials: 'bearer',
  tag,
  summary: 'What an alert has told, newest first',
  description: 'Kept for 90 days.',
  params,
  query: z.object({ ...pageQuery, ...historyFilter }),
  success: { status: 200, answer: historyAnswer },
  errors: [404],
});

export const listAllAlertHistoryRoute = route({
  method: 'GET',
  path: '/api/v1/alerts/history',
  credentials: 'bearer',
  tag,
  summary: 'What all alerts have told, newest first',
  description: 'Kept for 90 days, also of alerts that were deleted.',
  query: z.object({
    ...pageQuery,
    page_size: integerParameter(1, 100).default(50),
    workspace_id: idSchema.optional(),
    ...historyFilter,
  }),
  success: { status: 200, answer: historyAnswer },
  errors: [404],
});
