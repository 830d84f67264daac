import { z } from 'zod';
import { alertScopeSchema, alertSchema } from './alert-shapes.ts';
import { eventTypeNames } from './event-types.ts';
import { descriptionSchema } from './monitor-shapes.ts';
import { bodyId, nameSchema, orDefault, timestamp } from './shared.ts';
import { ownHeaders, standardSecret, webAddress } from './webhook-fields.ts';

/** Bounds of webhooks. */
export const webhookLimits = {
  ofWorkspace: 50,
  patterns: 50,
  /** Deliveries that may wait for one webhook, and that one replay may send. */
  queued: 100_000,
  mostGraceSeconds: 604_800,
  mostPerSecond: 1_000,
} as const;

const kinds = [...new Set(eventTypeNames.map((name) => name.slice(0, name.indexOf('.'))))];
/** What a new webhook is told of: everything but probes. */
export const defaultWebhookEvents: readonly string[] = kinds
  .filter((kind) => kind !== 'probe' && kind !== 'webhook')
  .map((kind) => `${kind}.*`);

const patterns: ReadonlySet<string> = new Set(['*', ...kinds.map((kind) => `${kind}.*`), ...eventTypeNames]);
const eventsSchema = z
  .array(
    z
      .string()
      .max(50)
      .refine((pattern) => patterns.has(pattern), 'must be a type of event, a kind such as `monitor.*`, or `*`'),
  )
  .min(1)
  .max(webhookLimits.patterns)
  .overwrite((given) => [...new Set(given)])
  .describe('Types of events, `monitor.*` for all of a kind, `*` for all. Patterns also take types that come later.');

export const webhookSignatures = ['v1', 'v1a', 'both'] as const;
export type WebhookSignature = (typeof webhookSignatures)[number];
export const webhookContents = ['full', 'thin'] as const;
export const duringMaintenance = ['send', 'skip'] as const;
export const webhookDisabledReasons = ['failing', 'gone', 'queue_full', 'scope_empty'] as const;
export type WebhookDisabledReason = (typeof webhookDisabledReasons)[number];

const fields = {
  url: webAddress.describe('Where events are sent with POST. Viewers see its origin only.'),
  headers: ownHeaders.describe(
    'Sent with each delivery. Their values are never shown. A URL of another host drops them.',
  ),
  duringMaintenance: z.enum(duringMaintenance).describe('`skip`: events during maintenance are not sent.'),
  signature: z.enum(webhookSignatures).describe('Standard Webhooks: `v1` HMAC-SHA256, `v1a` ed25519.'),
  content: z.enum(webhookContents).describe('`thin`: the type and id of the subject and its URL only.'),
  maxPerSecond: z
    .number()
    .int()
    .min(1)
    .max(webhookLimits.mostPerSecond)
    .describe('Attempts a second; `null`: no such limit.'),
};

/** Body of POST /webhooks. */
export const createWebhookSchema = z
  .strictObject({
    workspace_id: bodyId,
    name: nameSchema,
    description: descriptionSchema.nullish(),
    is_active: z.boolean().default(true),
    url: fields.url,
    events: eventsSchema.optional().describe('Default: everything but `probe.*`.'),
    scope: alertScopeSchema
      .optional()
      .describe('Default: everything of the workspace. One member of an incident suffices.'),
    during_maintenance: fields.duringMaintenance.default('send'),
    headers: fields.headers.default({}),
    signature: fields.signature.default('v1'),
    content: fields.content.default('full'),
    max_per_second: fields.maxPerSecond.nullish(),
    secret: standardSecret.optional().describe('`whsec_` and base64 of 24 to 64 bytes. Absent: one is made.'),
  })
  .meta({ id: 'CreateWebhook' });
export type CreateWebhook = z.output<typeof createWebhookSchema>;

/** Body of PATCH /webhooks/{id}: an absent key keeps, `null` goes back to the default. */
export const updateWebhookSchema = z
  .strictObject({
    name: nameSchema.optional(),
    description: descriptionSchema.nullish(),
    is_active: orDefault(z.boolean(), true),
    url: fields.url.optional(),
    events: eventsSchema.nullish(),
    scope: alertScopeSchema.optional(),
    during_maintenance: orDefault(fields.duringMaintenance, 'send'),
    headers: orDefault(fields.headers, {}),
    signature: orDefault(fields.signature, 'v1'),
    content: orDefault(fields.content, 'full'),
    max_per_second: fields.maxPerSecond.nullish(),
  })
  .meta({ id: 'UpdateWebhook' });
export type UpdateWebhook = z.output<typeof updateWebhookSchema>;

/** A webhook as every route answers it. */
export const webhookSchema = z
  .object({
    id: z.number().int(),
    workspace_id: z.number().int(),
    name: z.string(),
    description: z.string(),
    is_active: z.boolean(),
    disabled_reason: z
      .enum(webhookDisabledReasons)
      .nullable()
      .describe(
        '`failing`: five days without success. `gone`: the receiver answered 410. `queue_full`: 100,000 deliveries waited. `scope_empty`: all that its scope named is gone.',
      ),
    url: z.string().describe('Its origin for viewers.'),
    events: z.array(z.string()),
    scope: alertSchema.shape.scope,
    during_maintenance: z.enum(duringMaintenance),
    header_names: z.array(z.string()),
    signature: z.enum(webhookSignatures),
    public_key: z.string().describe('`whpk_` and base64 of the ed25519 key that verifies `v1a`.'),
    content: z.enum(webhookContents),
    max_per_second: z.number().int().nullable(),
    failing_since: timestamp.nullable().describe('The first failure since the last success.'),
    queued: z.number().int(),
    missed: z.number().int().describe('Events that came, or waited, while it was off; `redeliver` sends them.'),
    previous_secret_until: timestamp.nullable(),
    last_success_at: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
    version: z.number().int().describe('The ETag.'),
  })
  .meta({ id: 'Webhook' });
export type Webhook = z.output<typeof webhookSchema>;

export const shownWebhookSchema = webhookSchema
  .extend({ secret: z.string().describe('Shown here and never again.') })
  .meta({ id: 'WebhookWithSecret' });
export type ShownWebhook = z.output<typeof shownWebhookSchema>;

export const deliveryStates = ['queued', 'delivered', 'failed', 'missed'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

const deliveryFields = {
  id: z.number().int(),
  event_id: z.string().describe('`webhook-id` of each attempt.'),
  type: z.string(),
  state: z.enum(deliveryStates),
  attempts: z.number().int(),
  next_attempt_at: timestamp.nullable(),
  status_code: z.number().int().nullable(),
  error_code: z.string().nullable(),
  duration_ms: z.number().int().nullable(),
  is_test: z.boolean(),
  event_at: timestamp,
};
export const webhookDeliverySchema = z.object(deliveryFields).meta({ id: 'WebhookDelivery' });
export type WebhookDelivery = z.output<typeof webhookDeliverySchema>;

export const webhookDeliveryDetailSchema = z
  .object({
    ...deliveryFields,
    body: z.string().nullable().describe('`null` once its event is no longer kept.'),
    headers: z.record(z.string(), z.string()).describe('Those of the webhook, masked.'),
    attempt_list: z
      .array(
        z.object({
          at: timestamp,
          duration_ms: z.number().int(),
          status_code: z.number().int().nullable(),
          error_code: z.string().nullable(),
          error: z.string().nullable(),
          answer: z.string().nullable().describe('At most 20,000 bytes, for 7 days; `null` for viewers.'),
        }),
      )
      .describe('The last 20, oldest first.'),
  })
  .meta({ id: 'WebhookDeliveryDetail' });
export type WebhookDeliveryDetail = z.output<typeof webhookDeliveryDetailSchema>;

export const deadLetterStatuses = ['failed', 'retried', 'resolved'] as const;
export type DeadLetterStatus = (typeof deadLetterStatuses)[number];
export const deadLetterSchema = z
  .object({
    dlq_id: z.number().int().describe('The number of the delivery.'),
    event_id: z.string(),
    type: z.string(),
    status: z.enum(deadLetterStatuses),
    retries: z.number().int().describe('Retries that failed too.'),
    attempts: z.number().int(),
    status_code: z.number().int().nullable(),
    error_code: z.string().nullable(),
    failed_at: timestamp,
    delivered_at: timestamp.nullable(),
    resolved_by: z.number().int().nullable(),
  })
  .meta({ id: 'WebhookDeadLetter' });
export type DeadLetter = z.output<typeof deadLetterSchema>;
