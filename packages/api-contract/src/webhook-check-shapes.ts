import { parsePath } from '@parallax/checks';
import { z } from 'zod';
import { descriptionSchema, tagsSchema } from './monitor-shapes.ts';
import { bodyId, nameSchema, orDefault, timestamp } from './shared.ts';

export const signatureForms = ['standard', 'github', 'stripe', 'slack', 'custom_hmac', 'none'] as const;
export type SignatureForm = (typeof signatureForms)[number];
export const webhookCheckStatuses = ['new', 'up', 'late', 'degraded', 'down', 'paused'] as const;
export type WebhookCheckStatus = (typeof webhookCheckStatuses)[number];
/** What a payload can say. */
export const payloadStatuses = ['up', 'degraded', 'down'] as const;
export type PayloadStatus = (typeof payloadStatuses)[number];

/** Of one workspace. Each keeps up to two hundred bodies, so there are fewer than heartbeats. */
export const mostWebhookChecks = 1_000;
/** Rules of one check, and how many of them may be patterns: those share the time that one delivery may be searched for. */
export const mostRules = 20;
export const mostPatternRules = 8;
/** Of one body, in bytes; a larger one is refused. */
export const mostDeliveryBytes = 1_048_576;
/** Characters of a body that are kept. */
export const mostKeptBody = 10_000;
/** For how long, in seconds, a secret may stay valid beside its successor. */
export const mostSecretGraceSeconds = 604_800;

const yearSeconds = 31_536_000;
const scalar = z.union([z.string().max(1_024), z.number(), z.boolean(), z.null()]);

/** One rule: what a value of the payload makes of the check. */
export const payloadRuleSchema = z
  .strictObject({
    path: z
      .string()
      .max(256)
      .nullable()
      .default(null)
      .describe(
        "A JSON path that names one value (`$.status`, `$.items[0]['a name']`, `.length()` at the end); null: the whole body as text.",
      ),
    op: z.enum(['equals', 'contains', 'matches']),
    value: scalar.describe(
      '`equals`: the same value of the same type. `contains`: part of a text, or an entry of a list. `matches`: a pattern of RE2 that occurs in a text.',
    ),
    status: z.enum(payloadStatuses),
  })
  .meta({ id: 'WebhookCheckRule' });

export type PayloadRule = z.output<typeof payloadRuleSchema>;

/** What is wrong with a rule, and where; undefined when nothing is. */
function ruleProblem({
  path,
  op,
  value,
}: PayloadRule): { readonly at: 'path' | 'value'; readonly text: string } | undefined {
  if (path !== null) {
    const parsed = parsePath(path);
    if (typeof parsed === 'string') return { at: 'path', text: parsed };
  } else if (typeof value !== 'string') return { at: 'value', text: 'The whole body is compared as text.' };
  if (op === 'equals') return undefined;
  if (value === null || value === '') return { at: 'value', text: `${op} needs a value.` };
  if (op === 'contains') return undefined;
  // Whether it is a pattern that may be used is judged where the caller's role is known.
  return typeof value === 'string' ? undefined : { at: 'value', text: 'matches needs a pattern.' };
}

const rulesSchema = z
  .array(payloadRuleSchema)
  .max(mostRules)
  .superRefine((rules, context) => {
    if (rules.length > mostRules) return;
    for (const [index, rule] of rules.entries()) {
      const problem = ruleProblem(rule);
      if (problem !== undefined) context.addIssue({ code: 'custom', message: problem.text, path: [index, problem.at] });
    }
    if (rules.filter(({ op }) => op === 'matches').length > mostPatternRules) {
      context.addIssue({ code: 'custom', message: `A check has at most ${mostPatternRules} patterns.` });
    }
  })
  .describe('The first that holds decides; when none does, a delivery says that all is well.');

// RFC 9110, section 5.1: the name of a field is a token.
const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, 'must be the name of a header');

/** How deliveries are signed that carry an HMAC of their own form. */
export const customHmacSchema = z
  .strictObject({
    header: headerName.describe('That carries the signature.'),
    encoding: z.enum(['hex', 'base64']),
    prefix: z
      .string()
      .max(32)
      .regex(/^[!-~]*$/, 'must be printable ASCII')
      .default('')
      .describe('What stands before the signature, such as `sha256=`.'),
    algorithm: z.enum(['sha256', 'sha512', 'sha1']).default('sha256'),
    id_header: headerName
      .nullable()
      .default(null)
      .describe('That names a delivery, the same when it is sent again; null: none does.'),
  })
  .meta({ id: 'WebhookCheckHmac' });
export type CustomHmac = z.output<typeof customHmacSchema>;

const secretSchema = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[!-~]+( +[!-~]+)*$/, 'must be printable ASCII, without spaces around it')
  .describe(
    'With `standard`: `whsec_` and base64 of 24 to 64 bytes; else at least 8 characters. Left out, one is made and shown once. Senders that issue ' +
      'their own want the URL first: send the secret afterwards.',
  );

const fields = {
  name: nameSchema,
  description: descriptionSchema,
  tags: tagsSchema,
  signature: z.enum(signatureForms).describe('How deliveries are signed; with `none` the URL alone is the secret.'),
  custom_hmac: customHmacSchema.describe('With `custom_hmac` only: HMAC of the body.'),
  secret: secretSchema,
  expected_interval_seconds: z
    .number()
    .int()
    .min(1)
    .max(yearSeconds)
    .describe('From one delivery to the next; null: nothing is missed.'),
  grace_period_seconds: z
    .number()
    .int()
    .min(0)
    .max(yearSeconds)
    .describe('From when a delivery was expected to the alarm.'),
  rules: rulesSchema,
};

/** Body of POST /webhook-checks. */
export const createWebhookCheckSchema = z
  .strictObject({
    workspace_id: bodyId,
    name: fields.name,
    description: fields.description.nullish(),
    tags: fields.tags.nullish(),
    signature: fields.signature.default('standard'),
    custom_hmac: fields.custom_hmac.nullish(),
    secret: fields.secret.nullish(),
    expected_interval_seconds: fields.expected_interval_seconds.nullish(),
    grace_period_seconds: fields.grace_period_seconds.default(300),
    rules: fields.rules.default([]),
  })
  .meta({ id: 'CreateWebhookCheck' });
export type CreateWebhookCheck = z.output<typeof createWebhookCheckSchema>;

/** Body of PUT /webhook-checks/{id}: an absent key keeps, `null` clears. */
export const updateWebhookCheckSchema = z
  .strictObject({
    name: fields.name.optional(),
    description: fields.description.nullish(),
    tags: fields.tags.nullish(),
    signature: orDefault(fields.signature, 'standard'),
    custom_hmac: fields.custom_hmac.nullish(),
    secret: fields.secret.optional(),
    expected_interval_seconds: fields.expected_interval_seconds.nullish(),
    grace_period_seconds: orDefault(fields.grace_period_seconds, 300),
    rules: orDefault(fields.rules, []),
  })
  .meta({ id: 'UpdateWebhookCheck' });
export type UpdateWebhookCheck = z.output<typeof updateWebhookCheckSchema>;

/** Body of POST /webhook-checks/{id}/regenerate-secret. */
export const regenerateWebhookSecretSchema = z
  .strictObject({
    secret: fields.secret.nullish(),
    grace_seconds: z
      .number()
      .int()
      .min(0)
      .max(mostSecretGraceSeconds)
      .default(0)
      .describe('For so long deliveries that are signed with the old secret are taken too.'),
  })
  .meta({ id: 'RegenerateWebhookSecret' });

/** A webhook check as every route answers it. */
export const webhookCheckSchema = z
  .object({
    id: z.number().int(),
    workspace_id: z.number().int(),
    name: z.string(),
    description: z.string(),
    tags: z.array(z.string()),
    slug: z.string().nullable().describe('Null for viewers.'),
    url: z.string().nullable().describe('Where deliveries are sent to. Null for viewers.'),
    signature: z.enum(signatureForms),
    custom_hmac: customHmacSchema.nullable(),
    has_secret: z.boolean(),
    previous_secret_valid_until: timestamp.nullable(),
    expected_interval_seconds: z.number().int().nullable(),
    grace_period_seconds: z.number().int(),
    rules: z.array(payloadRuleSchema),
    status: z.enum(webhookCheckStatuses),
    status_since: timestamp,
    last_received_at: timestamp.nullable().describe('The last delivery that was accepted.'),
    next_expected_at: timestamp.nullable(),
    deadline_at: timestamp.nullable().describe('When a miss is told.'),
    created_at: timestamp,
    updated_at: timestamp,
    version: z.number().int().describe('Counts every change by a route; the ETag. Deliveries are none.'),
  })
  .meta({ id: 'WebhookCheck' });
export type WebhookCheck = z.output<typeof webhookCheckSchema>;

/** What has just made a secret shows it. */
export const shownWebhookCheckSchema = webhookCheckSchema
  .extend({
    secret: z.string().nullable().describe('The secret, where this request made one: it is never shown again.'),
  })
  .meta({ id: 'WebhookCheckWithSecret' });
export type ShownWebhookCheck = z.output<typeof shownWebhookCheckSchema>;
