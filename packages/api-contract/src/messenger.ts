import { z } from 'zod';
import { route } from './route.ts';
import { bodyId, idSchema, listOf, pageQuery, timestamp } from './shared.ts';

const tag = 'Messenger';

const deepLink = z
  .object({
    url: z.string().describe('A link of the messenger. Whoever opens it there finishes the linking.'),
    expires_at: timestamp,
  })
  .meta({ id: 'MessengerDeepLink' });

export const messengerGroupSchema = z
  .object({
    id: z.number().int(),
    workspace_id: z.number().int(),
    chat_id: z.string().describe("The messenger's number of the group: what alerts name as their target."),
    title: z.string(),
    linked_by: z.number().int().nullable().describe('The user who linked it; null when that account is gone.'),
    created_at: timestamp,
    updated_at: timestamp,
    version: z.number().int(),
  })
  .meta({ id: 'MessengerGroup' });

export const listMessengerGroupsRoute = route({
  method: 'GET',
  path: '/api/v1/messenger-groups',
  credentials: 'bearer',
  tag,
  summary: 'Groups of the messenger that are linked',
  query: z.object({ ...pageQuery, workspace_id: idSchema.optional(), search: z.string().max(200).optional() }),
  success: { status: 200, answer: listOf('messenger_groups', messengerGroupSchema).meta({ id: 'MessengerGroupList' }) },
  errors: [404],
});

export const linkMessengerGroupRoute = route({
  method: 'POST',
  path: '/api/v1/messenger-groups/link',
  credentials: 'bearer',
  tag,
  summary: 'Begin to link a group of the messenger',
  description:
    'Answers a link that adds the bot to a group of your choice and links that to the workspace. It works once, for 15 minutes, and only while you are editor of the workspace. 409 where the installation has no bot.',
  body: z.strictObject({ workspace_id: bodyId }).meta({ id: 'MessengerGroupLinkRequest' }),
  success: { status: 200, answer: deepLink },
  errors: [403, 404, 409],
});

export const unlinkMessengerGroupRoute = route({
  method: 'DELETE',
  path: '/api/v1/messenger-groups/:id',
  credentials: 'bearer',
  tag,
  summary: 'Unlink a group of the messenger',
  description: 'The bot leaves the group when it is linked to no other workspace.',
  params: z.object({ id: idSchema }),
  success: { status: 204 },
  errors: [403, 404],
});

export const readMessengerBotRoute = route({
  method: 'GET',
  path: '/api/v1/messenger-bot',
  credentials: 'bearer',
  tag,
  summary: "The installation's bot, and the caller's own link to it",
  success: {
    status: 200,
    answer: z
      .object({
        available: z.boolean().describe('Whether there is a bot, and the messenger answers for it.'),
        reason: z.enum(['not_configured', 'unreachable']).nullable(),
        username: z.string().nullable(),
        name: z.string().nullable(),
        link: z
          .object({
            way: z.enum(['bot', 'sign_in']).describe('Linked by the bot, or by signing in by the messenger.'),
            chat_id: z.string().describe('What alerts name as their target.'),
            name: z.string().nullable(),
            linked_at: timestamp,
          })
          .nullable(),
      })
      .meta({ id: 'MessengerBot' }),
  },
});

export const linkMessengerBotRoute = route({
  method: 'POST',
  path: '/api/v1/messenger-bot/link',
  credentials: 'bearer',
  tag,
  summary: 'Begin to link oneself to the bot',
  description:
    'Answers a link that opens the chat with the bot. It works once and for 15 minutes; whoever opens it first is linked to the account, so it is not to be passed on. 409 where the installation has no bot.',
  success: { status: 200, answer: deepLink },
  errors: [409],
});

export const unlinkMessengerBotRoute = route({
  method: 'DELETE',
  path: '/api/v1/messenger-bot/link',
  credentials: 'bearer',
  tag,
  summary: 'Unlink oneself from the bot',
  description: 'A link that comes from signing in by the messenger is removed at `/auth/identities`.',
  success: { status: 204 },
  errors: [404],
});

export const messengerUpdatesRoute = route({
  method: 'POST',
  path: '/api/v1/messenger-updates/:secret',
  credentials: 'none',
  tag,
  summary: 'Where the messenger delivers what its people write to the bot',
  description:
    'For the messenger alone: the address is secret, and the header X-Telegram-Bot-Api-Secret-Token is asked for too. What is not understood is answered 200, so that it is not sent again.',
  params: z.object({ secret: z.string().max(256) }),
  bytes: { maxBytes: 262_144 },
  success: { status: 200, answer: z.object({}).meta({ id: 'MessengerUpdateTaken' }) },
  errors: [404, 413],
});
