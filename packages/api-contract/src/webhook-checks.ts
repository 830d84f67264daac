import { z } from 'zod';
import { tagSchema } from './monitor-shapes.ts';
import { searchText } from './monitors.ts';
import { route } from './route.ts';
import { booleanParameter, idSchema, integerParameter, listOf, pageQuery, timestamp } from './shared.ts';
import { uptimePercent } from './statistics.ts';
import {
  createWebhookCheckSchema,
  mostDeliveryBytes,
  mostKeptBody,
  payloadStatuses,
  regenerateWebhookSecretSchema,
  shownWebhookCheckSchema,
  updateWebhookCheckSchema,
  webhookCheckSchema,
  webhookCheckStatuses,
} from './webhook-check-shapes.ts';
import { warningsSchema } from './warnings.ts';

/** Why a delivery was refused, in the order in which it is judged. */
export const refusalReasons = [
  'signature_missing',
  'signature_malformed',
  'timestamp_missing',
  'timestamp_malformed',
  'signature_mismatch',
  'timestamp_too_old',
  'timestamp_in_future',
] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** Why a delivery that was accepted has said nothing of the status. */
export const silentReasons = ['duplicate', 'ping', 'url_verification', 'paused', 'invalid_json', 'too_long'] as const;
export type SilentReason = (typeof silentReasons)[number];

const eventSchema = z
  .object({
    id: z.number().int(),
    received_at: timestamp,
    delivery_id: z.string().nullable(),
    accepted: z.boolean(),
    reason: z
      .enum([...refusalReasons, ...silentReasons])
      .nullable()
      .describe('Why it was refused, or why it has said nothing of the status.'),
    status: z.enum(payloadStatuses).nullable().describe('What it said.'),
    rule: z.number().int().nullable().describe('The place of the rule that decided, from 0; null: none did.'),
    body: z
      .string()
      .nullable()
      .describe(`At most ${mostKeptBody} characters, of the last 100 deliveries of each kind.`),
    body_truncated: z.boolean(),
    body_bytes: z.number().int().describe('The length of the whole body.'),
    remote_address: z.string(),
  })
  .meta({ id: 'WebhookCheckEvent' });
export type WebhookCheckEvent = z.output<typeof eventSchema>;

const count = z.number().int();
const seconds = z.number().int();
const statsSchema = z
  .object({
    hours: z.number().int(),
    accepted: count,
    duplicates: count.describe('Of those that were accepted.'),
    refused: count.describe('Of each check the last 100 are kept.'),
    said: z.object({ up: count, degraded: count, down: count }),
    missed: count.describe('Times that nothing came until the deadline.'),
    seconds: z
      .object({ up: seconds, degraded: seconds, down: seconds })
      .describe('While it was new or paused, none is counted.'),
    uptime_percent: uptimePercent.describe('Of those seconds, in which it was not down; null for none.'),
    last_received_at: timestamp.nullable(),
  })
  .meta({ id: 'WebhookCheckStats' });
export type WebhookCheckStats = z.output<typeof statsSchema>;

const tag = 'Webhook checks';
const params = z.object({ id: idSchema });
const ifMatch = '`If-Match` takes the version.';

export const listWebhookChecksRoute = route({
  method: 'GET',
  path: '/api/v1/webhook-checks',
  credentials: 'bearer',
  tag,
  summary: 'List webhook checks by name',
  query: z.object({
    ...pageQuery,
    workspace_id: idSchema.optional(),
    status: z.enum(webhookCheckStatuses).optional(),
    tag: tagSchema.optional(),
    search: searchText.optional().describe('Case-insensitive part of name or description.'),
  }),
  success: { status: 200, answer: listOf('webhook_checks', webhookCheckSchema).meta({ id: 'WebhookCheckList' }) },
  errors: [404],
});

export const createWebhookCheckRoute = route({
  method: 'POST',
  path: '/api/v1/webhook-checks',
  credentials: 'bearer',
  tag,
  summary: 'Create a webhook check',
  body: createWebhookCheckSchema,
  idempotent: true,
  success: { status: 201, answer: shownWebhookCheckSchema },
  errors: [403, 404, 409],
});

export const readWebhookCheckRoute = route({
  method: 'GET',
  path: '/api/v1/webhook-checks/:id',
  credentials: 'bearer',
  tag,
  summary: 'Read a webhook check',
  params,
  success: { status: 200, answer: webhookCheckSchema },
  errors: [404],
});

export const updateWebhookCheckRoute = route({
  method: 'PUT',
  path: '/api/v1/webhook-checks/:id',
  credentials: 'bearer',
  tag,
  summary: 'Change a webhook check',
  description: `An absent key keeps, \`null\` clears. Another signature without a secret that fits it makes one; \`warnings\` says when the stored one was dropped. ${ifMatch}`,
  params,
  body: updateWebhookCheckSchema,
  success: {
    status: 200,
    answer: shownWebhookCheckSchema.extend({ warnings: warningsSchema }).meta({ id: 'ChangedWebhookCheck' }),
  },
  errors: [403, 404, 412],
  measured: [
    'previous_secret_valid_until',
    'warnings',
    'status',
    'status_since',
    'last_received_at',
    'next_expected_at',
    'deadline_at',
  ],
});

export const deleteWebhookCheckRoute = route({
  method: 'DELETE',
  path: '/api/v1/webhook-checks/:id',
  credentials: 'bearer',
  tag,
  summary: 'Delete a webhook check',
  description: `Its URL answers at once as if it had never been. ${ifMatch}`,
  params,
  success: { status: 204 },
  errors: [403, 404, 412],
});

export const pauseWebhookCheckRoute = route({
  method: 'POST',
  path: '/api/v1/webhook-checks/:id/pause',
  credentials: 'bearer',
  tag,
  summary: 'Pause a webhook check',
  description: 'Deliveries are still accepted and kept, and change nothing. A paused one stays as it is.',
  params,
  success: { status: 200, answer: webhookCheckSchema },
  errors: [403, 404, 412],
});

export const resumeWebhookCheckRoute = route({
  method: 'POST',
  path: '/api/v1/webhook-checks/:id/resume',
  credentials: 'bearer',
  tag,
  summary: 'Resume a webhook check',
  description: 'It is new until the next delivery, which one that had deliveries before expects from now on.',
  params,
  success: { status: 200, answer: webhookCheckSchema },
  errors: [403, 404, 412],
});

export const regenerateWebhookSecretRoute = route({
  method: 'POST',
  path: '/api/v1/webhook-checks/:id/regenerate-secret',
  credentials: 'bearer',
  tag,
  summary: 'Replace the secret of a webhook check',
  description: `The old one ends at once, or after \`grace_seconds\`. ${ifMatch}`,
  params,
  body: regenerateWebhookSecretSchema.nullish(),
  success: { status: 200, answer: shownWebhookCheckSchema },
  errors: [403, 404, 409, 412],
});

export const listWebhookCheckEventsRoute = route({
  method: 'GET',
  path: '/api/v1/webhook-checks/:id/events',
  credentials: 'bearer',
  tag,
  summary: 'Deliveries to a webhook check, the newest first',
  description: 'Those that were accepted are kept for 90 days; of those that were refused the last 100.',
  params,
  query: z.object({ ...pageQuery, accepted: booleanParameter.optional() }),
  success: { status: 200, answer: listOf('events', eventSchema).meta({ id: 'WebhookCheckEventList' }) },
  errors: [404],
});

export const webhookCheckStatsRoute = route({
  method: 'GET',
  path: '/api/v1/webhook-checks/:id/stats',
  credentials: 'bearer',
  tag,
  summary: 'Deliveries and uptime of a webhook check',
  params,
  query: z.object({ hours: integerParameter(1, 720).default(24) }),
  success: { status: 200, answer: statsSchema },
  errors: [404],
});

export const receiveWebhookRoute = route({
  method: 'POST',
  path: '/api/v1/webhook-check/:slug',
  credentials: 'none',
  tag,
  summary: 'Deliver to a webhook check',
  description:
    '202 once it is kept. A delivery that is not signed as the check asks and a URL of no check are answered alike. The same delivery within 24 hours ' +
    'is accepted and changes nothing.',
  params: z.object({ slug: z.string().min(1).max(300) }),
  bytes: { maxBytes: mostDeliveryBytes },
  success: {
    status: 202,
    answer: z.object({ challenge: z.string().optional() }).meta({ id: 'WebhookCheckReceipt' }),
  },
  alternative: { status: 200, description: 'the answer to a `url_verification` of Slack' },
  errors: [404, 413],
});
