import { z } from 'zod';
import { route } from './route.ts';
import { idSchema, integerParameter, localeInput, timestamp, wordParameter } from './shared.ts';
import { statusPageLimits, subscriberKinds } from './status-page-shapes.ts';

const tag = 'Status pages';
const params = z.object({ id: idSchema });
const componentId = z.string().regex(/^[a-z0-9]{12}$/, 'must be a component_id of the page');

export const subscriberStates = ['pending', 'active', 'unsubscribed', 'failed'] as const;
export type SubscriberState = (typeof subscriberStates)[number];

const subscriberSchema = z
  .object({
    id: z.number().int(),
    kind: z.enum(subscriberKinds),
    target: z.string().describe('A mail address; of other ways the origin alone, since their URLs are secrets.'),
    component_ids: z.array(z.string()).describe('Empty: all components.'),
    locale: z.enum(['en', 'ru']),
    state: z
      .enum(subscriberStates)
      .describe('`pending`: has not confirmed it yet, and is told nothing. `failed`: could not be reached.'),
    created_at: timestamp,
    state_at: timestamp.describe('Since when it is in its state.'),
  })
  .meta({ id: 'StatusPageSubscriber' });
export type StatusPageSubscriber = z.output<typeof subscriberSchema>;

export const listSubscribersRoute = route({
  method: 'GET',
  path: '/api/v1/status-pages/:id/subscribers',
  credentials: 'bearer',
  tag,
  summary: 'List the subscribers of a status page, as JSON or CSV',
  description: 'For editors. CSV has all of them, whatever `after` and `limit` say.',
  params,
  query: z.object({
    state: wordParameter(z.enum(subscriberStates)).optional(),
    after: idSchema.optional().describe('`next` of the page before.'),
    limit: integerParameter(1, 500).default(100),
  }),
  success: {
    status: 200,
    answer: z
      .object({
        subscribers: z.array(subscriberSchema),
        next: z.number().int().nullable().describe('`null`: there are no more.'),
      })
      .meta({ id: 'StatusPageSubscriberList' }),
    others: { 'text/csv; charset=utf-8': z.string() },
    headers: ['Content-Disposition'],
  },
  errors: [403, 404],
});

const newSubscriber = z
  .strictObject({
    kind: z.enum(subscriberKinds).default('email'),
    target: z.string().min(1).max(2_000).describe('A mail address, or a URL.'),
    component_ids: z.array(componentId).max(statusPageLimits.items).default([]).describe('Empty: all components.'),
    locale: localeInput.nullish().describe('Default: that of the page.'),
  })
  .meta({ id: 'NewStatusPageSubscriber' });

const addedSchema = z
  .object({
    added: z.number().int().describe('They were asked to confirm it.'),
    known: z.number().int().describe('They were there already, or stand there twice.'),
  })
  .meta({ id: 'AddedStatusPageSubscribers' });

const consent = `Nobody is told anything before they have confirmed it themselves, by the mail or the request that each is sent. At most ${statusPageLimits.addedSubscribers} at once, and as many as the plan has room for.`;

export const addSubscribersRoute = route({
  method: 'POST',
  path: '/api/v1/status-pages/:id/subscribers',
  credentials: 'bearer',
  tag,
  summary: 'Add subscribers to a status page',
  description: consent,
  params,
  body: z
    .strictObject({ subscribers: z.array(newSubscriber).min(1).max(statusPageLimits.addedSubscribers) })
    .meta({ id: 'AddStatusPageSubscribers' }),
  success: { status: 202, answer: addedSchema },
  errors: [403, 404, 409],
});

/** With the frame of a form around it. */
export const mostSubscriberFileBytes = 1_100_000;

export const importSubscribersRoute = route({
  method: 'POST',
  path: '/api/v1/status-pages/:id/subscribers/import',
  credentials: 'bearer',
  tag,
  summary: 'Add subscribers to a status page from a CSV file',
  description: `Columns by name: \`target\`, and where there are any \`kind\`, \`locale\`, and \`component_ids\` with spaces between them; others are not read, so an export may be sent back. ${consent}`,
  params,
  file: { types: ['text/csv', 'multipart/form-data'], maxBytes: mostSubscriberFileBytes },
  success: { status: 202, answer: addedSchema },
  errors: [403, 404, 409, 413, 415],
});

export const deleteSubscriberRoute = route({
  method: 'DELETE',
  path: '/api/v1/status-pages/:id/subscribers/:subscriber_id',
  credentials: 'bearer',
  tag,
  summary: 'Remove a subscriber from a status page',
  description: 'Whatever waits for them is not sent.',
  params: z.object({ id: idSchema, subscriber_id: idSchema }),
  success: { status: 204 },
  errors: [403, 404],
});

const page = { answer: z.string(), contentType: 'text/html; charset=utf-8' };
const slug = z.string().min(1).max(63);

/** The form of the page: an address, and every component of a large page. */
export const mostSubscribeFormBytes = 16_384;

export const subscribeRoute = route({
  method: 'POST',
  path: '/status/:slug/subscribe',
  credentials: 'none',
  tag,
  summary: 'Subscribe to a status page',
  description:
    'The form of the page below this path: `kind`, `target`, any number of `component`, and `lang`. Whoever is named there is sent a mail, or a request with a `challenge` to be echoed, and is told nothing before they have confirmed it. The answer is the same whether they had subscribed or not. 10 an hour and client.',
  params: z.object({ slug }),
  bytes: { maxBytes: mostSubscribeFormBytes },
  success: { status: 200, ...page },
  pages: [404, 422, 429],
  errors: [404, 413],
});

const ofLink = z.object({ slug, token: z.string().min(1).max(100) });
const noLink = { status: 404, description: 'There is no such subscription any more. The same page says so.' } as const;

export const subscriptionPageRoute = route({
  method: 'GET',
  path: '/status/:slug/subscription/:token',
  credentials: 'none',
  tag,
  summary: 'Page by which a subscriber confirms, changes or ends what they are told',
  description:
    'The link of each message leads here. Opening it changes nothing: programs that look at mails open links.',
  params: ofLink,
  perAddressPerMinute: 60,
  success: { status: 200, ...page },
  alternative: noLink,
});

export const actOnSubscriptionRoute = route({
  method: 'POST',
  path: '/status/:slug/subscription/:token',
  credentials: 'none',
  tag,
  summary: 'Confirm, change or end a subscription to a status page',
  description:
    'What the forms of the page send, and `List-Unsubscribe=One-Click` (RFC 8058). The fields `component` and `lang` of the body are read where `action` is `save`.',
  params: ofLink,
  query: z.object({ action: z.enum(['confirm', 'save', 'unsubscribe']).default('unsubscribe') }),
  bytes: { maxBytes: mostSubscribeFormBytes },
  perAddressPerMinute: 60,
  success: { status: 200, ...page },
  alternative: noLink,
  errors: [413],
});
