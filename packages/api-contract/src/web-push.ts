import { z } from 'zod';
import { route } from './route.ts';
import { bodyId, instant, listOf, messageSchema, nameSchema, pageQuery, timestamp } from './shared.ts';

/** How many browsers of an account are kept; one more takes the place of the one that was not seen for the longest. */
export const mostPushSubscriptions = 20;

// What base64 with its padding makes of 65 and of 16 bytes, with room for neither more.
const key = (length: number) => z.string().min(1).max(length);

// The end of the year 9999, milliseconds.
const lastInstantMs = 253_402_300_799_999;
const expiry = z
  .union([z.number().min(0).max(lastInstantMs), instant])
  .nullable()
  .describe(
    'When the browser says that it ends: milliseconds since 1970, as `PushSubscription.toJSON()` gives it, or ISO 8601.',
  );

const endpoint = z
  .string()
  .min(1)
  .max(2_048)
  .describe('Where the push service of the browser takes messages: an https URL, which is a secret.');

const pushSubscriptionSchema = z
  .object({
    id: z.number().int().describe('What an alert names as its target, to tell this browser alone.'),
    name: z.string(),
    service: z.string().describe('The host of the push service.'),
    endpoint_sha256: z.string().describe('Of the endpoint, hexadecimal: by it a page knows which entry is its own.'),
    user_agent: z.string().nullable(),
    expires_at: timestamp.nullable(),
    created_at: timestamp,
    seen_at: timestamp.describe('When it was subscribed last, also where it was subscribed already.'),
    last_delivered_at: timestamp.nullable().describe('When its push service last took a message.'),
  })
  .meta({ id: 'PushSubscription' });
export type PushSubscription = z.output<typeof pushSubscriptionSchema>;

const subscribeSchema = z
  .strictObject({
    endpoint,
    keys: z
      .strictObject({
        p256dh: key(88).describe('Public key of the browser, P-256, 65 bytes in base64url.'),
        auth: key(24).describe('Secret of the subscription, 16 bytes in base64url.'),
      })
      .describe('As `PushSubscription.toJSON()` has them.'),
    expirationTime: expiry.optional(),
    // The same in the spelling of all other fields. Clients in languages that spell every name so would have the field twice.
    expiration_time: expiry.optional().meta({ isUndocumented: true }),
    user_agent: z
      .string()
      .max(500)
      .nullable()
      .optional()
      .describe('Left out: that of the request. Names the browser where no name is given.'),
    name: nameSchema.nullable().optional(),
  })
  .meta({ id: 'SubscribePushRequest' });
export type SubscribePush = z.output<typeof subscribeSchema>;

const tag = 'Web push';

export const vapidPublicKeyRoute = route({
  method: 'GET',
  path: '/api/v1/web-push/vapid-public-key',
  credentials: 'bearer',
  tag,
  summary: 'Read the key that browsers subscribe with',
  description:
    'The `applicationServerKey` of `PushManager.subscribe()`: P-256, 65 bytes in base64url. It stays the same for the life of the installation.',
  success: {
    status: 200,
    answer: z.object({ public_key: z.string() }).meta({ id: 'VapidPublicKey' }),
  },
});

export const listPushSubscriptionsRoute = route({
  method: 'GET',
  path: '/api/v1/web-push/subscriptions',
  credentials: 'bearer',
  tag,
  summary: 'List the browsers that the caller has subscribed, the one seen last first',
  query: z.object(pageQuery),
  success: {
    status: 200,
    answer: listOf('subscriptions', pushSubscriptionSchema).meta({ id: 'PushSubscriptionList' }),
  },
});

export const subscribePushRoute = route({
  method: 'POST',
  path: '/api/v1/web-push/subscribe',
  credentials: 'bearer',
  tag,
  summary: 'Subscribe a browser',
  description:
    `Takes what \`PushSubscription.toJSON()\` gives. The same browser again is the same subscription, so a page may send it at every start. One that another account has subscribed from ` +
    `the same browser changes over to the caller. An account has ${mostPushSubscriptions}; one more takes the place of the one that was not seen for the longest.`,
  body: subscribeSchema,
  idempotent: true,
  success: { status: 201, answer: pushSubscriptionSchema },
  alternative: { status: 200, description: 'the browser was subscribed already' },
  errors: [409],
});

export const unsubscribePushRoute = route({
  method: 'POST',
  path: '/api/v1/web-push/unsubscribe',
  credentials: 'bearer',
  tag,
  summary: 'Unsubscribe a browser',
  description: 'By its endpoint, or by its `id` where the browser is not at hand.',
  body: z
    .strictObject({ endpoint: endpoint.optional(), id: bodyId.optional() })
    .refine((body) => (body.endpoint === undefined) !== (body.id === undefined), 'needs either `endpoint` or `id`')
    .meta({ id: 'UnsubscribePushRequest' }),
  success: { status: 200, answer: messageSchema },
  errors: [404],
});
