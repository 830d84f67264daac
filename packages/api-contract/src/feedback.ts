import { z } from 'zod';
import { longText } from './incidents.ts';
import { route } from './route.ts';
import { hasControlCharacter, idSchema, listOf, pageQuery, timestamp, wordParameter } from './shared.ts';

const kinds = ['bug', 'idea', 'question', 'praise'] as const;
const states = ['new', 'seen', 'planned', 'done', 'declined'] as const;

const kind = z.enum(kinds);
const state = z.enum(states);
export type FeedbackKind = z.output<typeof kind>;

const feedbackSchema = z
  .object({
    id: z.number().int(),
    user_id: z.number().int().nullable().describe('The author; null once the account was deleted.'),
    email: z
      .string()
      .nullable()
      .describe('The address of the author, for administrators and with `may_contact` alone; otherwise null.'),
    kind,
    message: z.string(),
    page: z.string().nullable(),
    may_contact: z.boolean(),
    version: z.string().describe('The version of the product when the item was sent.'),
    user_agent: z.string().nullable(),
    status: state,
    reply: z.string().nullable(),
    replied_at: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Feedback' });
export type FeedbackAnswer = z.output<typeof feedbackSchema>;

const createFeedbackSchema = z
  .strictObject({
    kind,
    message: longText(5_000),
    page: z
      .string()
      .trim()
      .max(500)
      .refine((text) => !hasControlCharacter(text), 'must not contain control characters')
      .nullish()
      .describe('The page of a front end that the message is about.'),
    may_contact: z.boolean().default(false).describe('Whether administrators are shown the address of the account.'),
  })
  .meta({ id: 'CreateFeedbackRequest' });
export type CreateFeedback = z.output<typeof createFeedbackSchema>;

const setStatusSchema = z
  .strictObject({
    status: state,
    reply: longText(5_000)
      .nullable()
      .optional()
      .describe('Mailed to the author once, when it is new. An absent key keeps the reply, `null` removes it.'),
  })
  .meta({ id: 'SetFeedbackStatusRequest' });
export type SetFeedbackStatus = z.output<typeof setStatusSchema>;

const tag = 'Feedback';
const params = z.object({ id: idSchema });

export const createFeedbackRoute = route({
  method: 'POST',
  path: '/api/v1/feedback',
  credentials: 'bearer',
  tag,
  summary: 'Send feedback to the administrators of the installation',
  description: 'An account may send 10 items in 24 hours. Items are kept for three years.',
  body: createFeedbackSchema,
  idempotent: true,
  success: { status: 201, answer: feedbackSchema },
});

export const listFeedbackRoute = route({
  method: 'GET',
  path: '/api/v1/feedback',
  credentials: 'bearer',
  tag,
  summary: 'List feedback, newest first',
  description: 'The items of the caller; an administrator of the installation is shown the items of all accounts.',
  query: z.object({
    ...pageQuery,
    status: wordParameter(state).optional(),
    kind: wordParameter(kind).optional(),
  }),
  success: { status: 200, answer: listOf('feedback', feedbackSchema).meta({ id: 'FeedbackList' }) },
});

export const getFeedbackRoute = route({
  method: 'GET',
  path: '/api/v1/feedback/:id',
  credentials: 'bearer',
  tag,
  summary: 'Read an item of feedback',
  params,
  success: { status: 200, answer: feedbackSchema },
  errors: [404],
});

export const setFeedbackStatusRoute = route({
  method: 'PUT',
  path: '/api/v1/feedback/:id/status',
  credentials: 'bearer',
  tag,
  summary: 'Set the status of an item of feedback, and reply',
  description: 'For administrators of the installation.',
  params,
  body: setStatusSchema,
  success: { status: 200, answer: feedbackSchema },
  errors: [403, 404],
});

export const deleteFeedbackRoute = route({
  method: 'DELETE',
  path: '/api/v1/feedback/:id',
  credentials: 'bearer',
  tag,
  summary: 'Delete an item of feedback',
  description: 'For administrators of the installation.',
  params,
  success: { status: 204 },
  errors: [403, 404],
});
