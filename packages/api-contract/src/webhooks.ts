import { z } from 'zod';
import { eventTypeNames } from './event-types.ts';
import { searchText } from './monitors.ts';
import { route } from './route.ts';
import { booleanParameter, idSchema, instant, integerParameter, listOf, pageQuery } from './shared.ts';
import { standardSecret } from './webhook-fields.ts';
import {
  createWebhookSchema,
  deadLetterSchema,
  deadLetterStatuses,
  deliveryStates,
  shownWebhookSchema,
  updateWebhookSchema,
  webhookDeliveryDetailSchema,
  webhookDeliverySchema,
  webhookLimits,
  webhookSchema,
} from './webhook-shapes.ts';

const tag = 'Webhooks';
const params = z.object({ id: idSchema });
const ofDelivery = z.object({ id: idSchema, delivery_id: idSchema });
const ofDeadLetter = z.object({ id: idSchema, dlq_id: idSchema });
const ifMatch = '`If-Match` takes the version.';

export const listWebhooksRoute = route({
  method: 'GET',
  path: '/api/v1/webhooks',
  credentials: 'bearer',
  tag,
  summary: 'List webhooks by name',
  query: z.object({
    ...pageQuery,
    workspace_id: idSchema.optional(),
    is_active: booleanParameter.optional(),
    search: searchText.optional().describe('Case-insensitive part of name or description.'),
  }),
  success: { status: 200, answer: listOf('webhooks', webhookSchema).meta({ id: 'WebhookList' }) },
  errors: [404],
});

export const createWebhookRoute = route({
  method: 'POST',
  path: '/api/v1/webhooks',
  credentials: 'bearer',
  tag,
  summary: 'Create a webhook',
  description: 'The answer shows the secret, once.',
  body: createWebhookSchema,
  idempotent: true,
  success: { status: 201, answer: shownWebhookSchema },
  errors: [403, 404, 409],
});

export const readWebhookRoute = route({
  method: 'GET',
  path: '/api/v1/webhooks/:id',
  credentials: 'bearer',
  tag,
  summary: 'Read a webhook',
  params,
  success: { status: 200, answer: webhookSchema },
  errors: [404],
});

export const updateWebhookRoute = route({
  method: 'PATCH',
  path: '/api/v1/webhooks/:id',
  credentials: 'bearer',
  tag,
  summary: 'Change a webhook',
  description: `An absent key keeps. A new URL takes what waits. Switching it off makes what waits \`missed\`. ${ifMatch}`,
  params,
  body: updateWebhookSchema,
  success: { status: 200, answer: webhookSchema },
  errors: [403, 404, 412],
  measured: ['disabled_reason', 'failing_since', 'queued', 'missed', 'previous_secret_until', 'last_success_at'],
});

export const deleteWebhookRoute = route({
  method: 'DELETE',
  path: '/api/v1/webhooks/:id',
  credentials: 'bearer',
  tag,
  summary: 'Delete a webhook',
  description: `What waits is not sent, and its history is removed. ${ifMatch}`,
  params,
  success: { status: 204 },
  errors: [403, 404, 412],
});

export const testWebhookRoute = route({
  method: 'POST',
  path: '/api/v1/webhooks/:id/test',
  credentials: 'bearer',
  tag,
  summary: 'Send a test to a webhook',
  description: 'One attempt, also while it is off, that no statistics count. 60 an hour and account.',
  params,
  body: z
    .strictObject({
      event: z.enum(eventTypeNames).optional().describe('Default: `webhook.test`; another sends its example.'),
    })
    .optional()
    .meta({ id: 'TestWebhook' }),
  success: {
    status: 200,
    answer: z
      .object({
        ok: z.boolean(),
        delivery_id: z.number().int(),
        status_code: z.number().int().nullable(),
        steps: z.array(z.object({ name: z.string(), ok: z.boolean(), duration_ms: z.number(), detail: z.string() })),
      })
      .meta({ id: 'WebhookTest' }),
  },
  errors: [403, 404],
});

export const rotateWebhookSecretRoute = route({
  method: 'POST',
  path: '/api/v1/webhooks/:id/secret',
  credentials: 'bearer',
  tag,
  summary: 'Give a webhook a new secret',
  description: 'Also a new ed25519 pair. During the grace period, deliveries carry the signatures of both.',
  params,
  body: z
    .strictObject({
      secret: standardSecret.optional(),
      grace_seconds: z.number().int().min(0).max(webhookLimits.mostGraceSeconds).default(0),
    })
    .optional()
    .meta({ id: 'RotateWebhookSecret' }),
  success: {
    status: 200,
    answer: z.object({ secret: z.string(), public_key: z.string() }).meta({ id: 'WebhookSecret' }),
  },
  errors: [403, 404, 412],
});

export const listWebhookDeliveriesRoute = route({
  method: 'GET',
  path: '/api/v1/webhooks/:id/deliveries',
  credentials: 'bearer',
  tag,
  summary: 'What a webhook was sent, newest first',
  description: 'Kept for 30 days, tests for 7. `total` counts to 100,001 at most.',
  params,
  query: z.object({
    ...pageQuery,
    state: z.enum(deliveryStates).optional(),
    type: z.enum(eventTypeNames).optional(),
    start_time: instant.optional().describe('Inclusive.'),
    end_time: instant.optional().describe('Inclusive.'),
  }),
  success: { status: 200, answer: listOf('deliveries', webhookDeliverySchema).meta({ id: 'WebhookDeliveryList' }) },
  errors: [404],
});

export const readWebhookDeliveryRoute = route({
  method: 'GET',
  path: '/api/v1/webhooks/:id/deliveries/:delivery_id',
  credentials: 'bearer',
  tag,
  summary: 'One delivery with its body and attempts',
  params: ofDelivery,
  success: { status: 200, answer: webhookDeliveryDetailSchema },
  errors: [404],
});

export const redeliverRoute = route({
  method: 'POST',
  path: '/api/v1/webhooks/:id/deliveries/:delivery_id/redeliver',
  credentials: 'bearer',
  tag,
  summary: 'Send a delivery again',
  description: 'The same `webhook-id`, ten attempts anew. 409 while it is queued.',
  params: ofDelivery,
  success: { status: 202, answer: webhookDeliverySchema },
  errors: [403, 404, 409],
});

export const redeliverManyRoute = route({
  method: 'POST',
  path: '/api/v1/webhooks/:id/redeliver',
  credentials: 'bearer',
  tag,
  summary: 'Send deliveries of a time again',
  description:
    '`failed` recovers, `missed` catches up, `all` replays every event that the filters take, also from before the webhook. One at a time.',
  params,
  body: z
    .strictObject({ since: instant, until: instant.optional(), only: z.enum(['failed', 'missed', 'all']) })
    .meta({ id: 'RedeliverWebhook' }),
  success: { status: 202, answer: z.object({ queued: z.number().int() }).meta({ id: 'WebhookReplay' }) },
  errors: [403, 404, 409],
});

export const webhookStatsRoute = route({
  method: 'GET',
  path: '/api/v1/webhooks/:id/stats',
  credentials: 'bearer',
  tag,
  summary: 'How deliveries of a webhook went',
  params,
  query: z.object({ hours: integerParameter(1, 720).default(24) }),
  success: {
    status: 200,
    answer: z
      .object({
        hours: z.number().int(),
        success: z.number().int().describe('Deliveries that arrived.'),
        error: z.number().int().describe('Deliveries that were given up.'),
        p50: z.number().nullable().describe('Milliseconds of attempts that were answered, at most 1 % off.'),
        p95: z.number().nullable(),
        attempts: z.number().int(),
        queued: z.number().int(),
        dead_letters: z.number().int(),
      })
      .meta({ id: 'WebhookStats' }),
  },
  errors: [404],
});

export const listDeadLettersRoute = route({
  method: 'GET',
  path: '/api/v1/webhooks/:id/dlq',
  credentials: 'bearer',
  tag,
  summary: 'Deliveries that failed all attempts, newest first',
  description: 'Kept for 30 days from when they failed.',
  params,
  query: z.object({ ...pageQuery, status: z.enum(deadLetterStatuses).default('failed') }),
  success: { status: 200, answer: listOf('dead_letters', deadLetterSchema).meta({ id: 'WebhookDeadLetterList' }) },
  errors: [404],
});

export const retryDeadLetterRoute = route({
  method: 'POST',
  path: '/api/v1/webhooks/:id/dlq/:dlq_id/retry',
  credentials: 'bearer',
  tag,
  summary: 'Try a dead letter again',
  params: ofDeadLetter,
  success: { status: 202, answer: deadLetterSchema },
  errors: [403, 404, 409],
});

export const resolveDeadLetterRoute = route({
  method: 'POST',
  path: '/api/v1/webhooks/:id/dlq/:dlq_id/resolve',
  credentials: 'bearer',
  tag,
  summary: 'Mark a dead letter as resolved',
  description: 'Without another attempt. Sent again, it changes nothing.',
  params: ofDeadLetter,
  success: { status: 200, answer: deadLetterSchema },
  errors: [403, 404, 409],
});
