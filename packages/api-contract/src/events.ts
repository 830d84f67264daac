import { z } from 'zod';
import { eventTypeNames } from './event-types.ts';
import { liveEventKinds } from './live-events.ts';
import { route } from './route.ts';
import { idSchema, integerParameter, timestamp } from './shared.ts';

const tag = 'Events';

const describedEventSchema = z
  .object({
    type: z.enum(eventTypeNames),
    description: z.string(),
    default: z.boolean().describe('A new webhook is told of it unless it says otherwise.'),
    alerts: z.boolean().describe('Alerts can tell of it, under the same name.'),
    live: z.enum(liveEventKinds).nullable().describe('The event of the live stream that tells the same.'),
    schema: z.record(z.string(), z.unknown()).describe('JSON Schema (2020-12) of the body.'),
    example: z.record(z.string(), z.unknown()).describe('A body that fits the schema.'),
  })
  .meta({ id: 'EventTypeDescription' });

export const listEventTypesRoute = route({
  method: 'GET',
  path: '/api/v1/webhooks/events',
  credentials: 'bearer',
  tag: 'Webhooks',
  summary: 'List the types of events',
  description:
    'Everything that webhooks and `GET /api/v1/events` can tell, with the JSON Schema of each body and an example of it.',
  success: {
    status: 200,
    answer: z.object({ events: z.array(describedEventSchema) }).meta({ id: 'EventTypeList' }),
  },
});

/** An event as it is read: the body of a webhook, with the id that webhooks send as `webhook-id`. */
export const readEventSchema = z
  .looseObject({
    id: z.string().describe('The same as `webhook-id` of its deliveries.'),
    type: z.string(),
    timestamp,
    workspace_id: z.number().int(),
    sequence: z.number().int(),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Event' });

/** Bounds of reading. */
export const eventReading = { mostAtOnce: 500, mostWaitSeconds: 20, keptDays: 30 } as const;

export const listEventsRoute = route({
  method: 'GET',
  path: '/api/v1/events',
  credentials: 'bearer',
  tag,
  summary: 'Read events, oldest first',
  description: [
    'For those who cannot be called by a webhook. The first request leaves out `after` and gets `next`, the present place; every further one sends the `next` that came last as ' +
      '`after` and gets what has happened since. With `wait_seconds` the answer waits until there is something, so that a client that asks again at once has events within a second.',
    '',
    'Events are kept for 30 days. Where `after` is older, `has_gap` is true and the oldest that are kept follow. Types and bodies: `GET /api/v1/webhooks/events`.',
  ].join('\n'),
  query: z.object({
    after: z.string().min(1).max(60).optional().describe('`next` of an earlier answer.'),
    workspace_id: idSchema.optional().describe('Only of this workspace.'),
    types: z
      .string()
      .min(1)
      .max(1_000)
      .optional()
      .describe('Comma-separated types, `monitor.*` for all of a kind. Everything when left out.'),
    subject_type: z.enum(['monitor', 'incident', 'heartbeat', 'webhook_check', 'maintenance', 'probe']).optional(),
    subject_id: idSchema.optional(),
    limit: integerParameter(1, eventReading.mostAtOnce).default(100),
    wait_seconds: integerParameter(0, eventReading.mostWaitSeconds).default(0),
  }),
  success: {
    status: 200,
    answer: z
      .object({
        events: z.array(readEventSchema),
        next: z.string().describe('Where to go on.'),
        has_gap: z.boolean().describe('Events between `after` and the first are no longer kept.'),
      })
      .meta({ id: 'EventPage' }),
  },
  errors: [404],
});
